import { AsyncLocalStorage } from "node:async_hooks"
import { Agent } from "node:https"
import { getCACertificates } from "node:tls"
import { axios } from "acme-client"
import { Schema } from "effect"
import { version } from "../../Version.ts"

/** A failed request, or an error document of the authority (RFC 8555, section 6.7). */
export class AcmeProblem extends Schema.TaggedError<AcmeProblem>()("AcmeProblem", {
  /** Null without an answer. */
  status: Schema.NullOr(Schema.Int),
  type: Schema.String,
  detail: Schema.String,
  retryAfterSeconds: Schema.NullOr(Schema.Int)
}) {}

/** Of a request with its answer. */
const mostMilliseconds = 30_000

const mostBytes = 256 * 1_024

/** Requests of a call of the library. A usual one has three, and repeats one with a bad nonce. */
const mostRequests = 20

/** The library would ask for ever: it makes and changes an account in turns if the authority names no URL for it. */
class TooManyRequests extends Schema.TaggedError<TooManyRequests>()("TooManyRequests", {}) {}

interface Call {
  readonly signal: AbortSignal
  left: number
  /** `Retry-After` of the last answer, in seconds. */
  retryAfterSeconds: number | null
}

const calls = new AsyncLocalStorage<Call>()

/** What the library made of an answer, and its `Retry-After` in seconds. */
export interface Answered<A> {
  readonly value: A
  readonly retryAfterSeconds: number | null
}

/** Bounds the requests of a call of the library, which end with the signal. */
export const within = <A>(signal: AbortSignal, work: () => Promise<A>): Promise<Answered<A>> => {
  const call: Call = { signal, left: mostRequests, retryAfterSeconds: null }
  return calls.run(call, work).then((value) => ({ value, retryAfterSeconds: call.retryAfterSeconds }))
}

const Document = Schema.Struct({
  type: Schema.optionalKey(Schema.String),
  detail: Schema.optionalKey(Schema.String)
})

const isDocument = Schema.is(Document)

/** The type without its namespace, such as `rateLimited`. */
export const typeOf = (document: unknown): string =>
  isDocument(document) ? (document.type ?? "").replace(/^urn:ietf:params:acme:error:/, "") : ""

/** The authority's words on one line. */
export const detailOf = (document: unknown): string =>
  (isDocument(document) ? (document.detail ?? "") : "")
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim()
    .slice(0, 300)

/** Seconds, or a time (RFC 9110, section 10.2.3), which counts from the authority's own clock. */
export const secondsOf = (retryAfter: unknown, date: unknown): number | null => {
  const text = typeof retryAfter === "string" ? retryAfter.trim() : ""
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const seconds = Math.ceil((Date.parse(text) - Date.parse(`${date}`)) / 1_000)
  return seconds > 0 ? seconds : null
}

const defaults = axios.defaults
// The library has one HTTP client for all its requests. Its own retries would wait as long as the authority says, and
// lose the error of a connection.
axios.interceptors.request.clear()
axios.interceptors.response.clear()
defaults.maxRedirects = 0
defaults.maxContentLength = mostBytes
defaults.timeout = mostMilliseconds
// As all other requests of the service.
defaults.proxy = false
defaults.headers.common["User-Agent"] = `Inlet/${version}`

axios.interceptors.request.use((config) => {
  const call = calls.getStore()
  if (call !== undefined && --call.left < 0) throw new TooManyRequests()
  // The client's own timeout restarts with every byte.
  const late = AbortSignal.timeout(mostMilliseconds)
  config.signal = call === undefined ? late : AbortSignal.any([late, call.signal])
  return config
})

axios.interceptors.response.use(
  (response) => {
    const type = typeOf(response.data)
    const retryAfterSeconds = secondsOf(response.headers["retry-after"], response.headers.date)
    const call = calls.getStore()
    if (call !== undefined) call.retryAfterSeconds = retryAfterSeconds
    // The library repeats a request with a bad nonce.
    if (response.status < 300 || type === "badNonce") return response
    throw new AcmeProblem({
      status: response.status,
      type,
      detail: detailOf(response.data),
      retryAfterSeconds
    })
  },
  (error: { readonly code?: unknown }) => {
    if (error instanceof TooManyRequests) throw error
    // The error itself has the request.
    const code = typeof error.code === "string" ? error.code : "no answer"
    throw new AcmeProblem({ status: null, type: "", detail: code, retryAfterSeconds: null })
  }
)

/** Trusts these roots, as PEM, beside those of Node. */
export const trust = (roots: string | undefined): void => {
  defaults.httpsAgent =
    roots === undefined ? undefined : new Agent({ ca: [...getCACertificates("default"), roots], keepAlive: false })
}
