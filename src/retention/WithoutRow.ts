import { DateTime, Effect, Metric, Number as Num, Schema, Stream } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { InboundEmailId, ownerOf, type RawRef } from "../model/InboundEmail.ts"
import { RawStore } from "../providers/storage/RawStore.ts"
import type { Segment } from "../providers/storage/Segments.ts"
import * as Settings from "../Settings.ts"

/** Files and objects checked by one statement. */
const batch = 500

/** Age at which bytes without a row are removed. Until then an operator can inspect them. */
const keptDays = 7

const withoutRow = Metric.gauge("inlet_raw_without_row", {
  description: "Raw messages that no row knows: files or objects, and records that the log was given in a day"
})
const ofFiles = Metric.withAttributes(withoutRow, { kind: "file" })
const ofRecords = Metric.withAttributes(withoutRow, { kind: "record" })

/** The age in hours of the segments that are looked at: those opened within a day, or less with a retention of one day. */
const [youngest, oldest] = [2, 26]

/**
 * Finds raw messages without a row, left by a crash before the commit, a failed removal, or a `451`. `remove` deletes
 * files and objects older than seven days, and succeeds with the number of those that are gone, as the look does.
 * Records expire with their segment. A log line and a metric have the counts.
 */
export const make = Effect.fnUntraced(function* (remove: (refs: ReadonlyArray<RawRef>) => Effect.Effect<number>) {
  const sql = yield* SqlClient.SqlClient
  const raw = yield* RawStore
  const { retentionDays } = yield* Settings.limits

  const unknownAmong = SqlSchema.findAll({
    Request: Schema.Array(InboundEmailId),
    Result: Schema.Struct({ id: InboundEmailId }),
    execute: (ids) => sql`
      SELECT candidates.id FROM unnest(${ids}::uuid[]) AS candidates (id)
      WHERE NOT EXISTS (SELECT 1 FROM inbound_emails WHERE inbound_emails.id = candidates.id)
    `
  })

  /** Uses those stored before this time without a row. Returns the sum of the numbers. */
  const eachUnknown = Effect.fnUntraced(function* (
    before: DateTime.Utc,
    use: (refs: ReadonlyArray<RawRef>) => Effect.Effect<number>
  ) {
    let total = 0
    yield* raw.olderThan(before).pipe(
      Stream.grouped(batch),
      Stream.runForEach((refs) =>
        Effect.gen(function* () {
          const byId = new Map(refs.map((ref) => [ownerOf(ref).id, ref]))
          const unknown = yield* unknownAmong([...byId.keys()])
          total += yield* use(unknown.flatMap(({ id }) => byId.get(id) ?? []))
        })
      )
    )
    return total
  })

  // The index by time finds them, as for the removal of a segment. One statement reads the rows of an hour for all its
  // segments, because each of many would read those of all others.
  const rowsOf = SqlSchema.findAll({
    Request: Schema.Struct({ ids: Schema.Array(Schema.String), hour: Schema.DateTimeUtcFromDate }),
    Result: Schema.Struct({ id: Schema.String, rows: Schema.Int }),
    execute: ({ hour, ids }) => sql`
      SELECT segment AS id, count(*)::int AS rows FROM inbound_emails
      WHERE segment = ANY(${ids}::uuid[])
        AND received_at > ${hour}::timestamptz - interval '1 hour'
        AND received_at < ${hour}::timestamptz + interval '3 hours'
      GROUP BY segment
    `
  })

  /** The records without a row of the segments that were opened within an hour. */
  const unknownIn = Effect.fnUntraced(function* (hour: DateTime.Utc, segments: ReadonlyArray<Segment>) {
    const records = yield* Effect.forEach(segments, ({ id }) => raw.segments.records(id))
    const rows = new Map((yield* rowsOf({ hour, ids: segments.map(({ id }) => id) })).map(({ id, rows }) => [id, rows]))
    return Num.sumAll(segments.map(({ id }, index) => Math.max(0, (records[index] ?? 0) - (rows.get(id) ?? 0))))
  })

  // A row that expired is no loss, and its record stays until the segment goes. An hour of margin for wrong clocks.
  const looked = retentionDays === 0 ? oldest : Math.min(oldest, 24 * retentionDays - 1)

  return Effect.gen(function* () {
    const [clock] = yield* sql<{ readonly now: Date }>`SELECT now() AS now`
    // The earlier of both clocks, because a raw message may be about to get its row.
    const own = yield* DateTime.now
    const now = clock === undefined ? own : DateTime.min(own, DateTime.makeUnsafe(clock.now))

    const files = yield* eachUnknown(DateTime.subtract(now, { hours: 1 }), (refs) => Effect.succeed(refs.length))
    const removed = files === 0 ? 0 : yield* eachUnknown(DateTime.subtract(now, { days: keptDays }), remove)
    const closed = yield* raw.segments.openedBefore(DateTime.subtract(now, { hours: youngest }))
    const since = DateTime.subtract(now, { hours: looked })
    const byHour = Map.groupBy(
      closed.filter(({ openedAt }) => DateTime.isGreaterThan(openedAt, since)),
      ({ openedAt }) => DateTime.toEpochMillis(DateTime.startOf(openedAt, "hour"))
    )
    const records = yield* Effect.forEach(byHour, ([hour, segments]) => unknownIn(DateTime.makeUnsafe(hour), segments))

    yield* Metric.update(ofFiles, files - removed)
    yield* Metric.update(ofRecords, Num.sumAll(records))
    yield* Effect.logInfo("Raw messages without a row").pipe(
      Effect.annotateLogs({ files: files - removed, files_removed: removed, records_of_a_day: Num.sumAll(records) })
    )
    return removed
  }).pipe(Effect.orDie, Effect.withSpan("WithoutRow.sweep"))
})
