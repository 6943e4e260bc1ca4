import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import * as Bugs from "../database/Bugs.ts"
import { DomainId, DomainName } from "../model/Domain.ts"
import { WorkspaceId } from "../model/Workspace.ts"

const NewDead = Schema.Struct({
  domainId: DomainId,
  domain: DomainName,
  workspaceId: WorkspaceId,
  /** A UTC day, such as 2026-01-31. */
  day: Schema.String,
  /** Deliveries that became dead on that day so far. */
  dead: Schema.Int
})

/**
 * Takes one domain and day whose dead letters have grown since they were last taken, or none. A domain that was told of
 * in this hour is left for the next one. In a transaction the change is taken only if it commits, and by one process.
 */
export const take = (sql: SqlClient.SqlClient) => {
  const find = SqlSchema.findAll({
    Request: Schema.Void,
    Result: NewDead,
    execute: () => sql`
      WITH news AS (
        SELECT domain_id, day FROM domain_days
        WHERE dead > dead_told AND day >= (now() AT TIME ZONE 'UTC')::date - 1
          AND NOT EXISTS (
            SELECT FROM operational_events
            WHERE subject = domain_days.domain_id::text AND kind = 'delivery.dead'
              AND period = date_trunc('hour', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
          )
        LIMIT 1 FOR UPDATE SKIP LOCKED
      )
      UPDATE domain_days SET dead_told = dead
      FROM news JOIN domains ON domains.id = news.domain_id
      WHERE domain_days.domain_id = news.domain_id AND domain_days.day = news.day
      RETURNING domain_days.domain_id, domains.name AS domain, domains.workspace_id,
        to_char(domain_days.day, 'YYYY-MM-DD') AS day, dead
    `
  })
  return Effect.map(Bugs.die(find()), ([news]) => news)
}
