import { Clock, Context, Effect, Layer, Redacted } from "effect"
import { Mac } from "effect/crypto"
import { Base64, Hex } from "effect/encoding"
import type { EventId } from "../model/InboundEvent.ts"

/** The secrets of a workspace that sign now: the previous one for a day after a rotation. */
export interface SigningSecrets {
  readonly current: Redacted.Redacted
  readonly previous: Redacted.Redacted | undefined
}

/** Makes the headers that let a receiver trust a request (spec, section 6; Standard Webhooks). */
export class WebhookSigner extends Context.Service<
  WebhookSigner,
  {
    /** Headers for exactly these body bytes, stamped with the present second. */
    sign(options: {
      readonly eventId: EventId
      readonly body: Uint8Array
      readonly secrets: SigningSecrets
    }): Effect.Effect<Record<string, string>>
  }
>()("inlet/delivery/WebhookSigner") {
  static readonly layer = Layer.effect(
    WebhookSigner,
    Effect.gen(function* () {
      const mac = yield* Mac.Mac

      // A secret signs many messages; its keys last as long as it does.
      const known = new WeakMap<Redacted.Redacted, { readonly service: Mac.Key; readonly standard: Mac.Key }>()
      const keysOf = Effect.fnUntraced(function* (secret: Redacted.Redacted) {
        const before = known.get(secret)
        if (before !== undefined) return before
        const text = Redacted.value(secret)
        const keys = {
          // The whole secret as text is the key, `whsec_` included.
          service: yield* Mac.key(Mac.hmacSha256, Buffer.from(text)),
          // The bytes behind `whsec_` are the key.
          standard: yield* Mac.key(Mac.hmacSha256, Buffer.from(text.slice("whsec_".length), "base64"))
        }
        known.set(secret, keys)
        return keys
      })

      const hmac = (key: Mac.Key, prefix: string, body: Uint8Array) =>
        mac.sign(key, Buffer.concat([Buffer.from(prefix), body]))

      const service = Effect.fnUntraced(function* (secret: Redacted.Redacted, seconds: number, body: Uint8Array) {
        const tag = yield* hmac((yield* keysOf(secret)).service, `${seconds}.`, body)
        return `t=${seconds},v1=${Hex.encode(tag)}`
      })

      const standard = Effect.fnUntraced(function* (
        secret: Redacted.Redacted,
        eventId: EventId,
        seconds: number,
        body: Uint8Array
      ) {
        const tag = yield* hmac((yield* keysOf(secret)).standard, `${eventId}.${seconds}.`, body)
        return `v1,${Base64.encode(tag)}`
      })

      const sign: WebhookSigner["Service"]["sign"] = Effect.fnUntraced(
        function* ({ body, eventId, secrets: { current, previous } }) {
          const seconds = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
          const live = previous === undefined ? [current] : [current, previous]
          const signatures = yield* Effect.forEach(live, (secret) => standard(secret, eventId, seconds, body))
          return {
            "X-Service-Event-Id": eventId,
            "X-Service-Timestamp": `${seconds}`,
            "X-Service-Signature": yield* service(current, seconds, body),
            ...(previous === undefined
              ? {}
              : { "X-Service-Signature-Previous": yield* service(previous, seconds, body) }),
            "webhook-id": eventId,
            "webhook-timestamp": `${seconds}`,
            "webhook-signature": signatures.join(" ")
          }
        },
        // We made the secrets, so one that is no key is our bug.
        Effect.orDie
      )

      return WebhookSigner.of({ sign })
    })
  )
}
