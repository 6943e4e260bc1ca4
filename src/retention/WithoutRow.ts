import { DateTime, Effect, Metric, Schema, Stream } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { InboundEmailId, ownerOf, type RawRef } from "../model/InboundEmail.ts"
import { RawStore } from "../providers/storage/RawStore.ts"
import type { Segment } from "../providers/storage/Segments.ts"

/** Files and objects checked by one statement. */
const batch = 500

/** Age at which bytes without a row are removed. Until then an operator can inspect them. */
const keptDays = 7

const withoutRow = Metric.gauge("inlet_raw_without_row", {
  description: "Raw messages that no row knows: files or objects, and records that the log was given in a day"
})
const ofFiles = Metric.withAttributes(withoutRow, { kind: "file" })
const ofRecords = Metric.withAttributes(withoutRow, { kind: "record" })

/**
 * Finds raw messages without a row, left by a crash before the commit, a failed removal, or a `451`. `remove` deletes
 * files and objects older than seven days and succeeds with their number. Records expire with their segment. A log line
 * and a metric have the counts.
 */
export const make = Effect.fnUntraced(function* (remove: (refs: ReadonlyArray<RawRef>) => Effect.Effect<void>) {
  const sql = yield* SqlClient.SqlClient
  const raw = yield* RawStore

  const unknownAmong = SqlSchema.findAll({
    Request: Schema.Array(InboundEmailId),
    Result: Schema.Struct({ id: InboundEmailId }),
    execute: (ids) => sql`
      SELECT candidates.id FROM unnest(${ids}::uuid[]) AS candidates (id)
      WHERE NOT EXISTS (SELECT 1 FROM inbound_emails WHERE inbound_emails.id = candidates.id)
    `
  })

  /** Reports those stored before this time without a row. Returns their number. */
  const eachUnknown = Effect.fnUntraced(function* (
    before: DateTime.Utc,
    use: (refs: ReadonlyArray<RawRef>) => Effect.Effect<void>
  ) {
    let found = 0
    yield* raw.olderThan(before).pipe(
      Stream.grouped(batch),
      Stream.runForEach((refs) =>
        Effect.gen(function* () {
          const byId = new Map(refs.map((ref) => [ownerOf(ref).id, ref]))
          const unknown = yield* unknownAmong([...byId.keys()])
          yield* use(unknown.flatMap(({ id }) => byId.get(id) ?? []))
          found += unknown.length
        })
      )
    )
    return found
  })

  // The index by time finds their rows, as for the removal of a segment.
  const rowsOf = SqlSchema.findOne({
    Request: Schema.Struct({ id: Schema.String, opened: Schema.DateTimeUtcFromDate }),
    Result: Schema.Struct({ rows: Schema.Int }),
    execute: ({ id, opened }) => sql`
      SELECT count(*)::int AS rows FROM inbound_emails
      WHERE segment = ${id}::uuid
        AND received_at > ${opened}::timestamptz - interval '1 hour'
        AND received_at < ${opened}::timestamptz + interval '2 hours'
    `
  })

  const unknownIn = Effect.fnUntraced(function* ({ id, openedAt }: Segment) {
    const records = yield* raw.segments.records(id)
    const { rows } = yield* rowsOf({ id, opened: openedAt })
    return Math.max(0, records - rows)
  })

  return Effect.gen(function* () {
    const [clock] = yield* sql<{ readonly now: Date }>`SELECT now() AS now`
    // The earlier of both clocks, because a raw message may be about to get its row.
    const own = yield* DateTime.now
    const now = clock === undefined ? own : DateTime.min(own, DateTime.makeUnsafe(clock.now))

    const files = yield* eachUnknown(DateTime.subtract(now, { hours: 1 }), () => Effect.void)
    const removed = files === 0 ? 0 : yield* eachUnknown(DateTime.subtract(now, { days: keptDays }), remove)
    const closed = yield* raw.segments.openedBefore(DateTime.subtract(now, { hours: 2 }))
    const day = closed.filter(({ openedAt }) => DateTime.isGreaterThan(openedAt, DateTime.subtract(now, { hours: 26 })))
    const records = (yield* Effect.forEach(day, unknownIn)).reduce((sum, count) => sum + count, 0)

    yield* Metric.update(ofFiles, files - removed)
    yield* Metric.update(ofRecords, records)
    yield* Effect.logInfo("Raw messages without a row").pipe(
      Effect.annotateLogs({ files: files - removed, files_removed: removed, records_of_a_day: records })
    )
    return removed
  }).pipe(Effect.orDie, Effect.withSpan("WithoutRow.sweep"))
})
