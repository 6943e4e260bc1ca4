import { Context, Duration, Effect, Layer } from "effect"
import { Dns, Host } from "effect/net"
import * as Settings from "../Settings.ts"
import * as Elapsed from "../schedule/Elapsed.ts"
import { type Silent, type Talk, talk } from "./SmtpProbe.ts"

/** The port where senders deliver. Tests use another one. */
export const MailPort = Context.Reference("inlet/health/MailPort", { defaultValue: () => 25 })

/** What answers at one address of the mail host, or why nothing did. */
export interface Answer {
  readonly address: string
  readonly talk: Talk | Silent
}

/** The mail host of this service, as this machine sees it. */
export interface Seen {
  /** `MX_HOST`. */
  readonly host: string
  readonly port: number
  /** True in development, where the mail server is looked for on this machine instead of in DNS. */
  readonly isNearby: boolean
  /** True if Inlet orders the certificate of the mail host (`ACME_DIRECTORY`). */
  readonly isOrdered: boolean
  /** Why DNS has no address, or null. */
  readonly problem: string | null
  readonly answers: ReadonlyArray<Answer>
}

/** Addresses of the mail host that are tried. */
const mostAddresses = 4

/** Timeout of a dialog, beside the delay of the greeting. */
const patience = Duration.seconds(5)

/** The result is shared by all requests for this long. */
const keptFor = Duration.seconds(15)

/**
 * Looks whether the mail host of this service answers. It connects to the configured host alone: to connect to hosts
 * that a customer's DNS names would let customers scan ports.
 */
export class MailHost extends Context.Service<MailHost, { readonly look: Effect.Effect<Seen> }>()(
  "inlet/health/MailHost"
) {
  static readonly layer = Layer.effect(
    MailHost,
    Effect.gen(function* () {
      const dns = yield* Dns.Dns
      const standard = yield* MailPort
      const { greetingDelay, mxHost: host } = yield* Settings.smtp
      const nearby = yield* Settings.smtpNearby
      const isOrdered = (yield* Settings.certificates) !== undefined

      const answersAt = (addresses: ReadonlyArray<string>, port: number) =>
        Effect.forEach(
          addresses.slice(0, mostAddresses),
          (address) =>
            talk({ address, host, port, patience: Duration.sum(patience, greetingDelay) }).pipe(
              Effect.catch((silent) => Effect.succeed(silent)),
              Effect.map((said): Answer => ({ address, talk: said }))
            ),
          { concurrency: "unbounded" }
        )

      const look = Effect.gen(function* () {
        if (nearby !== undefined) {
          const at = nearby.lastIndexOf(":")
          const port = Number(nearby.slice(at + 1))
          const answers = yield* answersAt([nearby.slice(0, at).replace(/^\[|\]$/g, "")], port)
          return { host, port, isNearby: true, isOrdered, problem: null, answers }
        }
        const found = yield* Effect.result(dns.lookup(Host.domainNameFromStringUnsafe(host)))
        if (found._tag === "Failure") {
          return { host, port: standard, isNearby: false, isOrdered, problem: found.failure.reason, answers: [] }
        }
        const answers = yield* answersAt(found.success.map(String), standard)
        return { host, port: standard, isNearby: false, isOrdered, problem: null, answers }
      }).pipe(Effect.withSpan("MailHost.look"))

      return MailHost.of({ look: yield* Elapsed.cached(keptFor)(look) })
    })
  )
}
