import { DateTime, Effect, Number as Num, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { RawStore } from "../providers/storage/RawStore.ts"
import type { Segment } from "../providers/storage/Segments.ts"
import * as Settings from "../Settings.ts"

/** Segments checked by one statement. */
const batch = 100

/**
 * Removes the segments of the log without a row whose youngest record has expired. Without a retention, removes those
 * without a row that are no longer written. Returns their number.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { segments } = yield* RawStore
  const { retentionDays } = yield* Settings.limits

  // A segment is written for an hour, so the index by time finds its rows, with an hour of margin for wrong clocks. Its
  // first row mostly comes with its opening. The rows before belong to other segments, and are read only if there is
  // none: COALESCE keeps the order. One look-up for each, because a join could be planned as a scan of the whole table.
  const unreferred = SqlSchema.findAll({
    Request: Schema.Struct({ ids: Schema.Array(Schema.String), opened: Schema.Array(Schema.DateTimeUtcFromDate) }),
    Result: Schema.Struct({ id: Schema.String }),
    execute: ({ ids, opened }) => sql`
      SELECT asked.id FROM unnest(${ids}::uuid[], ${opened}::timestamptz[]) AS asked (id, opened_at)
      WHERE opened_at < now() - make_interval(days => ${retentionDays}, hours => 1) AND COALESCE(
        (
          SELECT true FROM inbound_emails
          WHERE segment = asked.id AND received_at
            BETWEEN asked.opened_at - interval '1 minute' AND asked.opened_at + interval '10 minutes'
          LIMIT 1
        ),
        (
          SELECT true FROM inbound_emails
          WHERE segment = asked.id
            AND received_at > asked.opened_at - interval '1 hour' AND received_at < asked.opened_at + interval '2 hours'
          LIMIT 1
        )
      ) IS NULL
    `
  })

  const removeAmong = Effect.fnUntraced(function* (old: ReadonlyArray<Segment>) {
    const gone = yield* unreferred({ ids: old.map(({ id }) => id), opened: old.map(({ openedAt }) => openedAt) })
    // Nothing is left to erase in them. Before the files, or an erasure would look for one that is gone.
    yield* sql`DELETE FROM raw_erasures WHERE segment = ANY(${gone.map(({ id }) => id)}::uuid[])`
    const removals = yield* Effect.forEach(gone, ({ id }) =>
      segments.remove(id).pipe(
        Effect.as(1),
        // One that stays must not keep the others.
        Effect.catchTag("RawStoreError", (error) =>
          Effect.as(Effect.logError(`The segment ${id} could not be removed. It is tried again`, error), 0)
        )
      )
    )
    return Num.sumAll(removals)
  })

  return Effect.gen(function* () {
    const before = DateTime.subtract(yield* DateTime.now, { days: retentionDays, hours: 1 })
    const old = yield* segments.openedBefore(before)
    let removed = 0
    for (let at = 0; at < old.length; at += batch) removed += yield* removeAmong(old.slice(at, at + batch))
    return removed
  }).pipe(Effect.orDie, Effect.withSpan("OldSegments.remove"))
})
