import { Effect, Schema } from "effect"
import { type SqlClient, SqlSchema } from "effect/sql"
import * as Bugs from "../database/Bugs.ts"

/** Daily counts of actions, shared by all processes. */
export const make = (sql: SqlClient.SqlClient) => {
  const today = sql.literal("(now() AT TIME ZONE 'UTC')::date")

  /** Adds one, up to `most`. A concurrent call waits for the first and continues from its count. */
  const reserve = (action: string, who: string, most: number) =>
    sql`
      INSERT INTO client_limits AS counted (action, client, day, count) VALUES (${action}, ${who}, ${today}, 1)
      ON CONFLICT (action, client, day) DO UPDATE SET count = counted.count + 1
      WHERE counted.count < ${most}
      RETURNING count
    `.pipe(Effect.map((rows) => rows.length > 0))

  const untilMidnight = SqlSchema.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ seconds: Schema.Int }),
    execute: () => sql`
      SELECT ceil(extract(epoch FROM ${today} + 1 - (now() AT TIME ZONE 'UTC')))::integer AS seconds
    `
  })

  return {
    reserve,
    /** Seconds until the counts reset. */
    untilMidnight: Effect.suspend(() => untilMidnight()).pipe(
      Effect.map(({ seconds }) => seconds),
      Bugs.die
    )
  }
}
