import type * as Mime from "../mime/Mime.ts"
import * as NodeBuffer from "../mime/NodeBuffer.ts"
import type * as TransferEncoding from "../mime/TransferEncoding.ts"

/** The library is slow for some large inputs, so it gets small parts, and few of them. */
const longest = 32 * 1024
const mostParts = 16
const blanks = /[ \t]{256}/

/** Decodes damaged parts with mailparser, whose leniency users expect. */
export const mend = (damaged: Mime.Opened["damaged"]): Promise<Mime.Mended> => {
  const mended = new Map<TransferEncoding.Decoded, Uint8Array>()
  const mendOne = (part: TransferEncoding.Decoded) =>
    decode(part.encoded).then(
      (content) => void mended.set(part, content),
      // It stays damaged.
      () => undefined
    )
  return damaged
    .filter(isHarmless)
    .slice(0, mostParts)
    .reduce((before, part) => before.then(() => mendOne(part)), Promise.resolve())
    .then(() => mended)
}

const isHarmless = ({ encoded }: TransferEncoding.Decoded): boolean =>
  encoded.length <= longest && !blanks.test(NodeBuffer.view(encoded).toString("latin1"))

const header = Buffer.from("Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n\r\n")

// Loaded by the first damaged part, because it costs a thread 50 ms and 10 MB.
const decode = (encoded: Uint8Array): Promise<Uint8Array> =>
  import("mailparser")
    .then(({ simpleParser }) => simpleParser(Buffer.concat([header, encoded])))
    .then(({ attachments: [part] }) => part?.content ?? new Uint8Array())
