import { type Effect, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Bugs from "../database/Bugs.ts"
import * as DeliveryRows from "../delivery/DeliveryRows.ts"
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

/** A statement whose rows have our own shape, so that another one is a bug. */
const statement = <Request extends Schema.Constraint>(options: {
  readonly Request: Request
  readonly execute: (request: Request["Encoded"]) => Effect.Effect<ReadonlyArray<unknown>, SqlError>
}) => {
  const find = SqlSchema.findAll({ ...options, Result: DomainRow })
  return (request: Request["Type"]) => Bugs.die(find(request))
}

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

  selectOwned: statement({
    Request: Owned,
    execute: ({ id, workspaceId }) => sql`SELECT * FROM domains WHERE id = ${id} AND workspace_id = ${workspaceId}`
  }),

  selectOf: statement({
    Request: WorkspaceId,
    execute: (workspaceId) => sql`SELECT * FROM domains WHERE workspace_id = ${workspaceId} ORDER BY id DESC`
  }),

  selectInstant: statement({
    Request: WorkspaceId,
    execute: (workspaceId) => sql`SELECT * FROM domains WHERE workspace_id = ${workspaceId} AND origin = 'instant'`
  }),

  selectEvery: statement({
    Request: Schema.Void,
    execute: () => sql`SELECT * FROM domains ORDER BY id DESC`
  }),

  updateVerified: statement({
    Request: Owned,
    execute: ({ id, workspaceId }) => sql`
      UPDATE domains SET status = 'mx_pending', verified_at = now()
      WHERE id = ${id} AND workspace_id = ${workspaceId} AND status = 'pending_verification'
      RETURNING *
    `
  }),

  updateWebhook: statement({
    Request: Schema.Struct({ ...Owned.fields, url: Schema.NullOr(Schema.String) }),
    execute: ({ id, url, workspaceId }) => sql`
      WITH before AS (
        SELECT id, webhook_url FROM domains
        WHERE id = ${id} AND workspace_id = ${workspaceId} AND status IN ('mx_pending', 'verified', 'live')
        FOR NO KEY UPDATE
      ), under_way AS (
        ${DeliveryRows.keepUrl(sql, url)}
      )
      UPDATE domains SET
        webhook_url = ${url}, webhook_failing_since = NULL, pull = false,
        -- Deliveries that wait follow to the new URL.
        webhook_recovering_at = CASE WHEN ${url}::text IS NOT NULL THEN now() END,
        webhook_recovery_step = 1, webhook_recovery_position = 0
      FROM before WHERE domains.id = before.id AND before.webhook_url IS DISTINCT FROM ${url}
      RETURNING domains.*
    `
  }),

  updatePull: statement({
    Request: Schema.Struct({ ...Owned.fields, pull: Schema.Boolean }),
    execute: ({ id, pull, workspaceId }) => sql`
      UPDATE domains SET pull = ${pull}
      WHERE id = ${id} AND workspace_id = ${workspaceId} AND status IN ('mx_pending', 'verified', 'live')
        AND webhook_url IS NULL
      RETURNING *
    `
  }),

  updateDisabled: statement({
    Request: Schema.Struct({ name: DomainName, reason: Schema.String }),
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

  updateEnabled: statement({
    Request: DomainName,
    execute: (name) => sql`
      UPDATE domains SET status = status_before, status_before = NULL, disabled_reason = NULL
      WHERE name = ${name} AND status = 'disabled'
      RETURNING *
    `
  }),

  deleteHolder: statement({
    Request: DomainName,
    execute: (name) => sql`DELETE FROM domains WHERE name = ${name} AND verified_at IS NOT NULL RETURNING *`
  })
})
