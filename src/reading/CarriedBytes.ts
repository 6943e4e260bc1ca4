import type { MailPart } from "../delivery/formats/WebhookFormat.ts"
import type { CarryResult, Results } from "./ReadTask.ts"

type Packed = Omit<Results["carried"][number], "number">

/** Copies a message and the content of its parts to one buffer that a thread can transfer. */
export const pack = (message: Uint8Array, parts: ReadonlyArray<MailPart>, text: string | null): Packed => {
  const length = parts.reduce((sum, { content }) => sum + content.byteLength, message.byteLength)
  const bytes = new Uint8Array(length)
  bytes.set(message)
  let at = message.byteLength
  for (const { content } of parts) {
    bytes.set(content, at)
    at += content.byteLength
  }
  return {
    bytes: bytes.buffer,
    messageBytes: message.byteLength,
    text,
    parts: parts.map(({ content, contentId, contentType, disposition, filename }) => ({
      contentId,
      contentType,
      disposition,
      filename,
      size: content.byteLength
    }))
  }
}

/** The message and its parts, without a copy. */
export const unpack = ({ bytes, messageBytes, parts, text }: Packed): CarryResult => {
  let at = messageBytes
  return {
    text,
    message: new Uint8Array(bytes, 0, messageBytes),
    parts: parts.map(({ size, ...part }) => {
      at += size
      return { ...part, content: new Uint8Array(bytes, at - size, size) }
    })
  }
}
