import { Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { Place, type Route, WebhookAction, WebhookId } from "../../model/Webhook.ts"

/**
 * The routes of a domain as a column: lists of the same order, which PostgreSQL builds ten times as fast as objects.
 * `kinds` has the webhooks for kinds of mail, by the id of the webhook that they take it from.
 */
export const RouteColumn = Schema.Struct({
  ids: Schema.Array(WebhookId),
  patterns: Schema.Array(Schema.String),
  actions: Schema.Array(WebhookAction),
  kinds: Schema.NullOr(Schema.Record(WebhookId, Schema.Record(Schema.String, Schema.Struct(Place))))
})
export type RouteColumn = typeof RouteColumn.Type

/** The column for the row of `domains`. */
export const of = (sql: SqlClient.SqlClient) => sql`(
  SELECT json_build_object(
    -- Lists also of a domain without webhooks, which would fail the statement of all others.
    'ids', coalesce(array_agg(webhooks.id), '{}'), 'patterns', coalesce(array_agg(pattern), '{}'),
    'actions', coalesce(array_agg(action), '{}'),
    'kinds', json_object_agg(webhooks.id, (
      SELECT json_object_agg(kind, json_build_object('id', other.id, 'pattern', other.pattern))
      FROM jsonb_each_text(webhooks.kinds) AS wanted (kind, id)
      JOIN webhooks AS other ON other.id = wanted.id::uuid AND other.domain_id = domains.id
    )) FILTER (WHERE kinds <> '{}')
  )
  FROM webhooks WHERE webhooks.domain_id = domains.id
)`

/** The routes in the column. */
export const read = ({ actions, ids, kinds, patterns }: RouteColumn): ReadonlyArray<Route> =>
  ids.flatMap((id, index) => {
    const pattern = patterns[index]
    const action = actions[index]
    return pattern === undefined || action === undefined ? [] : [{ id, pattern, action, kinds: kinds?.[id] ?? null }]
  })
