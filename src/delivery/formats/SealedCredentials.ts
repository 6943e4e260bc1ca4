import { Context, Effect, Layer, Redacted, Schema } from "effect"
import type { WebhookId } from "../../model/Webhook.ts"
import { SecretsKey } from "../../workspaces/SecretsKey.ts"
import { RawOptions } from "./RawOptions.ts"
import type { Credentials } from "./WebhookFormat.ts"

const text = Schema.optionalKey(Schema.String)
const Stored = Schema.fromJsonString(
  Schema.Struct({ user: text, password: text, signingKey: text, raw: Schema.optionalKey(RawOptions) })
)
const encode = Schema.encodeSync(Stored)
const decode = Schema.decodeSync(Stored)

const revealed = (secret: Redacted.Redacted | undefined, name: "password" | "signingKey") =>
  secret === undefined ? {} : { [name]: Redacted.value(secret) }

const redacted = (secret: string | undefined, name: "password" | "signingKey") =>
  secret === undefined ? {} : { [name]: Redacted.make(secret) }

const none: Credentials = {}

/** Encrypts the credentials of webhooks for the database. They are authenticated with their webhook. */
export class SealedCredentials extends Context.Service<
  SealedCredentials,
  {
    /** Null without any. */
    seal(credentials: Credentials, webhookId: WebhookId): Effect.Effect<Uint8Array | null>
    open(sealed: Uint8Array | null, webhookId: WebhookId): Effect.Effect<Credentials>
  }
>()("inlet/delivery/formats/SealedCredentials") {
  static readonly layer = Layer.effect(
    SealedCredentials,
    Effect.gen(function* () {
      const secrets = yield* SecretsKey

      const seal: SealedCredentials["Service"]["seal"] = ({ password, raw, signingKey, user }, webhookId) => {
        const stored = {
          ...(user === undefined ? {} : { user }),
          ...revealed(password, "password"),
          ...revealed(signingKey, "signingKey"),
          ...(raw === undefined ? {} : { raw: Redacted.value(raw) })
        }
        return Object.keys(stored).length === 0
          ? Effect.succeed(null)
          : secrets.seal(Redacted.make(encode(stored)), webhookId)
      }

      const open: SealedCredentials["Service"]["open"] = (sealed, webhookId) =>
        sealed === null
          ? Effect.succeed(none)
          : Effect.map(secrets.open(sealed, webhookId), (opened) => {
              const { password, raw, signingKey, user } = decode(Redacted.value(opened))
              return {
                ...(user === undefined ? {} : { user }),
                ...redacted(password, "password"),
                ...redacted(signingKey, "signingKey"),
                ...(raw === undefined ? {} : { raw: Redacted.make(raw) })
              }
            })

      return SealedCredentials.of({ seal, open })
    })
  ).pipe(Layer.provide(SecretsKey.layer))
}
