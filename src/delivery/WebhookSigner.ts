import { NodeCrypto } from "@effect/platform-node"
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

      const hmac = Effect.fnUntraced(function* (key: Uint8Array, prefix: string, body: Uint8Array) {
        const signing = yield* Mac.key(Mac.hmacSha256, key)
        return yield* mac.sign(signing, Buffer.concat([Buffer.from(prefix), body]))
      })

      /** The whole secret as text is the key, `whsec_` included. */
      const service = (secret: Redacted.Redacted, seconds: number, body: Uint8Array) =>
        Effect.map(
          hmac(Buffer.from(Redacted.value(secret)), `${seconds}.`, body),
          (tag) => `t=${seconds},v1=${Hex.encode(tag)}`
        )

      /** The bytes behind `whsec_` are the key. */
      const standard = (secret: Redacted.Redacted, eventId: EventId, seconds: number, body: Uint8Array) =>
        Effect.map(
          hmac(Buffer.from(Redacted.value(secret).slice("whsec_".length), "base64"), `${eventId}.${seconds}.`, body),
          (tag) => `v1,${Base64.encode(tag)}`
        )

      const sign: WebhookSigner["Service"]["sign"] = Effect.fn("WebhookSigner.sign")(
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
  ).pipe(Layer.provide(NodeCrypto.layerMac))
}
