import { Clock, Effect } from "effect"
import { BoundedMap } from "../cache/BoundedMap.ts"
import type { SigningSecrets } from "../providers/signing/WebhookSigner.ts"
import { SecretsKey } from "../workspaces/SecretsKey.ts"
import type { SealedDelivery } from "./Lease.ts"

const mostKept = 1_000
const keptMillis = 5 * 60_000

type Sealed = Pick<SealedDelivery, "previousSigningSecret" | "signingSecret" | "workspaceId">

/** Opens the signing secrets of workspaces, and keeps them for five minutes so that most messages find them open. */
export const make = Effect.gen(function* () {
  const secretsKey = yield* SecretsKey
  const clock = yield* Clock.Clock
  const kept = new BoundedMap<
    string,
    { readonly sealed: Sealed; readonly secrets: SigningSecrets; readonly until: number }
  >(mostKept)

  /** Those that are open. They go by what is sealed, so that a rotation is followed at once. */
  const known = (sealed: Sealed): SigningSecrets | undefined => {
    const found = kept.get(sealed.workspaceId)
    return found !== undefined && found.until > clock.currentTimeMillisUnsafe() && isSame(found.sealed, sealed)
      ? found.secrets
      : undefined
  }

  const open = Effect.fnUntraced(function* (sealed: Sealed) {
    const before = known(sealed)
    if (before !== undefined) return before
    const { previousSigningSecret: previous, signingSecret, workspaceId } = sealed
    const secrets: SigningSecrets = {
      current: yield* secretsKey.open(signingSecret, workspaceId),
      previous: previous === null ? undefined : yield* secretsKey.open(previous, workspaceId)
    }
    kept.set(workspaceId, {
      // Without the payload that came beside it.
      sealed: { workspaceId, signingSecret, previousSigningSecret: previous },
      secrets,
      until: clock.currentTimeMillisUnsafe() + keptMillis
    })
    return secrets
  })

  return { known, open }
})

const isSame = (one: Sealed, other: Sealed) =>
  Buffer.compare(one.signingSecret, other.signingSecret) === 0 &&
  (one.previousSigningSecret === null || other.previousSigningSecret === null
    ? one.previousSigningSecret === other.previousSigningSecret
    : Buffer.compare(one.previousSigningSecret, other.previousSigningSecret) === 0)
