import { Context, Effect, Layer, PubSub, type Redacted, Schedule, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { type Conflict, NotFound, Unauthorized } from "../model/ApiError.ts"
import type { KeyLimit } from "../model/KeyLimit.ts"
import { WorkspaceId, type WorkspaceName } from "../model/Workspace.ts"
import type { KeyId, WorkspaceKey } from "../model/WorkspaceKey.ts"
import * as Elapsed from "../schedule/Elapsed.ts"
import * as ApiKey from "./ApiKey.ts"
import * as KeyRechecks from "./KeyRechecks.ts"
import { SecretsKey } from "./SecretsKey.ts"
import * as SigningSecret from "./SigningSecret.ts"
import * as WorkspaceKeys from "./WorkspaceKeys.ts"

/** Interval of checking the key of a held request, because another process may have revoked it. A check waits 0.25 s for others. */
const recheckEvery = "2.25 seconds"

/** The workspace and scope of a key, with its validity. */
export interface Opened {
  readonly id: WorkspaceId
  readonly scope: ApiKey.Scope
  /** The key beside the workspace's own, or null for that one. */
  readonly keyId: KeyId | null
  /** The mail that the key may see, or null for all of the workspace. */
  readonly limit: KeyLimit | null
  /** SHA-256 of the workspace's own key, or null for another key. */
  readonly keyHash: Uint8Array | null
  /** Never succeeds, and fails once the key is replaced or revoked: at once in this process, within 3 s in others. */
  readonly untilReplaced: Effect.Effect<never, Unauthorized>
  /** Looks the key up again, unless that was done just now. For work that begins once the client has sent its body. */
  readonly stillValid: Effect.Effect<void, Unauthorized | SqlError>
}

/** Milliseconds for which a key that was looked up counts as valid. */
const justNow = 100

/** Looks a key or session up again, once the last look-up is older than `justNow`. */
export const recheckFrom = <A, E>(lookedUpAt: number, look: Effect.Effect<A, E>): Effect.Effect<void, E> =>
  Effect.flatMap(Elapsed.millis, (now) => (now - lookedUpAt < justNow ? Effect.void : Effect.asVoid(look)))

/** Ends held requests whose key or session no longer works. */
export interface Replacements {
  /**
   * Never succeeds. Fails once `recheck` does, at once after `tell`, or `regularly`, within 3 s of a change in another
   * process.
   */
  watch<A>(
    id: WorkspaceId,
    recheck: Effect.Effect<A, Unauthorized | SqlError>,
    regularly?: Effect.Effect<A, Unauthorized | SqlError>
  ): Effect.Effect<never, Unauthorized>
  /** Announces that a key or session of the workspace was replaced or revoked. */
  tell(id: WorkspaceId): Effect.Effect<void>
}

/**
 * Manages tenants, their API keys, additional keys and signing secrets. Looks up the key of every request, without a cache.
 */
export class Workspaces extends Context.Service<
  Workspaces,
  {
    create(name: WorkspaceName): Effect.Effect<
      {
        readonly id: WorkspaceId
        readonly apiKey: Redacted.Redacted
        readonly signingSecret: Redacted.Redacted
      },
      SqlError
    >
    /** The workspace of an API key. */
    authenticate(apiKey: Redacted.Redacted): Effect.Effect<Opened, Unauthorized | SqlError>
    /** The old key, of this SHA-256, stops working. Additional keys stay valid. Of two calls at once one fails. */
    rotateKey(holder: Pick<Opened, "id" | "keyHash">): Effect.Effect<Redacted.Redacted, Unauthorized | SqlError>
    /** Creates an additional key. */
    createKey(
      id: WorkspaceId,
      asked: WorkspaceKeys.Asked
    ): Effect.Effect<{ readonly key: WorkspaceKey; readonly apiKey: Redacted.Redacted }, Conflict | NotFound | SqlError>
    /** The additional keys, newest first. */
    listKeys(id: WorkspaceId): Effect.Effect<ReadonlyArray<WorkspaceKey>, SqlError>
    /** Revokes an additional key. */
    revokeKey(owned: WorkspaceKeys.OwnedKey): Effect.Effect<void, NotFound | SqlError>
    /** The old secret also signs for 24 h. */
    rotateSecret(id: WorkspaceId): Effect.Effect<Redacted.Redacted, SqlError>
    /** The replacements of keys and sessions, from the time of the call. */
    replacements(): Replacements
  }
>()("inlet/workspaces/Workspaces") {
  static readonly layer = Layer.effect(
    Workspaces,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const random = yield* SecureRandom.SecureRandom
      const secrets = yield* SecretsKey
      const keys = WorkspaceKeys.make(sql, random)
      const scope = yield* Effect.scope
      const replaced = yield* PubSub.sliding<WorkspaceId>(1_024)
      const stillWorks = yield* KeyRechecks.make
      let count = 0

      const makeSecret = SigningSecret.make(random)

      const create = Effect.fn("Workspaces.create")(function* (name: WorkspaceName) {
        const id = WorkspaceId.make(yield* random.uuidV7())
        const apiKey = yield* ApiKey.make(random, "full")
        const signingSecret = yield* makeSecret
        const sealed = yield* secrets.seal(signingSecret, id)
        yield* sql`
          INSERT INTO workspaces (id, name, api_key_hash, signing_secret)
          VALUES (${id}, ${name}, ${ApiKey.hashOf(apiKey)}, ${sealed})
        `
        return { id, apiKey, signingSecret }
      })

      const open = Effect.fnUntraced(function* (apiKey: Redacted.Redacted) {
        switch (ApiKey.scopeOf(apiKey)) {
          case "full": {
            const [row] = yield* sql<{ readonly id: WorkspaceId }>`
              SELECT id FROM workspaces WHERE api_key_hash = ${ApiKey.hashOf(apiKey)}
            `
            return row === undefined
              ? undefined
              : { id: row.id, scope: "full" as const, keyId: null, limit: null, keyHash: ApiKey.hashOf(apiKey) }
          }
          case "read":
          case "ingest": {
            const row = yield* keys.open(apiKey)
            if (row?.isNews === true) yield* Effect.forkIn(keys.noteUse(row.id), scope)
            return row === undefined
              ? undefined
              : { id: row.workspaceId, scope: row.scope, keyId: row.id, limit: row.limit, keyHash: null }
          }
          case undefined:
            return undefined
        }
      })

      const opened = Effect.fnUntraced(function* (apiKey: Redacted.Redacted) {
        return (yield* open(apiKey)) ?? (yield* new Unauthorized({ message: ApiKey.refusalOf(apiKey) }))
      })

      const tell = (id: WorkspaceId) =>
        Effect.suspend(() => {
          count++
          return PubSub.publish(replaced, id)
        })

      const replacements = (): Replacements => {
        const before = count
        const watch: Replacements["watch"] = Effect.fnUntraced(function* (id, recheck, regularly = recheck) {
          const news = yield* PubSub.subscribe(replaced)
          const told = Stream.fromSubscription(news).pipe(
            Stream.filter((other) => other === id),
            Stream.merge(count === before ? Stream.empty : Stream.succeed(id))
          )
          // A database failure does not mean that the key is invalid.
          const until = (check: typeof recheck) => Effect.catchTag(Effect.asVoid(check), "SqlError", () => Effect.void)
          // Apart, so that no announcement waits for a regular check.
          yield* Effect.raceFirst(
            Stream.runForEach(told, () => until(recheck)),
            Stream.runForEach(Stream.fromSchedule(Schedule.spaced(recheckEvery)), () => until(regularly))
          )
          return yield* Effect.never
        }, Effect.scoped)
        return { watch, tell }
      }

      const authenticate = Effect.fn("Workspaces.authenticate")(function* (apiKey: Redacted.Redacted) {
        const { watch } = replacements()
        const look = opened(apiKey)
        const now = yield* Elapsed.millis
        const found = yield* look
        const hash = () =>
          found.keyHash ?? (found.limit === null ? ApiKey.hashOf(apiKey) : ApiKey.limitedHashOf(apiKey))
        const lookWithOthers = Effect.flatMap(
          Effect.suspend(() => stillWorks(hash())),
          // A look of its own says why.
          (works) => (works ? Effect.succeed(found) : look)
        )
        return {
          ...found,
          untilReplaced: watch(found.id, look, lookWithOthers),
          stillValid: recheckFrom(now, look)
        }
      })

      const rotateKey = Effect.fn("Workspaces.rotateKey")(function* ({ id, keyHash }: Pick<Opened, "id" | "keyHash">) {
        const apiKey = yield* ApiKey.make(random, "full")
        // The sessions of the old key end with it.
        const rotated = yield* sql`
          WITH rotated AS (
            UPDATE workspaces SET api_key_hash = ${ApiKey.hashOf(apiKey)}
            WHERE id = ${id} AND api_key_hash = ${keyHash} RETURNING id
          ), ended AS (
            DELETE FROM console_sessions WHERE workspace_id IN (SELECT id FROM rotated) AND key_id IS NULL
          ), unused AS (
            DELETE FROM console_links WHERE workspace_id IN (SELECT id FROM rotated)
          )
          SELECT id FROM rotated
        `
        if (rotated.length === 0) {
          return yield* new Unauthorized({ message: "This API key was replaced meanwhile. Use the new one" })
        }
        yield* tell(id)
        return apiKey
      })

      const rotateSecret = Effect.fn("Workspaces.rotateSecret")(function* (id: WorkspaceId) {
        const secret = yield* makeSecret
        const sealed = yield* secrets.seal(secret, id)
        yield* sql`
          UPDATE workspaces
          SET previous_signing_secret = signing_secret,
              previous_secret_until = now() + make_interval(hours => ${SigningSecret.previousHours}),
              signing_secret = ${sealed}
          WHERE id = ${id}
        `
        return secret
      })

      const revokeKey = Effect.fn("Workspaces.revokeKey")(function* (owned: WorkspaceKeys.OwnedKey) {
        const wasThere = yield* keys.remove(owned)
        if (!wasThere)
          return yield* new NotFound({
            message: "No key with this id in this workspace. GET /api/workspaces/keys lists them"
          })
        yield* tell(owned.workspaceId)
      })

      return Workspaces.of({
        create,
        authenticate,
        rotateKey,
        createKey: Effect.fn("Workspaces.createKey")(keys.create),
        listKeys: Effect.fn("Workspaces.listKeys")(keys.list),
        revokeKey,
        rotateSecret,
        replacements
      })
    })
  ).pipe(Layer.provide(SecretsKey.layer))
}
