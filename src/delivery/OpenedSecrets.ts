import { Clock, Context, Effect, Layer } from "effect"
import { BoundedMap } from "../cache/BoundedMap.ts"
import type { SigningSecrets } from "../providers/signing/WebhookSigner.ts"
import * as Elapsed from "../schedule/Elapsed.ts"
import { SecretsKey } from "../workspaces/SecretsKey.ts"
import type { SealedDelivery } from "./Lease.ts"

const mostKept = 1_000
const keptMillis = 5 * 60_000

/** Encrypted secrets of a workspace, or of a webhook that has its own. */
type Sealed = Pick<SealedDelivery, "previousSigningSecret" | "signingSecret" | "workspaceId"> &
  Partial<Pick<SealedDelivery, "hasOwnSecret" | "webhookId">>

/** Whose secrets these are. They are sealed for it. */
const ownerOf = ({ hasOwnSecret = false, webhookId, workspaceId }: Sealed) =>
  hasOwnSecret && webhookId !== undefined ? webhookId : workspaceId

/** Decrypts the signing secrets of workspaces and webhooks, and caches them for five minutes. */
export class OpenedSecrets extends Context.Service<
  OpenedSecrets,
  {
    /** Cached secrets. A plain function. */
    known(sealed: Sealed): SigningSecrets | undefined
    open(sealed: Sealed): Effect.Effect<SigningSecrets>
  }
>()("inlet/delivery/OpenedSecrets") {
  static readonly layer = Layer.effect(
    OpenedSecrets,
    Effect.suspend(() => make)
  ).pipe(Layer.provide(SecretsKey.layer))
}

const make = Effect.gen(function* () {
  const secretsKey = yield* SecretsKey
  const clock = yield* Clock.Clock
  const kept = new BoundedMap<
    string,
    { readonly sealed: Sealed; readonly secrets: SigningSecrets; readonly until: number }
  >(mostKept)

  /** Decrypted secrets by their encrypted form, so that a rotation takes effect at once. */
  const known = (sealed: Sealed): SigningSecrets | undefined => {
    const found = kept.get(ownerOf(sealed))
    return found !== undefined && found.until > Elapsed.millisOf(clock) && isSame(found.sealed, sealed)
      ? found.secrets
      : undefined
  }

  const open = Effect.fnUntraced(function* (sealed: Sealed) {
    const before = known(sealed)
    if (before !== undefined) return before
    const { previousSigningSecret: previous, signingSecret, workspaceId } = sealed
    const owner = ownerOf(sealed)
    const secrets: SigningSecrets = {
      current: yield* secretsKey.open(signingSecret, owner),
      previous: previous === null ? undefined : yield* secretsKey.open(previous, owner)
    }
    kept.set(owner, {
      // Copied, because the driver's bytes are a view of all that it read with them.
      sealed: {
        workspaceId,
        signingSecret: new Uint8Array(signingSecret),
        previousSigningSecret: previous === null ? null : new Uint8Array(previous)
      },
      secrets,
      until: Elapsed.millisOf(clock) + keptMillis
    })
    return secrets
  })

  return OpenedSecrets.of({ known, open })
})

const isSame = (one: Sealed, other: Sealed) =>
  Buffer.compare(one.signingSecret, other.signingSecret) === 0 &&
  (one.previousSigningSecret === null || other.previousSigningSecret === null
    ? one.previousSigningSecret === other.previousSigningSecret
    : Buffer.compare(one.previousSigningSecret, other.previousSigningSecret) === 0)
