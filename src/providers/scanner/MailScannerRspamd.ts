import { isIP } from "node:net"
import { Effect, Layer, Redacted } from "effect"
import { errors, Pool } from "undici"
import { MailScanner, ScanFailed, type Scannable } from "./MailScanner.ts"
import * as RspamdAnswer from "./RspamdAnswer.ts"

export interface Options {
  /** Where a normal worker of rspamd listens. */
  readonly url: string
  readonly password: Redacted.Redacted | undefined
  /** Maximum connections at a time. */
  readonly connections: number
}

/** Maximum bytes of an answer. A usual one has 2 to 8 KiB. */
const largestAnswer = 256 * 1024

/** Maximum characters of an address or name, and recipients, in the header of a request. */
const longestValue = 512
const mostRecipients = 100

/** Asks rspamd by its HTTP protocol (`POST /checkv2`), with ClamAV and other scanners behind it. */
export const layer = ({ connections, password, url }: Options) =>
  Layer.effect(
    MailScanner,
    Effect.gen(function* () {
      const { origin, pathname } = new URL(url)
      const path = `${pathname.replace(/\/+$/, "")}/checkv2`
      const pool = yield* Effect.acquireRelease(
        Effect.sync(
          () =>
            new Pool(origin, {
              connections,
              // A connection for each message. rspamd may close an idle one just when it is used again.
              pipelining: 0,
              maxResponseSize: largestAnswer,
              // The caller has the time limit.
              headersTimeout: 0,
              bodyTimeout: 0
            })
        ),
        (pool) => Effect.promise(() => pool.destroy())
      )

      const failure = (cause: unknown) =>
        cause instanceof errors.ResponseExceededMaxSizeError || cause instanceof errors.HTTPParserError
          ? new ScanFailed({ kind: "unclear", message: "its answer is too large, or not HTTP" })
          : // Without the client's own message, which may name the address with its credentials.
            new ScanFailed({ kind: "unreachable", message: `no answer (${codeOf(cause)})` })

      const ask = (mail: Scannable) =>
        Effect.tryPromise({
          try: (signal) =>
            pool
              .request({ method: "POST", path, headers: headersOf(mail, password), body: mail.message, signal })
              .then(({ body, statusCode }) => body.text().then((text) => ({ statusCode, text }))),
          catch: failure
        })

      return MailScanner.of({
        isActive: true,
        scan: (mail) =>
          Effect.flatMap(ask(mail), ({ statusCode, text }) => {
            // It says no to this request. 403 is about the password, 503 about its own state.
            if (statusCode >= 400 && statusCode < 500 && statusCode !== 401 && statusCode !== 403) {
              return new ScanFailed({ kind: "refused", message: `it answered ${statusCode}` })
            }
            if (statusCode !== 200) return new ScanFailed({ kind: "unclear", message: `it answered ${statusCode}` })
            const scan = RspamdAnswer.scanIn(text)
            return scan === undefined
              ? new ScanFailed({ kind: "unclear", message: "its answer is not one of /checkv2" })
              : Effect.succeed(scan)
          })
      })
    })
  )

/** The envelope as rspamd's protocol has it. */
const headersOf = (
  { envelope, id, recipients }: Scannable,
  password: Redacted.Redacted | undefined
): Record<string, string | Array<string>> => ({
  From: value(envelope.from),
  Rcpt: recipients.slice(0, mostRecipients).map(value),
  "Queue-Id": id,
  ...(envelope.helo === "" ? {} : { Helo: value(envelope.helo) }),
  ...(isIP(envelope.remoteAddress) === 0 ? {} : { IP: envelope.remoteAddress }),
  ...(password === undefined ? {} : { Password: Redacted.value(password) })
})

/** UTF-8 without control characters, as the bytes of a header. */
const value = (text: string): string =>
  Buffer.from(text.slice(0, longestValue).toWellFormed())
    .toString("latin1")
    .replace(/[\0-\x1f\x7f]/g, "")

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "unknown error"
