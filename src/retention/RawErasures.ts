import { Clock, Duration, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { InboundEmailId } from "../model/InboundEmail.ts"
import { RawStore } from "../providers/storage/RawStore.ts"
import * as Segments from "../providers/storage/Segments.ts"
import * as Settings from "../Settings.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import { DueWork } from "../schedule/DueWork.ts"
import * as Elapsed from "../schedule/Elapsed.ts"

/** Limits of one round, because incoming mail uses the same disk. */
const mostRecords = 512
const mostBytes = 4 * 1024 * 1024

/** Without a retention, a segment that is missing for longer is not looked for. */
const usualDays = 30

const Due = Schema.Struct({
  segment: Schema.String,
  rawAt: Schema.BigInt,
  rawBytes: Schema.Int,
  inboundEmailId: InboundEmailId
})

/** Overwrites some raw messages of removed domains in the log. Returns their number. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { segments } = yield* RawStore
  const { retentionDays } = yield* Settings.limits
  const longest = Duration.toMillis(Duration.days((retentionDays || usualDays) + 1))

  // After an error or the death of a worker it is due again in 1 min. Deletes by the locked rows' keys, because a
  // join could be planned as a scan of the whole table for each.
  const claim = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Due,
    execute: () => sql`
      WITH due AS (
        SELECT ctid AS place, segment, raw_at, raw_bytes FROM raw_erasures WHERE due_at <= now()
        ORDER BY segment, raw_at LIMIT ${mostRecords}
        FOR UPDATE SKIP LOCKED
      ), counted AS (
        SELECT due.*, sum(raw_bytes) OVER (ORDER BY segment, raw_at) AS bytes FROM due
      )
      UPDATE raw_erasures SET due_at = now() + interval '1 minute'
      WHERE ctid = ANY(ARRAY(SELECT place FROM counted WHERE bytes - raw_bytes < ${mostBytes}))
      RETURNING segment, raw_at, raw_bytes, inbound_email_id
    `
  })

  const eraseIn = Effect.fnUntraced(function* (segment: string, due: ReadonlyArray<typeof Due.Type>) {
    const isThere = yield* segments.erase(
      segment,
      due.map(({ inboundEmailId, rawAt, rawBytes }) => ({ id: inboundEmailId, at: Number(rawAt), bytes: rawBytes }))
    )
    const these = sql`segment = ${segment} AND raw_at = ANY(${due.map(({ rawAt }) => rawAt)}::bigint[])`
    const age = (yield* Clock.currentTimeMillis) - Segments.openedMillis(segment)
    if (isThere || age > longest) return yield* sql`DELETE FROM raw_erasures WHERE ${these}`
    yield* Effect.logError(
      `The segment ${segment} with mail of a removed domain is missing. Is RAW_DIR mounted, and the same for all processes? Inlet looks for it again in an hour`
    )
    return yield* sql`UPDATE raw_erasures SET due_at = now() + interval '1 hour' WHERE ${these}`
  })

  return Effect.gen(function* () {
    const due = yield* claim()
    for (const [segment, own] of Map.groupBy(due, ({ segment }) => segment)) {
      yield* eraseIn(segment, own).pipe(
        Effect.catchTag("RawStoreError", (error) =>
          Effect.logError("Raw messages of a removed domain could not be erased. Inlet retries", error)
        )
      )
    }
    return due.length
  }).pipe(Effect.orDie, Effect.withSpan("RawErasures.erase"))
})

/** Erases while the process runs, within seconds of a removal, and leaves the disk to mail half of the time. */
export const layerWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const erase = yield* make
    const isDue = yield* (yield* DueWork).watch(sql`SELECT true FROM raw_erasures WHERE due_at <= now() LIMIT 1`)
    const round = Effect.gen(function* () {
      if (!(yield* isDue)) return yield* Effect.sleep("2 seconds")
      const began = yield* Elapsed.millis
      const erased = yield* erase
      const took = (yield* Elapsed.millis) - began
      yield* Effect.sleep(erased === 0 ? "2 seconds" : Math.max(50, took))
    })
    yield* BackgroundLoop.endless("Erasing raw messages failed", round)
  })
)
