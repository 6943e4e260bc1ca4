import { Effect } from "effect"
import type { SecureRandom } from "effect/crypto"
import { DomainName } from "../model/Domain.ts"

/** 50 random bits: slugs cannot be guessed or repeat, and no reserved word has this length. */
const slugLength = 10

const slugOf = (bytes: Uint8Array) => [...bytes].map((byte) => "abcdefghijkmnpqrstuvwxyz23456789"[byte % 32]).join("")

/** A new name under the platform's domain for an instant inbox. */
export const make = (random: SecureRandom.SecureRandom["Service"], platformDomain: string): Effect.Effect<DomainName> =>
  Effect.map(random.randomBytes(slugLength), (bytes) => DomainName.make(`${slugOf(bytes)}.inbox.${platformDomain}`))
