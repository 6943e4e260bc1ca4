import { isIP, type Socket } from "node:net"
import { Cache, Cause, Clock, Context, Duration, Effect, Exit, FiberSet, Latch, Layer, Schema } from "effect"
import { Dns, NetAddress } from "effect/net"
import { Agent, buildConnector, errors } from "undici"
import { BoundedMap } from "../cache/BoundedMap.ts"
import * as Settings from "../Settings.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import * as Elapsed from "../schedule/Elapsed.ts"
import * as EgressRules from "./EgressRules.ts"
import { type Answer, Exchange } from "./Exchange.ts"
import * as FailureReason from "./FailureReason.ts"

/** The host is not allowed as a target. */
export class Unreachable extends Schema.TaggedError<Unreachable>()("Unreachable", {
  reason: Schema.Literals(["Forbidden", "NoAddress", "NoDns"]),
  message: Schema.String
}) {}

/** A request got no answer. `message` tells the webhook's owner why. */
export class NoAnswer extends Schema.TaggedError<NoAnswer>()("NoAnswer", { message: Schema.String }) {}

/** Opens a connection to a checked address. Uses HTTP/1.1, so that cancelling a request closes its connection. */
export const Dial = Context.Reference<(timeout: Duration.Duration) => buildConnector.connector>(
  "inlet/delivery/Egress/Dial",
  { defaultValue: () => (timeout) => buildConnector({ allowH2: false, timeout: Duration.toMillis(timeout) }) }
)

/** Interval of the check for timed-out requests. One check replaces a timer per request. */
const looksEvery = "250 millis"

/** Maximum number of a name's addresses to try. */
const mostAddresses = 8

/** Number of cached targets, so that a URL is parsed once. */
const mostTargets = 1_000

/** The target of a request in the form of the HTTP client. */
interface Target {
  readonly origin: string
  readonly path: string
}

const targets = () => {
  const known = new BoundedMap<string, Target>(mostTargets)
  return (url: string): Target => {
    const before = known.get(url)
    if (before !== undefined) return before
    const { origin, pathname, search } = new URL(url)
    const target = { origin, path: pathname + search }
    known.set(url, target)
    return target
  }
}

/**
 * Sends requests to customers' URLs. Checks all addresses of a host, refuses the host if any is forbidden, and connects
 * to a checked address with the `Host` and TLS name of the URL. Follows no redirects, ignores proxy variables, and
 * inflates no answers.
 */
export class Egress extends Context.Service<
  Egress,
  {
    /** Checks the current addresses of a URL's host. Queries no DNS if every address is allowed. */
    check(url: string): Effect.Effect<void, Unreachable>
    /** Makes one POST, which ends within `WEBHOOK_TIMEOUT` plus 250 ms. Interruption closes its connection. */
    send(request: {
      readonly url: string
      readonly headers: Record<string, string>
      readonly body: Uint8Array
    }): Effect.Effect<Answer, NoAnswer>
  }
>()("inlet/delivery/Egress") {
  static readonly layer = Layer.effect(
    Egress,
    Effect.gen(function* () {
      const hosts = yield* makeHosts
      const agent = yield* makeAgent(hosts.permitted)
      return Egress.of({ check: hosts.check, send: yield* makeSend(agent) })
    })
  )
}

/** Resolves hosts and checks their addresses. */
const makeHosts = Effect.gen(function* () {
  const dns = yield* Dns.Dns
  const rules = yield* Settings.egress
  const judge = EgressRules.make(rules)

  const inDns = (host: string) =>
    dns.lookup(host).pipe(
      Effect.map((addresses) => addresses.slice(0, mostAddresses).map(NetAddress.formatIp)),
      Effect.mapError(({ reason }) =>
        reason === "NotFound" || reason === "BadName"
          ? new Unreachable({ reason: "NoAddress", message: `${host} does not resolve` })
          : new Unreachable({ reason: "NoDns", message: `DNS did not answer for ${host} (${reason})` })
      )
    )
  // Avoids a DNS query per request for receivers that close their connections.
  const recent = yield* Cache.makeWith((host: string) => Elapsed.ofLookup(inDns(host)), {
    capacity: 1_000,
    timeToLive: (exit) => (Exit.isSuccess(exit) ? "5 seconds" : "1 second")
  })

  /** Resolves a host and checks all its addresses. */
  const permitted = Effect.fnUntraced(function* (host: string, find: typeof inDns) {
    const isLiteral = isIP(host) !== 0
    const addresses = isLiteral ? [host] : yield* find(host)
    for (const address of addresses) {
      const verdict = judge(address)
      if (verdict === undefined) continue
      if (isLiteral) return yield* new Unreachable({ reason: "Forbidden", message: `${address} ${verdict}` })
      // Only the operator may see internal addresses.
      yield* Effect.logInfo("A webhook host is not allowed").pipe(Effect.annotateLogs({ host, address }))
      const message = `what ${host} resolves to ${verdict}`
      return yield* new Unreachable({ reason: "Forbidden", message })
    }
    return addresses
  })

  const check = Effect.fn("Egress.check")(function* (url: string) {
    if (rules.allowPrivate && rules.deny.length === 0) return
    const { hostname } = new URL(url)
    yield* permitted(hostname.replace(/^\[|\]$/g, ""), inDns)
  })

  return { check, permitted: (host: string) => permitted(host, (name) => Elapsed.ofCache(Cache.get(recent, name))) }
})

type Permitted = Effect.Success<typeof makeHosts>["permitted"]

const dialed = (dial: buildConnector.connector, options: buildConnector.Options) =>
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

/** Tries the next address after a failure or one second without an answer. */
const oneOf = (
  dial: buildConnector.connector,
  [first, ...others]: ReadonlyArray<string>,
  options: buildConnector.Options
): Effect.Effect<Socket, Error> => {
  const connected = dialed(dial, { ...options, hostname: first ?? options.hostname })
  if (others.length === 0) return connected
  return Effect.gen(function* () {
    const failed = yield* Latch.make(false)
    const next = Effect.andThen(Effect.timeoutOption(failed.await, "1 second"), oneOf(dial, others, options))
    return yield* Effect.race(
      Effect.onError(connected, () => failed.open),
      next
    )
  })
}

/** Makes the HTTP client, which connects to permitted addresses only. */
const makeAgent = Effect.fnUntraced(function* (permitted: Permitted) {
  const { concurrency, timeout } = yield* Settings.webhooks
  const dial = (yield* Dial)(timeout)
  const run = yield* FiberSet.makeRuntime()

  const connect: buildConnector.connector = (options, callback) =>
    void permitted(options.hostname).pipe(
      Effect.flatMap((addresses) => oneOf(dial, addresses, options)),
      Effect.timeout(timeout),
      Effect.matchCause({
        onSuccess: (socket) => callback(null, socket),
        onFailure: (cause) => callback(errorOf(cause), null)
      }),
      run
    )

  return yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new Agent({
          // Domains that share a host do not wait for each other's connections.
          connections: concurrency,
          pipelining: 1,
          allowH2: false,
          keepAliveTimeout: 10_000,
          keepAliveMaxTimeout: 60_000,
          // The HTTP client's own timeouts do not end dripped bytes, early hints or queued requests.
          headersTimeout: 0,
          bodyTimeout: 0,
          connect
        })
    ),
    (agent) => Effect.promise(() => agent.destroy())
  )
})

/** Makes the function that sends, and the check that ends its requests in time. */
const makeSend = Effect.fnUntraced(function* (agent: Agent) {
  const clock = yield* Clock.Clock
  const { timeout } = yield* Settings.webhooks
  const late = `no answer within ${Duration.toSeconds(timeout)} s`

  /** Open requests, oldest first. */
  const underWay = new Set<Exchange>()
  const over = (exchange: Exchange) => void underWay.delete(exchange)
  const targetOf = targets()
  const reasonOf = (error: Error) => wordsFor(error, late)
  const milliseconds = () => Number(clock.monotonicTimeNanosUnsafe() / 1_000n) / 1_000

  const look = yield* BackgroundLoop.whileBusy(looksEvery, "Looking for requests whose time is over failed", () => {
    const began = milliseconds() - Duration.toMillis(timeout)
    for (const exchange of underWay) {
      if (exchange.startedAt > began) break
      exchange.expire(late)
    }
    return underWay.size > 0
  })

  const send: Egress["Service"]["send"] = ({ body, headers, url }) =>
    Effect.callback((resume) => {
      const target = targetOf(url)
      const exchange = new Exchange({
        startedAt: milliseconds(),
        answered: (answer) => resume(Effect.succeed(answer)),
        unanswered: (message) => resume(Effect.fail(new NoAnswer({ message }))),
        reasonOf,
        over
      })
      underWay.add(exchange)
      look()
      agent.dispatch({ ...target, method: "POST", headers, body }, exchange)
      return Effect.sync(() => exchange.abandon())
    })

  return send
})

const errorOf = (cause: Cause.Cause<unknown>): Error => {
  const error = Cause.squash(cause)
  return error instanceof Error ? error : new Error(String(error))
}

/** Explains errors that a person can correct, else returns the library's code. */
const wordsFor = (cause: unknown, late: string): string => {
  if (cause instanceof Unreachable) return cause.message
  if (Cause.isTimeoutError(cause) || cause instanceof errors.ConnectTimeoutError) return late
  if (cause instanceof errors.SocketError && cause.message === "bad upgrade") return FailureReason.switching
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
  ERR_SSL_WRONG_VERSION_NUMBER: "the port does not speak TLS",
  CERT_HAS_EXPIRED: "the certificate has expired",
  CERT_NOT_YET_VALID: "the certificate is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "the certificate is from an authority that is not known",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the certificate is from an authority that is not known",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the certificate is from an authority that is not known",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is for another name"
}
