import { Effect, Redacted } from "effect"
import type { SecureRandom } from "effect/crypto"

/** Hours for which a replaced secret also signs. */
export const previousHours = 24

/** A new secret in the form of Standard Webhooks: `whsec_` and 32 random bytes in base64. */
export const make = (random: SecureRandom.SecureRandom["Service"]) =>
  Effect.map(random.randomBytes(32), (bytes) => Redacted.make(`whsec_${Buffer.from(bytes).toString("base64")}`))
