import { isIP, type Socket } from "node:net"
import { Cache, Cause, Context, Duration, Effect, Exit, FiberSet, Latch, Layer, Schema } from "effect"
import { Dns, NetAddress } from "effect/net"
import { Agent, buildConnector, type Dispatcher, errors } from "undici"
import * as Settings from "../Settings.ts"
import * as EgressRules from "./EgressRules.ts"

/** A host that no request is made to. */
export class Unreachable extends Schema.TaggedError<Unreachable>()("Unreachable", {
  reason: Schema.Literals(["Forbidden", "NoAddress", "NoDns"]),
  message: Schema.String
}) {}

/** A request without an answer; the message says why. */
export class NoAnswer extends Schema.TaggedError<NoAnswer>()("NoAnswer", { message: Schema.String }) {}

export interface Answer {
  readonly statusCode: number
  readonly retryAfter: string | null
  /** The first KiB. */
  readonly body: string
}

/** Opens one connection, to an address that was checked. HTTP/1.1, where a request that is given up is a connection that is cut. */
export const Dial = Context.Reference<(timeout: Duration.Duration) => buildConnector.connector>(
  "inlet/delivery/Egress/Dial",
  { defaultValue: () => (timeout) => buildConnector({ allowH2: false, timeout: Duration.toMillis(timeout) }) }
)

const keptBytes = 1_024

/** Most addresses of a name that are tried. */
const mostAddresses = 8

/**
 * The one way out to URLs that customers give. A host is as good as its worst
 * address: all of them are looked at before a connection is opened, and it goes
 * to one that was looked at, with `Host` and TLS name as the URL says. No
 * redirect is followed, no proxy variable obeyed, no answer inflated.
 */
export class Egress extends Context.Service<
  Egress,
  {
    /** Whether the host of a URL may be reached, by what DNS says now. Nobody is asked where everything may be. */
    check(url: string): Effect.Effect<void, Unreachable>
    /** One POST, within `WEBHOOK_TIMEOUT` whatever the other side does. */
    post(options: {
      readonly url: string
      readonly headers: Record<string, string>
      readonly body: Uint8Array
    }): Effect.Effect<Answer, NoAnswer>
  }
>()("inlet/delivery/Egress") {
  static readonly layer = Layer.effect(
    Egress,
    Effect.gen(function* () {
      const dns = yield* Dns.Dns
      const { concurrency, timeout } = yield* Settings.webhooks
      const rules = yield* Settings.egress
      const judge = EgressRules.make(rules)
      const dial = (yield* Dial)(timeout)
      const run = yield* FiberSet.makeRuntime()
      const late = `no answer within ${Duration.toSeconds(timeout)} s`

      const inDns = (host: string) =>
        dns.lookup(host).pipe(
          Effect.map((addresses) => addresses.slice(0, mostAddresses).map(NetAddress.formatIp)),
          Effect.mapError(({ reason }) =>
            reason === "NotFound" || reason === "BadName"
              ? new Unreachable({ reason: "NoAddress", message: `${host} does not resolve` })
              : new Unreachable({ reason: "NoDns", message: `DNS did not answer for ${host} (${reason})` })
          )
        )
      // Receivers that close their connections must not make a DNS question of every request.
      const recent = yield* Cache.makeWith(inDns, {
        capacity: 1_000,
        timeToLive: (exit) => (Exit.isSuccess(exit) ? "5 seconds" : "1 second")
      })

      /** The addresses of a host, once all of them have passed. */
      const permitted = Effect.fnUntraced(function* (host: string, find: typeof inDns) {
        const isLiteral = isIP(host) !== 0
        const addresses = isLiteral ? [host] : yield* find(host)
        for (const address of addresses) {
          const verdict = judge(address)
          if (verdict === undefined) continue
          const message = isLiteral
            ? `address ${address} ${verdict}`
            : `${host} resolves to ${address}, which ${verdict}`
          return yield* new Unreachable({ reason: "Forbidden", message })
        }
        return addresses
      })

      const dialed = (options: buildConnector.Options) =>
        Effect.callback<Socket, Error>((resume) => {
          let opened: Socket | undefined
          let isUnwanted = false
          dial(options, (error, socket) => {
            if (error !== null) return resume(Effect.fail(error))
            opened = socket
            if (isUnwanted) socket.destroy()
            else resume(Effect.succeed(socket))
          })
          return Effect.sync(() => {
            isUnwanted = true
            opened?.destroy()
          })
        })

      /** The next address is tried when one fails, or says nothing for a second. */
      const oneOf = (
        [first, ...others]: ReadonlyArray<string>,
        options: buildConnector.Options
      ): Effect.Effect<Socket, Error> => {
        const connected = dialed({ ...options, hostname: first ?? options.hostname })
        if (others.length === 0) return connected
        return Effect.gen(function* () {
          const failed = yield* Latch.make(false)
          const next = Effect.andThen(Effect.timeoutOption(failed.await, "1 second"), oneOf(others, options))
          return yield* Effect.race(
            Effect.onError(connected, () => failed.open),
            next
          )
        })
      }

      const connect: buildConnector.connector = (options, callback) =>
        void permitted(options.hostname, (host) => Cache.get(recent, host)).pipe(
          Effect.flatMap((addresses) => oneOf(addresses, options)),
          Effect.timeout(timeout),
          Effect.matchCause({
            onSuccess: (socket) => callback(null, socket),
            onFailure: (cause) => callback(errorOf(cause), null)
          }),
          run
        )

      const agent = yield* Effect.acquireRelease(
        Effect.sync(
          () =>
            new Agent({
              // Many domains may share a host, and none of them waits for another's connections.
              connections: concurrency,
              pipelining: 1,
              allowH2: false,
              keepAliveTimeout: 10_000,
              keepAliveMaxTimeout: 60_000,
              headersTimeout: Duration.toMillis(timeout),
              bodyTimeout: Duration.toMillis(timeout),
              connect
            })
        ),
        (agent) => Effect.promise(() => agent.destroy())
      )

      const check = Effect.fn("Egress.check")(function* (url: string) {
        if (rules.allowPrivate && rules.deny.length === 0) return
        const { hostname } = new URL(url)
        yield* permitted(hostname.replace(/^\[|\]$/g, ""), inDns)
      })

      /** Notes in `received` what comes, and succeeds when that is all, or all that is kept. */
      const exchange = (received: Received, { body, headers, url }: Parameters<Egress["Service"]["post"]>[0]) =>
        Effect.callback<void, NoAnswer>((resume) => {
          let controller: Dispatcher.DispatchController | undefined
          let isUnwanted = false
          let length = 0
          const done = () => resume(Effect.void)
          const { origin, pathname, search } = new URL(url)
          agent.dispatch(
            { origin, path: pathname + search, method: "POST", headers, body },
            {
              onRequestStart: (own) => {
                controller = own
                if (isUnwanted) own.abort(givenUp)
              },
              onResponseStart: (_, statusCode, headers) => {
                // Early hints are no answer.
                if (statusCode >= 200) received.head = { statusCode, headers }
              },
              onResponseData: (own, chunk) => {
                received.chunks.push(chunk)
                length += chunk.byteLength
                if (length <= keptBytes) return
                done()
                // With what is too much the connection is cut.
                own.abort(givenUp)
              },
              onResponseEnd: done,
              onResponseError: (_, error) =>
                received.head === undefined
                  ? resume(Effect.fail(new NoAnswer({ message: reasonOf(error, late) })))
                  : done()
            }
          )
          return Effect.sync(() => {
            isUnwanted = true
            controller?.abort(givenUp)
          })
        })

      const post: Egress["Service"]["post"] = Effect.fnUntraced(function* (request) {
        const received: Received = { head: undefined, chunks: [] }
        // Not by the client's own limits: dripped bytes, early hints or a queue hold those up for ever.
        yield* Effect.timeoutOption(exchange(received, request), timeout)
        if (received.head === undefined) return yield* new NoAnswer({ message: late })
        const { headers: answered, statusCode } = received.head
        const retryAfter = answered["retry-after"]
        return {
          statusCode,
          retryAfter: typeof retryAfter === "string" ? retryAfter : null,
          body: Buffer.concat(received.chunks).subarray(0, keptBytes).toString("utf8").replaceAll("\0", "")
        }
      })

      return Egress.of({ check, post })
    })
  )
}

/** What has come when the time is over. The status decides; a body that breaks off or drips does not change it. */
interface Received {
  head: Pick<Dispatcher.ResponseData, "headers" | "statusCode"> | undefined
  readonly chunks: Array<Uint8Array>
}

/** Nobody waits for the rest of the answer. */
const givenUp = new Error("given up")

const errorOf = (cause: Cause.Cause<unknown>): Error => {
  const error = Cause.squash(cause)
  return error instanceof Error ? error : new Error(String(error))
}

/** Our own words for what a person can do something about, else the library's code. */
const reasonOf = (cause: unknown, late: string): string => {
  if (cause instanceof Unreachable) return cause.message
  if (Cause.isTimeoutError(cause) || cause instanceof errors.ConnectTimeoutError) return late
  if (cause instanceof errors.UndiciError) return `no valid answer (${cause.code}: ${cause.message})`
  if (cause instanceof Error) {
    const code = "code" in cause && typeof cause.code === "string" ? cause.code : cause.name
    return words[code] ?? `no answer (${code}: ${cause.message})`
  }
  return "no answer"
}

const words: Record<string, string> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset before an answer",
  EHOSTUNREACH: "the host can't be reached",
  ENETUNREACH: "the network can't be reached",
  CERT_HAS_EXPIRED: "the certificate has expired",
  CERT_NOT_YET_VALID: "the certificate is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "the certificate is from an authority that is not known",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the certificate is from an authority that is not known",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the certificate is from an authority that is not known",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is for another name"
}
