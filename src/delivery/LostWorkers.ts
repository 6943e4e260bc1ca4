import { Duration, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { EventId } from "../model/InboundEvent.ts"
import * as Settings from "../Settings.ts"
import * as RetryDelay from "../schedule/RetryDelay.ts"
import * as LostDead from "../statistics/LostDead.ts"
import * as DeadCount from "./DeadCount.ts"
import * as FailureReason from "./FailureReason.ts"
import * as Lease from "./Lease.ts"
import * as Retries from "./Retries.ts"

/** Number of lost workers up to which a delivery is retried at once. Beyond it waits like a refused one. */
const lossesRepeatedAtOnce = 2

/** Returns the leased deliveries to try now. Those that repeatedly lost their worker wait instead. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { retryDelays } = yield* Settings.webhooks
  const retries = Retries.schedule(retryDelays)

  /** Counts the unfinished attempts of each event since its last replay. */
  const losses = Effect.fnUntraced(function* (rows: ReadonlyArray<Lease.Claimed>) {
    const takenOver = rows.filter((row) => row.takenOver).map(({ eventId }) => eventId)
    if (takenOver.length === 0) return new Map<EventId, number>()
    const counts = yield* sql<{ readonly eventId: EventId; readonly count: number }>`
      SELECT event_id, count(*)::int AS count
      FROM delivery_attempts JOIN deliveries USING (event_id)
      WHERE event_id = ANY(${takenOver}::uuid[]) AND attempt > spent AND NOT ok AND duration_ms IS NULL
      GROUP BY event_id
    `
    return new Map(counts.map(({ count, eventId }) => [eventId, count]))
  })

  const postpone = Effect.fnUntraced(function* ({ attempt, eventId }: Lease.Lease, lost: number) {
    const wait = yield* RetryDelay.after(retries, lost)
    const seconds = Duration.toSeconds(Option.getOrElse(wait, () => Duration.zero))
    const [postponed] = yield* sql<{ readonly status: string }>`
      WITH postponed AS (
        UPDATE deliveries SET
          attempts = attempts - 1,
          leased_until = NULL,
          status = ${Option.isNone(wait) ? "dead" : "pending"},
          due_at = now() + make_interval(secs => ${seconds}),
          last_error = ${FailureReason.workersStopped(lost)}
        WHERE event_id = ${eventId} AND attempts = ${attempt} AND status = ${"pending"}
        RETURNING domain_id, status
      ), counted AS (
        ${LostDead.count(sql)}
      )
      SELECT status FROM postponed
    `
    if (postponed?.status === "dead") yield* DeadCount.add(1)
    yield* Effect.logWarning("A delivery repeatedly loses its worker and is delayed").pipe(
      Effect.annotateLogs({ event_id: eventId, attempt })
    )
  })

  return Effect.fnUntraced(function* <Row extends Lease.Claimed>(rows: ReadonlyArray<Row>) {
    const lost = yield* losses(rows)
    return yield* Effect.filter(rows, (row) => {
      const lostBefore = lost.get(row.eventId) ?? 0
      return lostBefore <= lossesRepeatedAtOnce
        ? Effect.succeed(true)
        : Effect.as(postpone(Lease.of(row), lostBefore), false)
    })
  })
})
