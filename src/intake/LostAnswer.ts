import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import * as Patience from "../database/Patience.ts"
import type { InboundEmailId } from "../model/InboundEmail.ts"

/** A committed row. */
interface Row {
  readonly id: InboundEmailId
  readonly recipients: ReadonlyArray<string>
}

/** Delays before each lookup in milliseconds. The sender's deadline is 8 s. */
const waits = [100, 400, 500, 1_000, 1_500, 2_000]

const longest = "6 seconds"

/**
 * Finds rows whose commit got no answer because the connection broke. Succeeds with the rows that exist. Succeeds with
 * none if PostgreSQL twice finds none, or does not answer in time.
 *
 * A primary shows a row that no standby has, if the wait for the standby was cancelled or the server restarted in it.
 * The lock is a write, so its own commit waits for the standby, which then has the row too.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  return (ids: ReadonlyArray<InboundEmailId>) =>
    Effect.gen(function* () {
      let answers = 0
      for (const wait of waits) {
        yield* Effect.sleep(wait)
        const rows = yield* Effect.option(
          Patience.ofRequest(sql<Row>`
            SELECT id, recipients FROM inbound_emails WHERE id = ANY(${ids}::uuid[]) FOR KEY SHARE
          `)
        )
        if (Option.isNone(rows)) continue
        // A commit in progress is not visible yet.
        if (rows.value.length > 0 || ++answers === 2) return rows.value
      }
      return []
    }).pipe(
      Effect.timeoutOption(longest),
      Effect.map(Option.getOrElse((): ReadonlyArray<Row> => [])),
      Effect.withSpan("LostAnswer.find", { attributes: { messages: ids.length } })
    )
})
