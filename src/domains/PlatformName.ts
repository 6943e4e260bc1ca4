import { Effect } from "effect"
import type { SecureRandom } from "effect/crypto"
import { DomainName } from "../model/Domain.ts"

/** 50 random bits: slugs can't be guessed, no reserved word has this length, and none comes back. */
const slugLength = 10

const slugOf = (bytes: Uint8Array) => [...bytes].map((byte) => "abcdefghijkmnpqrstuvwxyz23456789"[byte % 32]).join("")

/** A new name under the platform's domain, for an inbox that needs no DNS. */
export const make = (random: SecureRandom.SecureRandom["Service"], platformDomain: string): Effect.Effect<DomainName> =>
  Effect.map(random.randomBytes(slugLength), (bytes) => DomainName.make(`${slugOf(bytes)}.inbox.${platformDomain}`))
