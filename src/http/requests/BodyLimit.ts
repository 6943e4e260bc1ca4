import type { HttpServerRequest } from "effect/http"

/** The limit on every route except simulate and ingest. */
const usual = 256 * 1024

/** The margin beside the base64 of the largest message. */
const besideMessage = 64 * 1024

/** The route that bounds its body itself, because it refuses a larger one as SMTP does. */
export const isIngest = (method: string, path: string): boolean =>
  method === "POST" && /^\/api\/domains\/[^/]+\/ingest$/.test(path)

const simulate = /^\/api\/domains\/[^/]+\/simulate$/

/** Maximum size of a request body. A simulated message may be as large as an SMTP message. */
export const of = (
  { headers, method }: HttpServerRequest.HttpServerRequest,
  path: string,
  messageBytes: number
): number => {
  if (method !== "POST" || !simulate.test(path)) return usual
  return Math.max(
    usual,
    isRaw(headers["content-type"]) ? messageBytes : Math.ceil((messageBytes * 4) / 3) + besideMessage
  )
}

const isRaw = (contentType = "") => /^\s*message\/rfc822\s*(;|$)/i.test(contentType)

/** The limit as text. */
export const tooLarge = (bytes: number): string =>
  `The body is larger than ${bytes % 1024 === 0 ? `${bytes / 1024} KiB` : `${bytes} bytes`}`
