import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import * as Bugs from "../database/Bugs.ts"
import { DomainId, DomainName } from "../model/Domain.ts"
import { WorkspaceId } from "../model/Workspace.ts"

const Candidate = Schema.Struct({
  domainId: DomainId,
  /** A UTC day, such as 2026-01-31. */
  day: Schema.String
})

const NewDead = Schema.Struct({
  ...Candidate.fields,
  domain: DomainName,
  workspaceId: WorkspaceId,
  /** Deliveries that became dead on that day so far. */
  dead: Schema.Int
})

/**
 * Takes one domain and day whose dead letters have grown since they were last taken, or none. A domain that was told of
 * in this hour is left for the next one. In a transaction the change is taken only if it commits, and by one process,
 * which locks the domain: around midnight two of its days may have news.
 */
export const take = (sql: SqlClient.SqlClient) => {
  const isNews = sql`
    dead > dead_told AND NOT EXISTS (
      SELECT FROM operational_events
      WHERE subject = domain_days.domain_id::text AND kind = 'delivery.dead'
        AND period = date_trunc('hour', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
    )
  `
  const find = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Candidate,
    execute: () => sql`
      SELECT domain_id, to_char(day, 'YYYY-MM-DD') AS day FROM domain_days JOIN domains ON domains.id = domain_id
      WHERE ${isNews} AND day >= (now() AT TIME ZONE 'UTC')::date - 1
      LIMIT 1 FOR NO KEY UPDATE OF domains SKIP LOCKED
    `
  })
  // Another statement, because an event that another process recorded before the lock may be missing in the first one.
  const mark = SqlSchema.findAll({
    Request: Candidate,
    Result: NewDead,
    execute: ({ day, domainId }) => sql`
      UPDATE domain_days SET dead_told = dead
      FROM domains
      WHERE domain_id = ${domainId} AND day = ${day}::date AND domains.id = domain_id AND ${isNews}
      RETURNING domain_id, domains.name AS domain, domains.workspace_id, to_char(day, 'YYYY-MM-DD') AS day, dead
    `
  })
  return Bugs.die(find()).pipe(
    Effect.flatMap(([found]) => (found === undefined ? Effect.succeed([]) : Bugs.die(mark(found)))),
    Effect.map(([news]) => news)
  )
}
