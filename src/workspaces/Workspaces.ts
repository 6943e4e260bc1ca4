import { Context, Effect, Layer, PubSub, Redacted, Schedule, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { type Conflict, NotFound, Unauthorized } from "../model/ApiError.ts"
import { WorkspaceId, type WorkspaceName } from "../model/Workspace.ts"
import type { KeyName, KeyScope, WorkspaceKey } from "../model/WorkspaceKey.ts"
import * as ApiKey from "./ApiKey.ts"
import { SecretsKey } from "./SecretsKey.ts"
import * as WorkspaceKeys from "./WorkspaceKeys.ts"

/** How long deliveries also carry a signature with the previous secret. */
const previousSecretHours = 24

/** Interval of checking the key of a held request, because another process may have revoked it. */
const recheckEvery = "3 seconds"

/** The workspace and scope of a key, with its validity. */
export interface Opened {
  readonly id: WorkspaceId
  readonly scope: ApiKey.Scope
  /** Never succeeds, and fails once the key is replaced or revoked: at once in this process, within 3 s in others. */
  readonly untilReplaced: Effect.Effect<never, Unauthorized>
}

/**
 * Manages tenants, their API keys, read keys and signing secrets. Looks up the key of every request, without a cache.
 */
export class Workspaces extends Context.Service<
  Workspaces,
  {
    create(name: WorkspaceName): Effect.Effect<{
      readonly id: WorkspaceId
      readonly apiKey: Redacted.Redacted
      readonly signingSecret: Redacted.Redacted
    }>
    /** The workspace of an API key. */
    authenticate(apiKey: Redacted.Redacted): Effect.Effect<Opened, Unauthorized>
    /** The old key stops working. Additional keys stay valid. */
    rotateKey(id: WorkspaceId): Effect.Effect<Redacted.Redacted>
    /** Creates an additional key. */
    createKey(
      id: WorkspaceId,
      options: { readonly scope: KeyScope; readonly name: KeyName | null }
    ): Effect.Effect<{ readonly key: WorkspaceKey; readonly apiKey: Redacted.Redacted }, Conflict>
    /** The additional keys, newest first. */
    listKeys(id: WorkspaceId): Effect.Effect<ReadonlyArray<WorkspaceKey>>
    /** Revokes an additional key. */
    revokeKey(owned: WorkspaceKeys.OwnedKey): Effect.Effect<void, NotFound>
    /** The old secret also signs for 24 h. */
    rotateSecret(id: WorkspaceId): Effect.Effect<Redacted.Redacted>
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
      let replacements = 0

      const makeSecret = Effect.map(random.randomBytes(32), (bytes) =>
        Redacted.make(`whsec_${Buffer.from(bytes).toString("base64")}`)
      )

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
      }, Effect.orDie)

      const open = Effect.fnUntraced(function* (apiKey: Redacted.Redacted) {
        switch (ApiKey.scopeOf(apiKey)) {
          case "full": {
            const [row] = yield* Effect.orDie(
              sql<{ readonly id: WorkspaceId }>`SELECT id FROM workspaces WHERE api_key_hash = ${ApiKey.hashOf(apiKey)}`
            )
            return row === undefined ? undefined : { id: row.id, scope: "full" as const }
          }
          case "read": {
            const row = yield* keys.open(apiKey)
            if (row?.isNews === true) yield* Effect.forkIn(keys.noteUse(row.id), scope)
            return row === undefined ? undefined : { id: row.workspaceId, scope: row.scope }
          }
          case undefined:
            return undefined
        }
      })

      const opened = Effect.fnUntraced(function* (apiKey: Redacted.Redacted) {
        return (yield* open(apiKey)) ?? (yield* new Unauthorized({ message: ApiKey.refusalOf(apiKey) }))
      })

      /** `before` is the number of replacements at the look-up of the key. */
      const until = Effect.fnUntraced(function* (id: WorkspaceId, apiKey: Redacted.Redacted, before: number) {
        const news = yield* PubSub.subscribe(replaced)
        const occasions = Stream.fromSubscription(news).pipe(
          Stream.filter((other) => other === id),
          Stream.merge(Stream.fromSchedule(Schedule.spaced(recheckEvery))),
          Stream.merge(replacements === before ? Stream.empty : Stream.succeed(id))
        )
        // A database failure does not mean that the key is invalid.
        const recheck = Effect.catchDefect(opened(apiKey), () => Effect.void)
        yield* Stream.runForEach(occasions, () => recheck)
        return yield* Effect.never
      }, Effect.scoped)

      const authenticate = Effect.fn("Workspaces.authenticate")(function* (apiKey: Redacted.Redacted) {
        const before = replacements
        const { id, scope } = yield* opened(apiKey)
        return { id, scope, untilReplaced: until(id, apiKey, before) }
      })

      const tellReplaced = (id: WorkspaceId) =>
        Effect.suspend(() => {
          replacements++
          return PubSub.publish(replaced, id)
        })

      const rotateKey = Effect.fn("Workspaces.rotateKey")(function* (id: WorkspaceId) {
        const apiKey = yield* ApiKey.make(random, "full")
        yield* sql`UPDATE workspaces SET api_key_hash = ${ApiKey.hashOf(apiKey)} WHERE id = ${id}`
        yield* tellReplaced(id)
        return apiKey
      }, Effect.orDie)

      const rotateSecret = Effect.fn("Workspaces.rotateSecret")(function* (id: WorkspaceId) {
        const secret = yield* makeSecret
        const sealed = yield* secrets.seal(secret, id)
        yield* sql`
          UPDATE workspaces
          SET previous_signing_secret = signing_secret,
              previous_secret_until = now() + make_interval(hours => ${previousSecretHours}),
              signing_secret = ${sealed}
          WHERE id = ${id}
        `
        return secret
      }, Effect.orDie)

      const revokeKey = Effect.fn("Workspaces.revokeKey")(function* (owned: WorkspaceKeys.OwnedKey) {
        const wasThere = yield* keys.remove(owned)
        if (!wasThere)
          return yield* new NotFound({
            message: "No key with this id in this workspace. GET /api/workspaces/keys lists them"
          })
        yield* tellReplaced(owned.workspaceId)
      })

      return Workspaces.of({
        create,
        authenticate,
        rotateKey,
        createKey: Effect.fn("Workspaces.createKey")(keys.create),
        listKeys: Effect.fn("Workspaces.listKeys")(keys.list),
        revokeKey,
        rotateSecret
      })
    })
  ).pipe(Layer.provide(SecretsKey.layer))
}
