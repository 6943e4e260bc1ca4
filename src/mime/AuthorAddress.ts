import * as Addresses from "./Addresses.ts"
import * as HeaderBlock from "./HeaderBlock.ts"
import * as PartHeader from "./PartHeader.ts"

/** The address of the From field, or null if unusable. Reads nothing but the header, unlike `Mime`. */
export const of = (message: Uint8Array): string | null => {
  const fields = HeaderBlock.fields(message)
  const from = fields.find(({ name }) => name.toLowerCase() === "from")
  return from === undefined ? null : (Addresses.author(from, PartHeader.read(fields, false).charset)?.address ?? null)
}
