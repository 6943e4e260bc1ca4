import { Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import { DomainId, DomainName, DomainStatus, Origin } from "../model/Domain.ts"
import { WorkspaceId } from "../model/Workspace.ts"

/** A row of `domains`. */
export const DomainRow = Schema.Struct({
  id: DomainId,
  name: DomainName,
  origin: Origin,
  status: DomainStatus,
  disabledReason: Schema.NullOr(Schema.String),
  txtValue: Schema.NullOr(Schema.String),
  webhookUrl: Schema.NullOr(Schema.String),
  webhookPausedAt: Schema.NullOr(Schema.DateTimeUtcFromDate),
  pull: Schema.Boolean,
  createdAt: Schema.DateTimeUtcFromDate,
  verifiedAt: Schema.NullOr(Schema.DateTimeUtcFromDate),
  liveAt: Schema.NullOr(Schema.DateTimeUtcFromDate)
})

export type DomainRow = typeof DomainRow.Type

/** A domain with its workspace, which alone may see or change it. */
export const Owned = Schema.Struct({ workspaceId: WorkspaceId, id: DomainId })
export type Owned = typeof Owned.Type

/** The statements about domains for customers and operators. Each returns the updated rows. */
export const make = (sql: SqlClient.SqlClient) => ({
  insert: SqlSchema.findAll({
    Request: Schema.Struct({
      id: DomainId,
      workspaceId: WorkspaceId,
      name: DomainName,
      origin: Origin,
      txtValue: Schema.NullOr(Schema.String)
    }),
    Result: DomainRow,
    execute: ({ id, name, origin, txtValue, workspaceId }) => sql`
      INSERT INTO domains (id, workspace_id, name, origin, status, txt_value, verified_at)
      VALUES (
        ${id}, ${workspaceId}, ${name}, ${origin},
        ${origin === "instant" ? "verified" : "pending_verification"},
        ${txtValue},
        CASE WHEN ${origin} = 'instant' THEN now() END
      )
      ON CONFLICT DO NOTHING
      RETURNING *
    `
  }),

  selectOwned: SqlSchema.findAll({
    Request: Owned,
    Result: DomainRow,
    execute: ({ id, workspaceId }) => sql`SELECT * FROM domains WHERE id = ${id} AND workspace_id = ${workspaceId}`
  }),

  selectOf: SqlSchema.findAll({
    Request: WorkspaceId,
    Result: DomainRow,
    execute: (workspaceId) => sql`SELECT * FROM domains WHERE workspace_id = ${workspaceId} ORDER BY id DESC`
  }),

  selectInstant: SqlSchema.findAll({
    Request: WorkspaceId,
    Result: DomainRow,
    execute: (workspaceId) => sql`SELECT * FROM domains WHERE workspace_id = ${workspaceId} AND origin = 'instant'`
  }),

  selectEvery: SqlSchema.findAll({
    Request: Schema.Void,
    Result: DomainRow,
    execute: () => sql`SELECT * FROM domains ORDER BY id DESC`
  }),

  updateVerified: SqlSchema.findAll({
    Request: Owned,
    Result: DomainRow,
    execute: ({ id, workspaceId }) => sql`
      UPDATE domains SET status = 'mx_pending', verified_at = now()
      WHERE id = ${id} AND workspace_id = ${workspaceId} AND status = 'pending_verification'
      RETURNING *
    `
  }),

  updateWebhook: SqlSchema.findAll({
    Request: Schema.Struct({ ...Owned.fields, url: Schema.NullOr(Schema.String) }),
    Result: DomainRow,
    execute: ({ id, url, workspaceId }) => sql`
      WITH before AS (
        SELECT id, webhook_url FROM domains
        WHERE id = ${id} AND workspace_id = ${workspaceId} AND status IN ('mx_pending', 'verified', 'live')
        FOR NO KEY UPDATE
      ), under_way AS (
        -- Should their worker stop, it is told which URL they went to.
        UPDATE deliveries SET claimed_url = coalesce(claimed_url, before.webhook_url)
        FROM before
        WHERE deliveries.domain_id = before.id AND deliveries.status = 'pending' AND leased_until IS NOT NULL
          AND before.webhook_url IS DISTINCT FROM ${url}
      )
      UPDATE domains SET webhook_url = ${url}, webhook_failing_since = NULL, pull = false
      FROM before WHERE domains.id = before.id AND before.webhook_url IS DISTINCT FROM ${url}
      RETURNING domains.*
    `
  }),

  updatePull: SqlSchema.findAll({
    Request: Schema.Struct({ ...Owned.fields, pull: Schema.Boolean }),
    Result: DomainRow,
    execute: ({ id, pull, workspaceId }) => sql`
      UPDATE domains SET pull = ${pull}
      WHERE id = ${id} AND workspace_id = ${workspaceId} AND status IN ('mx_pending', 'verified', 'live')
        AND webhook_url IS NULL
      RETURNING *
    `
  }),

  updateDisabled: SqlSchema.findAll({
    Request: Schema.Struct({ name: DomainName, reason: Schema.String }),
    Result: DomainRow,
    execute: ({ name, reason }) => sql`
      UPDATE domains SET
        status_before = CASE WHEN status = 'disabled' THEN status_before ELSE status END,
        status = 'disabled',
        disabled_reason = ${reason}
      WHERE name = ${name} AND (
        verified_at IS NOT NULL
        OR NOT EXISTS (SELECT 1 FROM domains holder WHERE holder.name = ${name} AND holder.verified_at IS NOT NULL)
      )
      RETURNING *
    `
  }),

  updateEnabled: SqlSchema.findAll({
    Request: DomainName,
    Result: DomainRow,
    execute: (name) => sql`
      UPDATE domains SET status = status_before, status_before = NULL, disabled_reason = NULL
      WHERE name = ${name} AND status = 'disabled'
      RETURNING *
    `
  }),

  deleteHolder: SqlSchema.findAll({
    Request: DomainName,
    Result: DomainRow,
    execute: (name) => sql`DELETE FROM domains WHERE name = ${name} AND verified_at IS NOT NULL RETURNING *`
  })
})
