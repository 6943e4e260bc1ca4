// @effect-diagnostics asyncFunction:off globalFetch:off globalTimers:off newPromise:off
// Uses only fetch and related globals, for programs without Effect. Timeouts use a monotonic clock.
import { ApiError, NoAnswer, type SmtpReply } from "./InletError.ts"

export interface CallOptions {
  /** Aborts the call, which then fails with the reason of the signal. */
  readonly signal?: AbortSignal | undefined
  /** Timeout in milliseconds, retries after 429 and 503 included. By default that of the client. */
  readonly timeout?: number | undefined
}

export interface Place {
  /** URL of the service, such as `http://localhost:3000`. */
  readonly url: string | undefined
  /** API key of a workspace, which starts with `ak_`. */
  readonly apiKey: string | undefined
}

export interface Request {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE"
  readonly path: string
  /** An array repeats its parameter. */
  readonly query?: object
  readonly idempotencyKey?: string | undefined
  /** Bytes are a raw message. Other values are sent as JSON. */
  readonly body?: unknown
  /** Maximum seconds that the service may hold its answer, within the timeout. */
  readonly wait?: number | undefined
  /** Where the service reads `wait`. By default in the query. */
  readonly waitIn?: "query" | "body"
  /** After a 503 the request may have been done. One with another effect if it is done twice is not repeated then. */
  readonly isOnce?: boolean
}

const patience = 20_000

/** Milliseconds that an answer may take beyond the wait. */
export const grace = 5_000

/** Sends a client's requests with its key and timeout, and retries after `Retry-After`. */
export class Requests {
  readonly #base: string
  readonly #apiKey: string
  /** Default timeout of a call in milliseconds. */
  readonly timeout: number

  constructor({ apiKey, timeout = patience, url }: Place & Pick<CallOptions, "timeout">) {
    this.#base = baseOf(url)
    // The error of fetch for other characters would contain the key.
    if (apiKey === undefined || !/^[!-~]+$/.test(apiKey)) {
      throw new TypeError("apiKey: Expected the key of a workspace, which begins with ak_")
    }
    this.#apiKey = apiKey
    this.timeout = bounded(timeout)
  }

  json<A>(request: Request, options?: CallOptions): Promise<A> {
    // The contract defines the type.
    return this.#send(request, options, async (response) => (await response.json()) as A)
  }

  bytes(request: Request, options?: CallOptions): Promise<Uint8Array> {
    return this.#send(request, options, async (response) => new Uint8Array(await response.arrayBuffer()))
  }

  nothing(request: Request, options?: CallOptions): Promise<void> {
    return this.#send(request, options, async () => undefined)
  }

  async #send<A>(request: Request, options: CallOptions = {}, read: (response: Response) => Promise<A>): Promise<A> {
    const { signal, timeout = Math.max(this.timeout, (request.wait ?? 0) * 1_000) } = options
    const ends = performance.now() + bounded(timeout)
    // Such a path is that of a list.
    if (/\/(?:\/|$)/.test(request.path))
      throw new TypeError(`An id is empty or missing (${request.method} ${request.path})`)
    for (;;) {
      const answer = await this.#try(request, { signal, left: ends - performance.now(), timeout }, read)
      if (!(answer instanceof ApiError)) return answer
      const { retryAfter, status } = answer
      const isRepeated = status === 429 || (status === 503 && request.isOnce !== true)
      const pauses = isRepeated && retryAfter !== null ? Math.max(100, retryAfter * 1_000) : null
      if (pauses === null || performance.now() + pauses >= ends) throw answer
      await pause(pauses, signal)
    }
  }

  async #try<A>(
    { body: given, idempotencyKey, method, path, query = {}, wait = 0, waitIn = "query" }: Request,
    { left, signal, timeout }: { readonly left: number; readonly signal: AbortSignal | undefined; timeout: number },
    read: (response: Response) => Promise<A>
  ): Promise<A | ApiError> {
    const what = `${method} ${path}`
    const held = wait > 0 ? Math.max(1, Math.min(wait, Math.ceil(left / 1_000))) : undefined
    const late = AbortSignal.timeout(Math.max(1, Math.ceil(left)) + (held === undefined ? 0 : grace))
    const body = waitIn === "body" ? { ...Object(given), wait: held } : given
    const isRaw = body instanceof Uint8Array
    const type = isRaw ? "message/rfc822" : "application/json"
    const headers = {
      authorization: `Bearer ${this.#apiKey}`,
      ...(body === undefined ? {} : { "content-type": type }),
      ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey })
    }
    try {
      const response = await fetch(
        `${this.#base}${path}${searchOf(waitIn === "query" ? { ...query, wait: held } : query)}`,
        {
          method,
          headers,
          signal: signal === undefined ? late : AbortSignal.any([signal, late]),
          // A redirected POST would become a GET, so a redirect is an error.
          redirect: "manual",
          ...(body === undefined ? {} : { body: isRaw ? new Uint8Array(body) : JSON.stringify(body) })
        }
      )
      return response.ok ? await read(response) : await this.#refusal(what, response)
    } catch (cause) {
      signal?.throwIfAborted()
      const why = late.aborted
        ? `No answer within ${seconds(timeout)}`
        : cause instanceof SyntaxError
          ? "The answer is not JSON; is this the URL of Inlet?"
          : `${reasonOf(cause)}; does the service run there?`
      throw new NoAnswer(`${why} (${what} at ${this.#base})`, { cause })
    }
  }

  async #refusal(what: string, response: Response): Promise<ApiError> {
    const { headers, status } = response
    const requestId = headers.get("x-request-id")
    const elsewhere = headers.get("location")
    const refusal = refusalIn(await response.text())
    const said = refusal?.error ?? (elsewhere === null ? response.statusText : `The service is at ${elsewhere}`)
    const message = `${said} (${status} to ${what}${requestId === null ? "" : `, request ${requestId}`})`
    return new ApiError(
      // A proxy's answer may repeat the key.
      message.replaceAll(this.#apiKey, "…"),
      { status, requestId, retryAfter: secondsIn(headers.get("retry-after")), smtp: refusal?.smtp ?? null }
    )
  }
}

/** The longest time that timers take, in milliseconds. */
const longest = 2 ** 31 - 1 - grace

/** A timeout in milliseconds. `Infinity` is some 24 days. Throws a `TypeError` that names the argument otherwise. */
export const bounded = (timeout: number, name = "timeout"): number => {
  if (typeof timeout === "number" && timeout >= 0) return Math.min(timeout, longest)
  throw new TypeError(`${name}: Expected milliseconds, such as 20000`)
}

export const seconds = (milliseconds: number) => `${Math.round(milliseconds / 100) / 10} s`

const baseOf = (url: string | undefined): string => {
  const form = "url: Expected the URL of the service, such as http://localhost:3000"
  if (url === undefined || !URL.canParse(url)) throw new TypeError(form)
  const { host, password, pathname, protocol, username } = new URL(url)
  if (!["http:", "https:"].includes(protocol)) throw new TypeError(form)
  if (username !== "" || password !== "") throw new TypeError(`${form}, without a user or password in it`)
  return `${protocol}//${host}${pathname.replace(/\/+$/, "")}`
}

const searchOf = (query: object) => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) if (one !== undefined) search.append(name, `${one}`)
  }
  return search.size === 0 ? "" : `?${search}`
}

/** A refusal of the service, or undefined for an answer of another program. */
const refusalIn = (text: string) => {
  try {
    // The contract defines the type.
    const { error, smtp } = JSON.parse(text) as { readonly error?: unknown; readonly smtp?: SmtpReply }
    return typeof error === "string" ? { error, smtp } : undefined
  } catch {
    return undefined
  }
}

const secondsIn = (header: string | null): number | null => {
  const number = Number(header ?? Number.NaN)
  return Number.isFinite(number) && number >= 0 ? number : null
}

/** Node nests the cause of a failed fetch one level deeper. */
const reasonOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return "The request failed"
  return cause.cause instanceof Error && cause.cause.message !== "" ? cause.cause.message : cause.message
}

const pause = (milliseconds: number, signal: AbortSignal | undefined) =>
  new Promise<void>((resolve, reject) => {
    signal?.throwIfAborted()
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop)
      resolve()
    }, milliseconds)
    signal?.addEventListener("abort", stop, { once: true })
  })
