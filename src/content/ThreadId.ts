import { hash } from "node:crypto"

/**
 * The conversation of a message in a domain, as a UUIDv8 (RFC 9562, section 5.8) of the first message: the first of
 * its references, else the one it replies to, else itself. All replies to a message share it, even if Inlet never
 * received that message.
 */
export const of = (mail: {
  readonly domain: string
  readonly references: ReadonlyArray<string>
  readonly inReplyTo: string | null
  readonly messageId: string | null
  /** Identifies a message without an id. */
  readonly sha256: Uint8Array
}): string => {
  const { domain, inReplyTo, messageId, references, sha256 } = mail
  const root =
    [references[0], inReplyTo, messageId].map(idOf).find((id) => id !== "") ?? Buffer.from(sha256).toString("hex")
  const bytes = hash("sha256", `${domain}\n${root}`, "buffer").subarray(0, 16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = bytes.toString("hex")
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-")
}

/** The first message id of a field, without its brackets, which some programs leave out. */
const idOf = (field: string | null | undefined): string =>
  (/<\s*([^<>\s]+)\s*>/.exec(field ?? "")?.[1] ?? field ?? "").trim().replace(/^<|>$/g, "")
