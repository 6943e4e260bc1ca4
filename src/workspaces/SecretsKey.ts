import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { Aead, SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import * as Settings from "../Settings.ts"
import * as LocalSecret from "../settings/LocalSecret.ts"

/** `SECRETS_KEY` is malformed, or the database was written with another one. */
export class WrongSecretsKey extends Schema.TaggedError<WrongSecretsKey>()("WrongSecretsKey", {
  message: Schema.String
}) {}

const keyLength = 32
const nonceLength = 12
const checked = new TextEncoder().encode("inlet secrets key")

const textOf = (plain: Uint8Array) => Redacted.make(new TextDecoder().decode(plain))

const opened = (aead: Aead.Aead["Service"], key: Aead.Key<Aead.AesGcm>, sealed: Uint8Array, owner: string) =>
  aead.decrypt(key, sealed.subarray(nonceLength), {
    nonce: sealed.subarray(0, nonceLength),
    aad: new TextEncoder().encode(owner)
  })

/** The key in `folder`, which a used database needs. */
const kept = (folder: string) =>
  LocalSecret.read(folder, "secrets-key").pipe(
    Effect.catchReason("PlatformError", "NotFound", () =>
      Effect.fail(
        new WrongSecretsKey({
          message: `${folder}/secrets-key is missing. Restore it from a backup, or set SECRETS_KEY`
        })
      )
    )
  )

const keyOf = Effect.fnUntraced(function* (secret: Redacted.Redacted, from: string) {
  const bytes = Buffer.from(Redacted.value(secret), "base64")
  if (bytes.length !== keyLength) {
    return yield* new WrongSecretsKey({
      message: `${from} contains no key of 32 bytes in base64. Restore it from a backup, or set SECRETS_KEY`
    })
  }
  return yield* Aead.key(Aead.aes256Gcm, bytes)
})

/** Fails unless the database was written with this key. */
const fits = Effect.fnUntraced(function* (key: Aead.Key<Aead.AesGcm>, check: Uint8Array, from: string) {
  const aead = yield* Aead.Aead
  yield* opened(aead, key, check, "").pipe(
    Effect.mapError(
      () =>
        new WrongSecretsKey({
          message: `${from}: The database was written with another key. Start with that key, or with another database`
        })
    )
  )
})

const checks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{ readonly value: Uint8Array }>`SELECT value FROM secrets_key_check`
})

const sourceOf = ({ dataDirectory, secretsKey }: Effect.Success<typeof Settings.secrets>) =>
  secretsKey === undefined ? `${dataDirectory}/secrets-key` : "SECRETS_KEY"

/** Fails if a start would fail, because this process lacks the key of a used database. Writes nothing. */
export const check = Effect.gen(function* () {
  const [made] = yield* checks
  if (made === undefined) return
  const settings = yield* Settings.secrets
  const from = sourceOf(settings)
  const given = settings.secretsKey ?? (yield* kept(settings.dataDirectory))
  yield* fits(yield* keyOf(given, from), made.value, from)
})

/** Encrypts secrets in the database with AES-256-GCM under `SECRETS_KEY`, with a new nonce in front. */
export class SecretsKey extends Context.Service<
  SecretsKey,
  {
    /** `owner` is authenticated with the secret, so that no other workspace can decrypt it. */
    seal(secret: Redacted.Redacted, owner: string): Effect.Effect<Uint8Array>
    /** Dies if authentication fails: the database was modified, or it is a bug. */
    open(sealed: Uint8Array, owner: string): Effect.Effect<Redacted.Redacted>
    /** The same for bytes from a client. Undefined if authentication fails. */
    openGiven(sealed: Uint8Array, owner: string): Effect.Effect<Redacted.Redacted | undefined>
  }
>()("inlet/workspaces/SecretsKey") {
  static readonly layer = Layer.effect(
    SecretsKey,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const aead = yield* Aead.Aead
      const random = yield* SecureRandom.SecureRandom
      const settings = yield* Settings.secrets
      const from = sourceOf(settings)
      const isUsed = (yield* checks).length > 0
      // None is made for a used database, which needs the key that is lost.
      const given =
        settings.secretsKey ??
        (yield* isUsed ? kept(settings.dataDirectory) : LocalSecret.readOrMake(settings.dataDirectory, "secrets-key"))
      const key = yield* keyOf(given, from)

      const encrypt = Effect.fnUntraced(function* (plain: Uint8Array, owner: string) {
        const nonce = yield* random.randomBytes(nonceLength)
        const sealed = yield* aead.encrypt(key, plain, { nonce, aad: new TextEncoder().encode(owner) })
        return new Uint8Array(Buffer.concat([nonce, sealed]))
      })

      const decrypt = (sealed: Uint8Array, owner: string) => opened(aead, key, sealed, owner)

      yield* sql`
        INSERT INTO secrets_key_check (value) VALUES (${yield* encrypt(checked, "")}) ON CONFLICT DO NOTHING
      `
      const [made] = yield* checks
      if (made === undefined) return yield* Effect.die("secrets_key_check lost its row")
      yield* fits(key, made.value, from)

      return SecretsKey.of({
        seal: Effect.fn("SecretsKey.seal")((secret, owner) =>
          Effect.orDie(encrypt(new TextEncoder().encode(Redacted.value(secret)), owner))
        ),
        open: Effect.fn("SecretsKey.open")((sealed, owner) => Effect.orDie(Effect.map(decrypt(sealed, owner), textOf))),
        openGiven: Effect.fn("SecretsKey.openGiven")((sealed, owner) =>
          decrypt(sealed, owner).pipe(
            Effect.map(textOf),
            Effect.orElseSucceed(() => undefined)
          )
        )
      })
    })
  )
}
