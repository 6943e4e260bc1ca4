import { type Effect, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Bugs from "../database/Bugs.ts"
import { DomainId } from "../model/Domain.ts"
import { WebhookAction, WebhookId, WebhookKinds } from "../model/Webhook.ts"

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
  kinds: WebhookKinds,
  hasOwnSecret: Schema.Boolean,
  createdAt: Schema.DateTimeUtcFromDate,
  failingSince: time,
  pausedAt: time
})
export type WebhookRow = typeof WebhookRow.Type

const columns = `id, domain_id, pattern, action, url, format, basic_auth, description, kinds, signing_secret IS NOT NULL AS has_own_secret,
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
        description: Schema.NullOr(Schema.String),
        kinds: Schema.fromJsonString(WebhookKinds)
      }),
      execute: ({ action, basicAuth, credentials, description, domainId, format, id, kinds, pattern, url }) => sql`
        INSERT INTO webhooks (id, domain_id, pattern, action, url, format, credentials, basic_auth, description, kinds)
        VALUES (
          ${id}, ${domainId}, ${pattern}, ${action}, ${url}, ${format}, ${credentials}, ${basicAuth}, ${description},
          ${kinds}::jsonb
        )
        RETURNING ${shown}
      `
    }),

    describe: statement({
      Request: Schema.Struct({
        ...One.fields,
        pattern: Schema.String,
        description: Schema.NullOr(Schema.String),
        kinds: Schema.fromJsonString(WebhookKinds)
      }),
      execute: ({ description, domainId, id, kinds, pattern }) => sql`
        UPDATE webhooks SET pattern = ${pattern}, description = ${description}, kinds = ${kinds}::jsonb
        WHERE domain_id = ${domainId} AND id = ${id}
        RETURNING ${shown}
      `
    }),

    remove: statement({
      Request: One,
      execute: ({ domainId, id }) =>
        sql`DELETE FROM webhooks WHERE domain_id = ${domainId} AND id = ${id} RETURNING ${shown}`
    }),

    /** Takes a webhook out of the kinds of the others. */
    forget: statement({
      Request: One,
      execute: ({ domainId, id }) => sql`
        UPDATE webhooks SET kinds = (
          SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each_text(kinds) WHERE value <> ${id}
        )
        WHERE domain_id = ${domainId} AND kinds <> '{}'
        RETURNING ${shown}
      `
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
