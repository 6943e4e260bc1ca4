import type { SqlClient } from "effect/sql"

/** A column with the sender rules of the row of `domains`, for `Judgement`. Null without any. */
export const column = (sql: SqlClient.SqlClient) => sql`(
  SELECT json_agg(json_build_object(
    'id', sender_rules.id, 'webhookId', webhook_id, 'list', list, 'match', match, 'value', value, 'action', action
  ) ORDER BY sender_rules.id)
  FROM sender_rules WHERE sender_rules.domain_id = domains.id
)`
