import { DateTime, Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import * as Bugs from "../database/Bugs.ts"
import { WorkspaceId } from "../model/Workspace.ts"
import * as Settings from "../Settings.ts"
import type * as Ledger from "./Ledger.ts"

const Reached = Schema.Struct({
  workspaceId: WorkspaceId,
  accepted: Schema.Int,
  percent: Schema.Literals([80, 100]),
  dayBeganAt: Schema.DateTimeUtcFromDate
})

/** Makes an effect that records the workspaces that reached a threshold of their messages today. */
export const make = Effect.fnUntraced(function* (record: Ledger.Record, mostAtOnce: number) {
  const sql = yield* SqlClient.SqlClient
  const { emailsPerDay: limit } = yield* Settings.limits

  // The table has a row for each workspace with mail of today and yesterday.
  const select = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Reached,
    execute: () => sql`
      WITH reached AS (
        SELECT workspace_id, accepted, CASE WHEN accepted >= ${limit} THEN 100 ELSE 80 END AS percent,
          day::timestamp AT TIME ZONE 'UTC' AS day_began_at
        FROM daily_intake
        WHERE day = (now() AT TIME ZONE 'UTC')::date AND accepted >= ${Math.ceil(limit * 0.8)}
      )
      SELECT * FROM reached
      WHERE NOT EXISTS (
        SELECT 1 FROM operational_events
        WHERE subject = reached.workspace_id::text AND kind = 'quota.reached ' || percent AND period = day_began_at
      )
      LIMIT ${mostAtOnce}
    `
  })

  return limit === 0
    ? Effect.void
    : Effect.gen(function* () {
        for (const { accepted, dayBeganAt, percent, workspaceId } of yield* Bugs.die(select())) {
          yield* record({
            workspaceId,
            domainId: null,
            kind: `quota.reached ${percent}`,
            period: dayBeganAt,
            details: {
              type: "quota.reached",
              occurred_at: yield* DateTime.now,
              percent,
              accepted,
              limit,
              day_ends_at: DateTime.add(dayBeganAt, { days: 1 }),
              message:
                percent === 100
                  ? `All ${limit} messages of this UTC day are used. Further mail gets 452 until midnight UTC, and senders retry. Ask the operator for a higher limit`
                  : `${accepted} of ${limit} messages of this UTC day are used. Beyond the limit mail gets 452 until midnight UTC. Ask the operator for a higher limit`
            }
          })
        }
      })
})
