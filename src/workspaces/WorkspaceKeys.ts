import { Effect, type Redacted, Schema } from "effect"
import type { SecureRandom } from "effect/crypto"
import { type SqlClient, SqlSchema } from "effect/sql"
import * as Bugs from "../database/Bugs.ts"
import { Conflict, NotFound } from "../model/ApiError.ts"
import { DomainId, noSuchDomain } from "../model/Domain.ts"
import type { KeyLimit } from "../model/KeyLimit.ts"
import { WorkspaceId } from "../model/Workspace.ts"
import { KeyId, KeyName, KeyScope, type WorkspaceKey } from "../model/WorkspaceKey.ts"
import * as ApiKey from "./ApiKey.ts"

/** Maximum additional keys of a workspace. */
export const mostKeys = 20

const Row = Schema.Struct({
  id: KeyId,
  scope: KeyScope,
  name: Schema.NullOr(KeyName),
  begins: Schema.String,
  pattern: Schema.NullOr(Schema.String),
  domainId: Schema.NullOr(DomainId),
  createdAt: Schema.DateTimeUtcFromDate,
  lastUsedAt: Schema.NullOr(Schema.DateTimeUtcFromDate)
})

/** An additional key, named by its workspace. */
export interface OwnedKey {
  readonly workspaceId: WorkspaceId
  readonly id: KeyId
}

/** What a new key may do. */
export interface Asked {
  readonly scope: KeyScope
  readonly name: KeyName | null
  readonly limit: KeyLimit | null
}

const noSuchLimit = new NotFound({ message: `domain_id: ${noSuchDomain.message}` })

/** The statements about additional keys. */
export const make = (sql: SqlClient.SqlClient, random: SecureRandom.SecureRandom["Service"]) => {
  const columns = sql.literal("id, scope, name, begins, pattern, domain_id, created_at, last_used_at")

  const selectOf = SqlSchema.findAll({
    Request: WorkspaceId,
    Result: Row,
    execute: (workspaceId) => sql`
      SELECT ${columns} FROM workspace_keys WHERE workspace_id = ${workspaceId} ORDER BY id DESC
    `
  })

  const insert = SqlSchema.findOne({
    Request: Schema.Struct({
      id: KeyId,
      workspaceId: WorkspaceId,
      scope: KeyScope,
      name: Schema.NullOr(KeyName),
      begins: Schema.String,
      hash: Schema.Uint8Array,
      pattern: Schema.NullOr(Schema.String),
      domainId: Schema.NullOr(DomainId)
    }),
    Result: Row,
    execute: ({ begins, domainId, hash, id, name, pattern, scope, workspaceId }) => sql`
      INSERT INTO workspace_keys (id, workspace_id, scope, name, begins, hash, pattern, domain_id)
      VALUES (${id}, ${workspaceId}, ${scope}, ${name}, ${begins}, ${hash}, ${pattern}, ${domainId})
      RETURNING ${columns}
    `
  })

  const list = (workspaceId: WorkspaceId) => Effect.map(Bugs.die(selectOf(workspaceId)), (rows) => rows.map(toKey))

  const create = Effect.fnUntraced(function* (workspaceId: WorkspaceId, { limit, name, scope }: Asked) {
    const id = KeyId.make(yield* random.uuidV7())
    const apiKey = yield* ApiKey.make(random, scope)
    const row = yield* sql.withTransaction(
      Effect.gen(function* () {
        // Serializes concurrent requests, so that two do not take the same last slot.
        yield* sql`SELECT 1 FROM workspaces WHERE id = ${workspaceId} FOR NO KEY UPDATE`
        if ((yield* selectOf(workspaceId)).length >= mostKeys) {
          return yield* new Conflict({
            message: `A workspace can have ${mostKeys} additional keys. Revoke one with DELETE /api/workspaces/keys/{id}. GET /api/workspaces/keys shows the last use of each`
          })
        }
        const domainId = limit?.domainId ?? null
        if (domainId !== null) {
          const found = yield* sql`
            SELECT 1 FROM domains WHERE id = ${domainId} AND workspace_id = ${workspaceId} FOR KEY SHARE
          `
          if (found.length === 0) return yield* noSuchLimit
        }
        return yield* insert({
          id,
          workspaceId,
          scope,
          name,
          begins: ApiKey.beginningOf(apiKey),
          hash: limit === null ? ApiKey.hashOf(apiKey) : ApiKey.limitedHashOf(apiKey),
          pattern: limit?.pattern ?? null,
          domainId
        })
      })
    )
    return { key: toKey(row), apiKey }
  }, Bugs.die)

  /** Whether the key existed. */
  const remove = ({ id, workspaceId }: OwnedKey) =>
    sql`DELETE FROM workspace_keys WHERE id = ${id} AND workspace_id = ${workspaceId} RETURNING id`.pipe(
      Effect.map((rows) => rows.length > 0)
    )

  /** The row of the key, and whether to record its use. */
  const open = Effect.fnUntraced(function* (apiKey: Redacted.Redacted) {
    const [row] = yield* sql<{
      readonly id: KeyId
      readonly workspaceId: WorkspaceId
      readonly scope: KeyScope
      readonly pattern: string | null
      readonly domainId: DomainId | null
      readonly isNews: boolean
    }>`
      SELECT id, workspace_id, scope, pattern, domain_id,
        coalesce(last_used_at < now() - interval '1 hour', true) AS is_news
      FROM workspace_keys
      WHERE hash IN (${ApiKey.hashOf(apiKey)}, ${ApiKey.limitedHashOf(apiKey)})
        AND (hash = ${ApiKey.limitedHashOf(apiKey)}) = (pattern IS NOT NULL)
    `
    if (row === undefined) return undefined
    const { domainId, pattern, ...key } = row
    return { ...key, limit: pattern === null ? null : ({ pattern, domainId } satisfies KeyLimit) }
  })

  const noteUse = (id: KeyId) =>
    sql`
      UPDATE workspace_keys SET last_used_at = now()
      WHERE id = ${id} AND coalesce(last_used_at < now() - interval '1 hour', true)
    `.pipe(Effect.ignore)

  return { create, list, remove, open, noteUse }
}

const toKey = ({ createdAt, domainId, lastUsedAt, ...row }: typeof Row.Type): WorkspaceKey => ({
  ...row,
  domain_id: domainId,
  created_at: createdAt,
  last_used_at: lastUsedAt
})
