import { createPrivateKey } from "node:crypto"
import { Clock, Effect, Layer, Redacted } from "effect"
import { CertificateAuthority, Refused, Unreachable } from "../providers/authority/CertificateAuthority.ts"
import { certificate } from "../smtp/SelfSigned.ts"
import * as Mood from "./Mood.ts"

const calls = ["issue"] as const

const day = 86_400_000

export interface FakeAuthority extends Mood.Moody<(typeof calls)[number]> {
  /** For `authority` of `TestInlet.layer`, whose settings need an `ACME_DIRECTORY`. */
  readonly layer: Layer.Layer<CertificateAuthority>
  /** The hosts of the orders, oldest first. */
  readonly orders: ReadonlyArray<string>
}

/**
 * An authority that issues certificates without a look at the host, by the key of each certificate itself. `refuse` and
 * `fail` give none, and Inlet orders again after some minutes. `hang` never answers.
 */
export const make = (options: { readonly days?: number } = {}): FakeAuthority => {
  const { under, will } = Mood.make(calls)
  const orders: Array<string> = []
  return {
    layer: Layer.succeed(CertificateAuthority, {
      issue: ({ host, key }) =>
        Effect.gen(function* () {
          orders.push(host)
          return yield* Effect.map(Clock.currentTimeMillis, (now) =>
            certificate(createPrivateKey(Redacted.value(key)), host, now, now + (options.days ?? 90) * day)
          ).pipe(
            under("issue", {
              refuse: Effect.fail(new Refused({ type: "rejectedIdentifier", message: "The fake authority refuses" })),
              fail: Effect.fail(
                new Unreachable({ message: "The fake authority does not answer", retryAfterSeconds: null })
              )
            })
          )
        })
    }),
    will,
    orders
  }
}
