import { DateTime, Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

/** A larger difference between two rounds means that the clock was set, or that the service was down. */
const mostHours = 24

/**
 * Decides whether expired data may be removed now. It is called before each round and stores the time. After a jump
 * of the database's clock in either direction everything is kept for another day, in which an operator can correct
 * the clock.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const round = SqlSchema.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({
      now: Schema.DateTimeUtcFromDate,
      isHeld: Schema.Boolean,
      hasLeapt: Schema.Boolean,
      before: Schema.NullOr(Schema.DateTimeUtcFromDate)
    }),
    execute: () => sql`
      WITH before AS (SELECT last_at FROM sweeper_rounds)
      INSERT INTO sweeper_rounds AS rounds (last_at) VALUES (now())
      ON CONFLICT (one_row) DO UPDATE SET
        last_at = now(),
        held_until = CASE
          WHEN abs(extract(epoch FROM now() - rounds.last_at)) > ${mostHours * 3_600} THEN now() + interval '1 day'
          WHEN rounds.held_until > now() THEN rounds.held_until
        END
      RETURNING now() AS now, held_until IS NOT NULL AS is_held,
        held_until IS NOT DISTINCT FROM now() + interval '1 day' AS has_leapt, (SELECT last_at FROM before) AS before
    `
  })

  return Effect.gen(function* () {
    const { before, hasLeapt, isHeld, now } = yield* round()
    if (hasLeapt) {
      yield* Effect.logWarning(
        "The clock has moved by more than a day since expired data was last removed. Nothing is removed for a day. Correct the clock if it is wrong"
      ).pipe(
        Effect.annotateLogs({ now: DateTime.formatIso(now), last: before === null ? "" : DateTime.formatIso(before) })
      )
    }
    return !isHeld
  }).pipe(Effect.orDie, Effect.withSpan("SweeperClock.round"))
})
