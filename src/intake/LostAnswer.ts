import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import * as Patience from "../database/Patience.ts"
import type { InboundEmailId } from "../model/InboundEmail.ts"

/** A row that is committed. */
interface Row {
  readonly id: InboundEmailId
  readonly recipients: ReadonlyArray<string>
}

/** Waits before the looks, in milliseconds: a sender is answered within eight seconds. */
const waits = [100, 400, 500, 1_000, 1_500, 2_000]

const longest = "6 seconds"

/**
 * Finds out what became of rows whose commit was not answered: the connection broke, and PostgreSQL may have
 * done it or not. Succeeds with those of them that are there; with none where PostgreSQL has said twice that
 * there are none, or could not be asked in time.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  return (ids: ReadonlyArray<InboundEmailId>) =>
    Effect.gen(function* () {
      let answers = 0
      for (const wait of waits) {
        yield* Effect.sleep(wait)
        const rows = yield* Effect.option(
          Patience.ofRequest(sql<Row>`SELECT id, recipients FROM inbound_emails WHERE id = ANY(${ids}::uuid[])`)
        )
        if (Option.isNone(rows)) continue
        // What is still being committed is not there yet.
        if (rows.value.length > 0 || ++answers === 2) return rows.value
      }
      return []
    }).pipe(
      Effect.timeoutOption(longest),
      Effect.map(Option.getOrElse((): ReadonlyArray<Row> => [])),
      Effect.withSpan("LostAnswer.find", { attributes: { messages: ids.length } })
    )
})
