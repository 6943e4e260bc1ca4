import { type Effect, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Bugs from "../database/Bugs.ts"
import { DomainId } from "../model/Domain.ts"
import { WebhookAction, WebhookId } from "../model/Webhook.ts"

const time = Schema.NullOr(Schema.DateTimeUtcFromDate)

/** A row of `webhooks`, without its secrets. */
export const WebhookRow = Schema.Struct({
  id: WebhookId,
  domainId: DomainId,
  pattern: Schema.String,
  action: WebhookAction,
  url: Schema.NullOr(Schema.String),
  format: Schema.String,
  basicAuth: Schema.Boolean,
  description: Schema.NullOr(Schema.String),
  hasOwnSecret: Schema.Boolean,
  createdAt: Schema.DateTimeUtcFromDate,
  failingSince: time,
  pausedAt: time
})
export type WebhookRow = typeof WebhookRow.Type

const columns = `id, domain_id, pattern, action, url, format, basic_auth, description, signing_secret IS NOT NULL AS has_own_secret,
  created_at, failing_since, paused_at`

/** A statement whose rows have our own shape, so that another one is a bug. */
const statement = <Request extends Schema.Constraint>(options: {
  readonly Request: Request
  readonly execute: (request: Request["Encoded"]) => Effect.Effect<ReadonlyArray<unknown>, SqlError>
}) => {
  const find = SqlSchema.findAll({ ...options, Result: WebhookRow })
  return (request: Request["Type"]) => Bugs.die(find(request))
}

const One = Schema.Struct({ domainId: DomainId, id: WebhookId })

/** The statements about the webhooks of a domain. Each returns the rows it is about. */
export const make = (sql: SqlClient.SqlClient) => {
  const shown = sql.literal(columns)
  return {
    ofDomain: statement({
      Request: DomainId,
      execute: (domainId) => sql`SELECT ${shown} FROM webhooks WHERE domain_id = ${domainId}`
    }),

    get: statement({
      Request: One,
      execute: ({ domainId, id }) => sql`SELECT ${shown} FROM webhooks WHERE domain_id = ${domainId} AND id = ${id}`
    }),

    insert: statement({
      Request: Schema.Struct({
        ...One.fields,
        pattern: Schema.String,
        action: WebhookAction,
        url: Schema.NullOr(Schema.String),
        format: Schema.String,
        credentials: Schema.NullOr(Schema.Uint8Array),
        basicAuth: Schema.Boolean,
        description: Schema.NullOr(Schema.String)
      }),
      execute: ({ action, basicAuth, credentials, description, domainId, format, id, pattern, url }) => sql`
        INSERT INTO webhooks (id, domain_id, pattern, action, url, format, credentials, basic_auth, description)
        VALUES (
          ${id}, ${domainId}, ${pattern}, ${action}, ${url}, ${format}, ${credentials}, ${basicAuth}, ${description}
        )
        RETURNING ${shown}
      `
    }),

    describe: statement({
      Request: Schema.Struct({ ...One.fields, pattern: Schema.String, description: Schema.NullOr(Schema.String) }),
      execute: ({ description, domainId, id, pattern }) => sql`
        UPDATE webhooks SET pattern = ${pattern}, description = ${description}
        WHERE domain_id = ${domainId} AND id = ${id}
        RETURNING ${shown}
      `
    }),

    remove: statement({
      Request: One,
      execute: ({ domainId, id }) =>
        sql`DELETE FROM webhooks WHERE domain_id = ${domainId} AND id = ${id} RETURNING ${shown}`
    }),

    /** Gives it a new secret, or none. An own one before it also signs for a while. */
    setSecret: statement({
      Request: Schema.Struct({ ...One.fields, secret: Schema.NullOr(Schema.Uint8Array), overlapHours: Schema.Int }),
      execute: ({ domainId, id, overlapHours, secret }) => sql`
        UPDATE webhooks SET
          previous_signing_secret = CASE WHEN ${secret}::bytea IS NOT NULL THEN signing_secret END,
          previous_secret_until = CASE WHEN ${secret}::bytea IS NOT NULL AND signing_secret IS NOT NULL
            THEN now() + make_interval(hours => ${overlapHours}) END,
          signing_secret = ${secret}
        WHERE domain_id = ${domainId} AND id = ${id}
        RETURNING ${shown}
      `
    })
  }
}
