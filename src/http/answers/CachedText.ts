import { createHash } from "node:crypto"
import { gzipSync } from "node:zlib"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"

/** Serves a constant text with an ETag, and compressed to clients that accept gzip. The first of them compresses it. */
export const make = (text: string, contentType: string, headers: Readonly<Record<string, string>> = {}) => {
  let kept: Uint8Array | undefined
  const compressed = () => {
    kept ??= gzipSync(text)
    return kept
  }
  const etag = `W/"${createHash("sha256").update(text).digest("base64url").slice(0, 22)}"`
  // Revalidated each time, so it is never older than the service.
  const common = { ...headers, etag, "cache-control": "no-cache", vary: "accept-encoding" }
  return ({ headers: asked }: HttpServerRequest.HttpServerRequest): HttpServerResponse.HttpServerResponse => {
    if (asked["if-none-match"]?.split(",").some((known) => known.trim() === etag)) {
      return HttpServerResponse.empty({ status: 304, headers: common })
    }
    return /(^|,)\s*gzip\s*(,|;(?!\s*q=0(\.0*)?\s*(,|$))|$)/i.test(asked["accept-encoding"] ?? "")
      ? HttpServerResponse.uint8Array(compressed(), { contentType, headers: { ...common, "content-encoding": "gzip" } })
      : HttpServerResponse.text(text, { contentType, headers: common })
  }
}
