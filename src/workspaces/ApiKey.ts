import { createHash } from "node:crypto"
import { Effect, Redacted } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { KeyScope } from "../model/WorkspaceKey.ts"

/** The scope of a request's key: full access, or that of an additional key. */
export type Scope = "full" | KeyScope

/** The prefix of a key, for people and secret scanners. */
const begins: Readonly<Record<Scope, string>> = { full: "ak_live_", read: "ak_read_", ingest: "ak_ingest_" }

const form = /^ak_(live|read|ingest)_[\w-]{43}$/

/** The scope in the key's prefix. Undefined for an invalid or incomplete key. */
export const scopeOf = (apiKey: Redacted.Redacted): Scope | undefined => {
  const kind = form.exec(Redacted.value(apiKey))?.[1]
  switch (kind) {
    case "live":
      return "full"
    case "read":
    case "ingest":
      return kind
    default:
      return undefined
  }
}

export const make = (random: SecureRandom.SecureRandom["Service"], scope: Scope) =>
  Effect.map(random.randomBytes(32), (bytes) =>
    Redacted.make(`${begins[scope]}${Buffer.from(bytes).toString("base64url")}`)
  )

// SHA-256 is enough: keys are 256 random bits, so they cannot be brute-forced.
export const hashOf = (apiKey: Redacted.Redacted) => createHash("sha256").update(Redacted.value(apiKey)).digest()

/**
 * The hash of a key with a limit. Processes of earlier versions look keys up by `hashOf`, and would not know the limit.
 */
export const limitedHashOf = (apiKey: Redacted.Redacted) =>
  createHash("sha256")
    .update(`limited ${Redacted.value(apiKey)}`)
    .digest()

/** The first characters of the key, to identify it without revealing it. */
export const beginningOf = (apiKey: Redacted.Redacted) =>
  Redacted.value(apiKey).slice(0, begins[scopeOf(apiKey) ?? "full"].length + 4)

const send = "as `Authorization: Bearer ak_live_…`"

/** The next step for an `Authorization` of another form. */
export const otherForm = `The Authorization header has no API key behind \`Bearer\`: send one ${send}`

/** The next step for an invalid key. */
export const refusalOf = (apiKey: Redacted.Redacted): string => {
  const given = Redacted.value(apiKey)
  if (given === "") {
    return `The API key is missing: send that of a workspace ${send}; POST /api/workspaces makes one`
  }
  if (given.startsWith("whsec_")) {
    return `This is a webhook signing secret: send the API key of the workspace ${send}`
  }
  switch (scopeOf(apiKey)) {
    case "full":
      return `This API key opens no workspace here: it was replaced, or is another service's. Send the one that is valid ${send}`
    case "read":
    case "ingest":
      return "This API key opens no workspace here: it was revoked, or is another service's. Who has the workspace's own key makes another with POST /api/workspaces/keys"
    case undefined: {
      const begin = Object.values(begins).find((one) => given.startsWith(one)) ?? begins.full
      return `This is not a complete API key. Send one as \`Authorization: Bearer ${begin}…\`, with 43 characters behind ${begin}`
    }
  }
}
