import { HttpServerResponse } from "effect/http"
import type { EventId } from "../../model/InboundEvent.ts"

/** Returns the raw message of an event as a download. */
export const message = (eventId: EventId, bytes: Uint8Array) =>
  HttpServerResponse.uint8Array(bytes, {
    contentType: "message/rfc822",
    headers: { "content-disposition": `attachment; filename="${eventId}.eml"`, ...download }
  })

/** Returns an attachment as a download with its own name and type. */
export const attachment = (file: {
  readonly content: Uint8Array
  readonly contentType: string
  readonly filename: string | null
}) =>
  HttpServerResponse.uint8Array(file.content, {
    contentType: /^[\w.+-]+\/[\w.+-]+$/.test(file.contentType) ? file.contentType : "application/octet-stream",
    headers: { "content-disposition": contentDisposition(file.filename), ...download }
  })

// Untrusted bytes are never shown as a page of this origin.
const download = { "x-content-type-options": "nosniff", "content-security-policy": "sandbox; default-src 'none'" }

/** RFC 6266: an ASCII name for old clients, and the real one. */
const contentDisposition = (filename: string | null) => {
  const name = (filename ?? "attachment").split(/[\\/]/).at(-1) || "attachment"
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, "_").slice(0, 200)
  const encoded = encodeURIComponent(name.slice(0, 200).toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`
}
