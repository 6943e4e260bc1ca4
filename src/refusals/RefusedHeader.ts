import * as HeaderBlock from "../mime/HeaderBlock.ts"
import * as HeaderText from "../mime/HeaderText.ts"
import * as RefusalText from "./RefusalText.ts"

/** Maximum bytes of a refused message to read. */
export const mostBytes = 16 * 1024

export interface RefusedHeader {
  readonly subject: string | null
  readonly messageId: string | null
}

/** Subject and Message-ID of a refused message, as far as its first `mostBytes` have them. */
export const of = (first: ReadonlyArray<Uint8Array>): RefusedHeader => {
  const fields = HeaderBlock.fields(Buffer.concat(first))
  const value = (wanted: string) => {
    const field = fields.find(({ name }) => name.toLowerCase() === wanted)
    return field === undefined ? null : RefusalText.text(HeaderText.value(field))
  }
  return { subject: value("subject"), messageId: value("message-id") }
}
