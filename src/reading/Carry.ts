import * as CarriedMessage from "../delivery/formats/CarriedMessage.ts"
import * as TextMessage from "../delivery/formats/TextMessage.ts"
import type * as Mime from "../mime/Mime.ts"
import * as CarriedBytes from "./CarriedBytes.ts"
import type { CarryTask } from "./ReadTask.ts"

/** Makes what a webhook needs of a stored message, which is parsed for its parts and its text alone. */
export const make = (task: CarryTask, message: Uint8Array, opened?: Mime.Opened, mended?: Mime.Mended) => {
  const { asText, withParts, withText, ...about } = task
  const carried = CarriedMessage.of({ ...about, message })
  return CarriedBytes.pack(
    asText ? TextMessage.of(carried) : carried,
    withParts && opened !== undefined ? opened.attachments(mended) : [],
    withText && opened !== undefined ? opened.withoutReports(mended) : null
  )
}
