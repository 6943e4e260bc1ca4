import { Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import * as Bugs from "../database/Bugs.ts"
import * as DeliveryRows from "../delivery/DeliveryRows.ts"
import { EventFeed } from "../delivery/EventFeed.ts"
import { DomainId } from "../model/Domain.ts"
import { EventId } from "../model/InboundEvent.ts"
import { ReplayId, ReplayStatus } from "../model/Replay.ts"
import { WebhookId } from "../model/Webhook.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import { DueWork } from "../schedule/DueWork.ts"
import * as Elapsed from "../schedule/Elapsed.ts"
import * as ReplayCandidates from "./ReplayCandidates.ts"

/** Maximum deliveries of a job that are due at once. */
const mostDue = 256

/** Maximum deliveries that one step reads. */
const readAtOnce = 2_000

/** Seconds between the steps of a job, and while the webhook of its last deliveries fails or none can be served. */
const pace = 0.5
const paceOfFailing = 10

const Job = Schema.Struct({
  id: ReplayId,
  domainId: DomainId,
  status: ReplayStatus,
  since: Schema.NullOr(Schema.DateTimeUtcFromDate),
  until: Schema.NullOr(Schema.DateTimeUtcFromDate),
  recipient: Schema.NullOr(Schema.String),
  webhookId: Schema.NullOr(WebhookId),
  open: Schema.Array(EventId),
  step: Schema.Int,
  position: Schema.BigInt,
  below: Schema.BigInt,
  total: Schema.Int,
  queued: Schema.Int,
  startedAt: Schema.DateTimeUtcFromDate,
  isServed: Schema.Boolean
})
type Job = typeof Job.Type

interface Outcome {
  readonly eventId: EventId
  readonly outcome: "delivered" | "failed" | "open"
  /** Of its webhook. Null without one. */
  readonly isFailing: boolean | null
}

/** The number of deliveries that may be due in this step: a failure halves it, an answered step doubles it. */
const stepOf = ({ isServed, step }: Job, open: number, isFailing: boolean) => {
  if (isFailing) return Math.max(1, Math.floor(step / 2))
  return isServed && open * 4 <= step ? Math.min(step * 2, mostDue) : step
}

/**
 * Takes the next step of the job that has waited longest, in one transaction, and returns its domain. The locked row
 * keeps other processes from it, and a process that dies leaves the job as before the step.
 */
export const step = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const take = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Job,
    execute: () => sql`
      SELECT replays.id, domain_id, replays.status, since, until, recipient, webhook_id, open, step, position, below,
        total, queued, replays.created_at AS started_at,
        domains.status <> 'disabled' AND targets.is_served AS is_served
      FROM replays
      JOIN domains ON domains.id = replays.domain_id
      CROSS JOIN LATERAL (
        SELECT coalesce(bool_or(action = 'pull' OR (action = 'webhook' AND paused_at IS NULL)), false) AS is_served
        FROM webhooks
        WHERE webhooks.domain_id = replays.domain_id
          AND (replays.webhook_id IS NULL OR webhooks.id = replays.webhook_id)
      ) AS targets
      WHERE state = 'running' AND turn_at <= now()
      ORDER BY turn_at LIMIT 1
      FOR UPDATE OF replays SKIP LOCKED
    `
  })

  /** What became of the deliveries made due by earlier steps. Removed ones count as failed. */
  const outcomes = (open: ReadonlyArray<EventId>) => sql<Outcome>`
    SELECT event_id, CASE
        WHEN deliveries.status = 'delivered' THEN 'delivered'
        WHEN deliveries.status <> 'pending' OR (leased_until IS NULL AND (attempts > spent OR due_at > now())) THEN 'failed'
        ELSE 'open'
      END AS outcome,
      action = 'webhook' AND failing_since IS NOT NULL AS is_failing
    FROM deliveries LEFT JOIN webhooks ON webhooks.id = ${DeliveryRows.ofDelivery(sql)}
    WHERE event_id = ANY(${open}::uuid[])
  `

  const next = Effect.fnUntraced(function* (job: Job, free: number) {
    // No more delivered events than were counted for the day.
    const left = job.status === "delivered" ? job.total - job.queued : mostDue
    if (left <= 0) return { ids: [], position: job.position, isAtEnd: true }
    const room = Math.min(free, left)
    if (!job.isServed || room <= 0) return { ids: [], position: job.position, isAtEnd: false }
    const read = yield* sql<ReplayCandidates.Candidate>`
      ${ReplayCandidates.read(sql, job, { above: job.position, below: job.below }, readAtOnce)} ORDER BY position
    `
    const wanted = read.filter(({ isWanted }) => isWanted).slice(0, room)
    const isFull = wanted.length === room
    return {
      ids: wanted.map(({ eventId }) => eventId),
      position: (isFull ? wanted : read).at(-1)?.position ?? job.position,
      isAtEnd: !isFull && read.length < readAtOnce
    }
  })

  return yield* sql.withTransaction(
    Effect.gen(function* () {
      const [job] = yield* Bugs.die(take())
      if (job === undefined) return undefined
      const found = job.open.length === 0 ? [] : yield* outcomes(job.open)
      const open = found.flatMap(({ eventId, outcome }) => (outcome === "open" ? [eventId] : []))
      const delivered = found.filter(({ outcome }) => outcome === "delivered").length
      const failed = job.open.length - open.length - delivered
      const isFailing = found.some((one) => one.isFailing === true)
      const most = stepOf(job, open.length, isFailing)
      const { ids, isAtEnd, position } = yield* next(job, most - open.length)
      const { domainId, id, status, webhookId } = job
      const queued = ids.length === 0 ? [] : yield* DeliveryRows.replayMany(sql, { domainId, status, ids, webhookId })
      const unserved = ids.length - queued.length
      const openNow = [...open, ...queued.map(({ eventId }) => eventId)]
      const isDone = isAtEnd && openNow.length === 0
      yield* sql`
        UPDATE replays SET
          queued = queued + ${queued.length}::int, total = greatest(total, queued + ${queued.length}::int),
          delivered = delivered + ${delivered}::int,
          failed = failed + ${failed + unserved}::int, unserved = unserved + ${unserved}::int,
          open = ${openNow}::uuid[], step = ${most}, position = ${position},
          state = ${isDone ? "done" : "running"}, finished_at = CASE WHEN ${isDone}::boolean THEN now() END,
          turn_at = now() + make_interval(secs => ${job.isServed && !isFailing ? pace : paceOfFailing}::float8)
        WHERE id = ${id}
      `
      return { domainId, queued: new Set(queued.map((row) => row.webhookId)) }
    })
  )
})

/** Carries jobs out while the process runs, and leaves the database to others half of the time. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const feed = yield* EventFeed
    const isDue = yield* (yield* DueWork).watch(
      sql`SELECT true FROM replays WHERE state = 'running' AND turn_at <= now() LIMIT 1`
    )
    const round = Effect.gen(function* () {
      if (!(yield* isDue)) return yield* Effect.sleep("500 millis")
      const began = yield* Elapsed.millis
      const stepped = yield* step(sql)
      if (stepped === undefined) return yield* Effect.sleep("500 millis")
      for (const due of stepped.queued) feed.announce(stepped.domainId, { due })
      yield* Effect.sleep((yield* Elapsed.millis) - began)
    })
    yield* BackgroundLoop.endless("A step of a replay failed; it is tried again", round)
  })
)
