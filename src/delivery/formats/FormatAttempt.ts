import { Clock, Effect, Schema } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { Stamp } from "./WebhookFormat.ts"

/** The format could not make the request. `message` is shown to the workspace. */
export class Unmade extends Schema.TaggedError<Unmade>()("Unmade", { message: Schema.String }) {}

const randomBytes = 32

/** The stamp of an attempt that is made now. */
export const stamp = Effect.fnUntraced(function* (
  random: SecureRandom.SecureRandom["Service"],
  about: Pick<Stamp, "attempt" | "credentials" | "secrets">
) {
  const seconds = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
  const stamp: Stamp = { ...about, seconds, random: yield* random.randomBytes(randomBytes) }
  return stamp
})
