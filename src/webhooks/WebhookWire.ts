import { Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import type { RawOptions } from "../delivery/formats/RawOptions.ts"
import { SealedCredentials } from "../delivery/formats/SealedCredentials.ts"
import type { Credentials } from "../delivery/formats/WebhookFormat.ts"
import { WebhookFormats } from "../delivery/formats/WebhookFormats.ts"
import { Invalid } from "../model/ApiError.ts"
import { plainFormat, type WebhookId } from "../model/Webhook.ts"
import * as WebhookUrl from "./WebhookUrl.ts"

/** Bytes of a signing key that Inlet makes. */
const keyBytes = 32

/** How the requests of a webhook look on the wire, as stored. */
export interface Wire {
  readonly format: string
  /** Encrypted. */
  readonly credentials: Uint8Array | null
  readonly basicAuth: boolean
}

/** Requests in Inlet's own format, which has no credentials. */
export const plain: Wire = { format: plainFormat, credentials: null, basicAuth: false }

/** What a client asks for beside a URL. An absent format stays as it is. Absent names, passwords and options go. */
export interface Asked extends Credentials {
  readonly format?: string | undefined
}

/** The wire of a webhook, with its signing key if that was just made. */
export interface Resolved {
  readonly wire: Wire
  readonly madeKey: Redacted.Redacted | undefined
}

const invalid = (message: string) => new Invalid({ message })

/** Makes the functions about the formats and credentials of webhooks. */
export const make = Effect.gen(function* () {
  const sealed = yield* SealedCredentials
  const formats = yield* WebhookFormats
  const random = yield* SecureRandom.SecureRandom

  /** What a format takes. */
  const takesOf = (format: string) => {
    if (format === plainFormat) return Effect.succeed({ basicAuth: false, signingKey: false, rawOptions: false })
    const takes = formats.get(format)?.takes
    return takes === undefined
      ? Effect.fail(invalid(`format: Expected one of ${formats.names.join(", ")}`))
      : Effect.succeed(takes)
  }

  const madeKey = Effect.map(random.randomBytes(keyBytes), (bytes) => Redacted.make(Buffer.from(bytes).toString("hex")))

  /** Checks what a client asks for, and encrypts its credentials. A signing key stays while the format does. */
  const resolve = Effect.fn("WebhookWire.resolve")(function* (
    webhookId: WebhookId,
    before: Pick<Wire, "credentials" | "format">,
    asked: Asked
  ) {
    const { format = before.format, password, raw, signingKey, user } = asked
    const takes = yield* takesOf(format)
    if (user !== undefined && !takes.basicAuth) {
      return yield* format === plainFormat
        ? WebhookUrl.plain
        : invalid(`webhookUrl: Expected a URL without user name and password, because the format ${format} has none`)
    }
    if (signingKey !== undefined && !takes.signingKey) {
      return yield* invalid(`signingKey: The format ${format} has none. Leave it out`)
    }
    if (raw !== undefined && !takes.rawOptions)
      return yield* invalid(`raw: The format ${format} has none. Leave it out`)
    if (raw !== undefined && user !== undefined && hasAuthorization(Redacted.value(raw))) {
      return yield* invalid("raw.headers: Expected no Authorization beside a user name and a password in the URL")
    }
    const opened = yield* sealed.open(before.credentials, webhookId)
    const kept = before.format === format ? opened.signingKey : undefined
    const isMissing = takes.signingKey && signingKey === undefined && kept === undefined
    const made = isMissing ? yield* madeKey : undefined
    const key = takes.signingKey ? (signingKey ?? kept ?? made) : undefined
    const next: Credentials = {
      ...(user === undefined || password === undefined ? {} : { user, password }),
      ...(key === undefined ? {} : { signingKey: key }),
      ...(raw === undefined ? {} : { raw })
    }
    const resolved: Resolved = {
      wire: {
        format,
        basicAuth: user !== undefined,
        // Encrypted anew only if they change, so that an equal setting changes nothing.
        credentials: isSame(opened, next) ? before.credentials : yield* sealed.seal(next, webhookId)
      },
      madeKey: made
    }
    return resolved
  })

  return { resolve }
})

const isSame = (one: Credentials, other: Credentials) =>
  one.user === other.user &&
  optionsOf(one) === optionsOf(other) &&
  (["password", "signingKey"] as const).every((name) => valueOf(one[name]) === valueOf(other[name]))

const optionsOf = ({ raw }: Credentials) => (raw === undefined ? undefined : JSON.stringify(Redacted.value(raw)))

const hasAuthorization = ({ headers = {} }: RawOptions) =>
  Object.keys(headers).some((name) => name.toLowerCase() === "authorization")

const valueOf = (secret: Redacted.Redacted | undefined) => (secret === undefined ? undefined : Redacted.value(secret))

/** The stored wire of a webhook, locked until the end of the transaction. */
export const locked = (sql: SqlClient.SqlClient, webhookId: WebhookId) =>
  Effect.map(
    sql<Wire>`SELECT format, credentials, basic_auth FROM webhooks WHERE id = ${webhookId} FOR NO KEY UPDATE`,
    ([row]) => row ?? plain
  )
