import { createHmac, createSecretKey, type KeyObject } from "node:crypto"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import type { EventId } from "../../model/InboundEvent.ts"
import type { OperationalEventId } from "../../model/OperationalEvent.ts"
import type { WorkspaceId } from "../../model/Workspace.ts"

/** Signing failed. The attempt fails and is retried by the schedule. `message` is shown to the workspace. */
export class SigningFailed extends Schema.TaggedError<SigningFailed>()("SigningFailed", { message: Schema.String }) {}

/** The current signing secrets of a workspace, with the previous one for a day after a rotation. */
export interface SigningSecrets {
  readonly current: Redacted.Redacted
  readonly previous: Redacted.Redacted | undefined
}

/** A webhook request to sign. */
export interface Signable {
  readonly workspaceId: WorkspaceId
  readonly eventId: EventId | OperationalEventId
  /** The exact bytes of the request. */
  readonly body: Uint8Array
  /** The time of the request, in seconds since 1970. */
  readonly seconds: number
  readonly secrets: SigningSecrets
}

/** Signs webhook requests. */
export class WebhookSigner extends Context.Service<
  WebhookSigner,
  {
    /**
     * Returns the signature headers for exactly these bytes and this second. A signer may call another machine,
     * within the timeout of a webhook (`WEBHOOK_TIMEOUT`).
     */
    sign(request: Signable): Effect.Effect<Readonly<Record<string, string>>, SigningFailed>
  }
>()("inlet/providers/signing/WebhookSigner") {
  /** Signs with the secrets of the workspace by HMAC-SHA256 (spec, section 6; Standard Webhooks). */
  static readonly layer = Layer.sync(WebhookSigner, () => {
    // A secret signs many messages, so its keys are cached with it.
    const known = new WeakMap<Redacted.Redacted, Keys>()
    const keysOf = (secret: Redacted.Redacted): Keys => {
      const before = known.get(secret)
      if (before !== undefined) return before
      const keys = keysIn(Redacted.value(secret))
      known.set(secret, keys)
      return keys
    }
    return WebhookSigner.of({ sign: (request) => Effect.succeed(headersOf(request, keysOf)) })
  })
}

interface Keys {
  readonly service: KeyObject
  readonly standard: KeyObject
}

const keysIn = (secret: string): Keys => ({
  // The whole secret as text is the key, `whsec_` included.
  service: createSecretKey(Buffer.from(secret)),
  // The bytes after `whsec_` are the key.
  standard: createSecretKey(Buffer.from(secret.slice("whsec_".length), "base64"))
})

const service = ({ body, seconds }: Signable, { service }: Keys) =>
  `t=${seconds},v1=${createHmac("sha256", service).update(`${seconds}.`).update(body).digest("hex")}`

const standard = ({ body, eventId, seconds }: Signable, { standard }: Keys) =>
  `v1,${createHmac("sha256", standard).update(`${eventId}.${seconds}.`).update(body).digest("base64")}`

const headersOf = (request: Signable, keysOf: (secret: Redacted.Redacted) => Keys) => {
  const { eventId, seconds, secrets } = request
  const current = keysOf(secrets.current)
  const own = {
    "X-Service-Event-Id": eventId,
    "X-Service-Timestamp": `${seconds}`,
    "X-Service-Signature": service(request, current),
    "webhook-id": eventId,
    "webhook-timestamp": `${seconds}`,
    "webhook-signature": standard(request, current)
  }
  if (secrets.previous === undefined) return own
  const previous = keysOf(secrets.previous)
  return {
    ...own,
    "X-Service-Signature-Previous": service(request, previous),
    "webhook-signature": `${own["webhook-signature"]} ${standard(request, previous)}`
  }
}
