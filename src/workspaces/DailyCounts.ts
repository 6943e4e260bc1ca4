import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import * as Bugs from "../database/Bugs.ts"

/** Daily counts of actions, shared by all processes. */
export const make = (sql: SqlClient.SqlClient) => {
  const today = sql.literal("(now() AT TIME ZONE 'UTC')::date")

  /** Adds one or more, up to `most`, or nothing. A concurrent call waits for the first and continues from its count. */
  const reserve = (action: string, who: string, most: number, wanted = 1) =>
    sql`
      INSERT INTO client_limits AS counted (action, client, day, count)
      SELECT ${action}, ${who}, ${today}, ${wanted}::int WHERE ${wanted}::int <= ${most}::int
      ON CONFLICT (action, client, day) DO UPDATE SET count = counted.count + ${wanted}::int
      WHERE counted.count + ${wanted}::int <= ${most}::int
      RETURNING count
    `.pipe(Effect.map((rows) => rows.length > 0))

  /** Takes one back that was added today. */
  const giveBack = (action: string, who: string) =>
    sql`
      UPDATE client_limits SET count = count - 1
      WHERE action = ${action} AND client = ${who} AND day = ${today} AND count > 0
    `.pipe(Effect.asVoid)

  /** The count of today. */
  const used = (action: string, who: string) =>
    sql<{ readonly count: number }>`
      SELECT count FROM client_limits WHERE action = ${action} AND client = ${who} AND day = ${today}
    `.pipe(Effect.map(([row]) => row?.count ?? 0))

  const untilMidnight = SqlSchema.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ seconds: Schema.Int }),
    execute: () => sql`
      SELECT ceil(extract(epoch FROM ${today} + 1 - (now() AT TIME ZONE 'UTC')))::integer AS seconds
    `
  })

  return {
    reserve,
    giveBack,
    used,
    /** Seconds until the counts reset. */
    untilMidnight: Effect.suspend(() => untilMidnight()).pipe(
      Effect.map(({ seconds }) => seconds),
      Bugs.die
    )
  }
}
