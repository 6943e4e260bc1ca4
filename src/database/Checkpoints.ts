import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"

/** Bytes of write-ahead log after which a checkpoint follows. */
export const LogBytes = Context.Reference("inlet/database/Checkpoints/LogBytes", {
  defaultValue: () => 128 * 1024 * 1024
})

const lookEvery = "5 seconds"

/**
 * Makes the checkpoints of a PostgreSQL without a checkpointer process. Otherwise it would keep its whole write-ahead
 * log until its stop, and replay it at a start after a crash.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const most = yield* LogBytes
    const isDue = sql<{ readonly isDue: boolean }>`
      SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn) > ${most} AS is_due FROM pg_control_checkpoint()
    `.pipe(Effect.map((rows) => rows.some(({ isDue }) => isDue)))
    yield* BackgroundLoop.every(
      lookEvery,
      "A checkpoint of the embedded database failed; it is tried again",
      Effect.when(sql`CHECKPOINT`, isDue)
    )
  })
)
