import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Bugs from "../database/Bugs.ts"
import { DomainId, DomainName, DomainStatus, Origin } from "../model/Domain.ts"
import { SpamAction } from "../model/Spam.ts"
import { WebhookAction } from "../model/Webhook.ts"
import { WorkspaceId } from "../model/Workspace.ts"
import { spellings } from "./DomainNames.ts"
import * as TakingMail from "./state/TakingMail.ts"

/** A row of `domains`, with its catch-all. */
export const DomainRow = Schema.Struct({
  id: DomainId,
  name: DomainName,
  origin: Origin,
  status: DomainStatus,
  disabledReason: Schema.NullOr(Schema.String),
  txtValue: Schema.NullOr(Schema.String),
  webhookUrl: Schema.NullOr(Schema.String),
  webhookFormat: Schema.String,
  webhookBasicAuth: Schema.Boolean,
  webhookPausedAt: Schema.NullOr(Schema.DateTimeUtcFromDate),
  catchAll: WebhookAction,
  spamAction: SpamAction,
  createdAt: Schema.DateTimeUtcFromDate,
  verifiedAt: Schema.NullOr(Schema.DateTimeUtcFromDate),
  liveAt: Schema.NullOr(Schema.DateTimeUtcFromDate)
})

export type DomainRow = typeof DomainRow.Type

/** A domain with its workspace, which alone may see or change it. */
export const Owned = Schema.Struct({ workspaceId: WorkspaceId, id: DomainId })
export type Owned = typeof Owned.Type

/** The domains of a list: of a workspace or of all, and of these the one with an id or a name, or those with a part of it. */
export const Wanted = Schema.Struct({
  workspaceId: Schema.UndefinedOr(WorkspaceId),
  id: Schema.UndefinedOr(DomainId),
  name: Schema.UndefinedOr(DomainName),
  search: Schema.UndefinedOr(Schema.String),
  takesMail: Schema.Boolean
})
export type Wanted = typeof Wanted.Type

/** Every domain of every workspace. */
export const every: Wanted = {
  workspaceId: undefined,
  id: undefined,
  name: undefined,
  search: undefined,
  takesMail: false
}

const conditions = (sql: SqlClient.SqlClient, { id, name, search, takesMail, workspaceId }: typeof Wanted.Encoded) => [
  ...(workspaceId === undefined ? [] : [sql`domains.workspace_id = ${workspaceId}`]),
  ...(id === undefined ? [] : [sql`domains.id = ${id}`]),
  ...(name === undefined ? [] : [sql`domains.name = ${name}`]),
  ...(search === undefined ? [] : [sql.or(spellings(search).map((text) => sql`strpos(domains.name, ${text}) > 0`))]),
  ...(takesMail ? [TakingMail.condition(sql)] : [])
]

/** A statement whose rows have our own shape, so that another one is a bug. */
const statement = <Request extends Schema.Constraint>(options: {
  readonly Request: Request
  readonly execute: (request: Request["Encoded"]) => Effect.Effect<ReadonlyArray<unknown>, SqlError>
}) => {
  const find = SqlSchema.findAll({ ...options, Result: DomainRow })
  return (request: Request["Type"]) => Bugs.die(find(request))
}

/** Rows of `source`, a table or CTE with the columns of `domains`. A row that is just inserted has no catch-all yet. */
const withCatchAll = (sql: SqlClient.SqlClient, source: string) => sql`
  SELECT ${sql.literal(source)}.*, url AS webhook_url, paused_at AS webhook_paused_at,
    coalesce(action, 'hold') AS catch_all, coalesce(format, 'inlet') AS webhook_format,
    coalesce(basic_auth, false) AS webhook_basic_auth
  FROM ${sql.literal(source)} LEFT JOIN webhooks ON webhooks.id = ${sql.literal(source)}.id
`

/** The statements about domains for customers and operators. Each returns the updated rows. */
export const make = (sql: SqlClient.SqlClient) => ({
  insert: statement({
    Request: Schema.Struct({
      id: DomainId,
      workspaceId: WorkspaceId,
      name: DomainName,
      origin: Origin,
      txtValue: Schema.NullOr(Schema.String)
    }),
    execute: ({ id, name, origin, txtValue, workspaceId }) => sql`
      WITH changed AS (
        INSERT INTO domains (id, workspace_id, name, origin, status, txt_value, verified_at)
        VALUES (
          ${id}, ${workspaceId}, ${name}, ${origin},
          ${origin === "instant" ? "verified" : "pending_verification"},
          ${txtValue},
          CASE WHEN ${origin} = 'instant' THEN now() END
        )
        ON CONFLICT DO NOTHING
        RETURNING *
      )
      ${withCatchAll(sql, "changed")}
    `
  }),

  selectOwned: statement({
    Request: Owned,
    execute: ({ id, workspaceId }) =>
      sql`${withCatchAll(sql, "domains")} WHERE domains.id = ${id} AND workspace_id = ${workspaceId}`
  }),

  /** Newest first. */
  selectPage: statement({
    Request: Schema.Struct({ ...Wanted.fields, before: Schema.UndefinedOr(DomainId), limit: Schema.Int }),
    execute: ({ before, limit, ...wanted }) => sql`
      ${withCatchAll(sql, "domains")}
      WHERE ${sql.and([...conditions(sql, wanted), ...(before === undefined ? [] : [sql`domains.id < ${before}`])])}
      ORDER BY domains.id DESC LIMIT ${limit}
    `
  }),

  /** Those that take mail first, then newest first. */
  selectForemost: statement({
    Request: Schema.Struct({ ...Wanted.fields, limit: Schema.Int }),
    execute: ({ limit, ...wanted }) => sql`
      ${withCatchAll(sql, "domains")}
      WHERE ${sql.and(conditions(sql, wanted))}
      ORDER BY array_position(ARRAY['live', 'verified', 'mx_pending', 'pending_verification'], domains.status) NULLS LAST,
        domains.id DESC
      LIMIT ${limit}
    `
  }),

  count: (wanted: Wanted) =>
    sql<{ readonly count: number }>`
      SELECT count(*)::int AS count FROM domains WHERE ${sql.and(conditions(sql, wanted))}
    `.pipe(Effect.map(([row]) => row?.count ?? 0)),

  selectInstant: statement({
    Request: WorkspaceId,
    execute: (workspaceId) => sql`
      ${withCatchAll(sql, "domains")} WHERE workspace_id = ${workspaceId} AND origin = 'instant'
    `
  }),

  updateVerified: statement({
    Request: Owned,
    execute: ({ id, workspaceId }) => sql`
      WITH changed AS (
        UPDATE domains SET status = 'mx_pending', verified_at = now()
        WHERE id = ${id} AND workspace_id = ${workspaceId} AND status = 'pending_verification'
        RETURNING *
      )
      ${withCatchAll(sql, "changed")}
    `
  }),

  updateSpamAction: statement({
    Request: Schema.Struct({ ...Owned.fields, spamAction: SpamAction }),
    execute: ({ id, spamAction, workspaceId }) => sql`
      WITH changed AS (
        UPDATE domains SET spam_action = ${spamAction} WHERE id = ${id} AND workspace_id = ${workspaceId} RETURNING *
      )
      ${withCatchAll(sql, "changed")}
    `
  }),

  updateDisabled: statement({
    Request: Schema.Struct({ name: DomainName, reason: Schema.String }),
    execute: ({ name, reason }) => sql`
      WITH changed AS (
        UPDATE domains SET
          status_before = CASE WHEN status = 'disabled' THEN status_before ELSE status END,
          status = 'disabled',
          disabled_reason = ${reason}
        WHERE name = ${name} AND (
          verified_at IS NOT NULL
          OR NOT EXISTS (SELECT 1 FROM domains holder WHERE holder.name = ${name} AND holder.verified_at IS NOT NULL)
        )
        RETURNING *
      )
      ${withCatchAll(sql, "changed")}
    `
  }),

  updateEnabled: statement({
    Request: DomainName,
    execute: (name) => sql`
      WITH changed AS (
        UPDATE domains SET status = status_before, status_before = NULL, disabled_reason = NULL
        WHERE name = ${name} AND status = 'disabled'
        RETURNING *
      ), enabled AS (
        SELECT * FROM changed UNION ALL SELECT * FROM domains WHERE name = ${name} AND status <> 'disabled'
      )
      ${withCatchAll(sql, "enabled")}
    `
  }),

  deleteHolder: statement({
    Request: DomainName,
    execute: (name) => sql`
      WITH changed AS (DELETE FROM domains WHERE name = ${name} AND verified_at IS NOT NULL RETURNING *)
      ${withCatchAll(sql, "changed")}
    `
  })
})
