import { Context, Effect, Exit, Layer, Number as Num } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Patience from "../database/Patience.ts"
import * as ExpiringRows from "../domains/ExpiringRows.ts"
import { type RawRef, rawRef } from "../model/InboundEmail.ts"
import * as ExpiredOperationalEvents from "../operations/ExpiredOperationalEvents.ts"
import { RawStore } from "../providers/storage/RawStore.ts"
import * as ExpiredOrders from "../purchase/ExpiredOrders.ts"
import * as ExpiredRefusals from "../refusals/ExpiredRefusals.ts"
import * as Settings from "../Settings.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import { keptDays } from "../statistics/DomainStatistics.ts"
import { idleHours } from "../workspaces/ConsoleSessions.ts"
import * as GivenCodes from "../workspaces/GivenCodes.ts"
import * as IdempotencyKeys from "../workspaces/IdempotencyKeys.ts"
import * as ExpiredMail from "./ExpiredMail.ts"
import * as OldSegments from "./OldSegments.ts"
import * as StoreOwner from "./StoreOwner.ts"
import * as SweeperClock from "./SweeperClock.ts"
import * as WithoutRow from "./WithoutRow.ts"

/** Rows removed by one statement: few, because mail waits for it at the embedded database's only session. */
const batch = 100

/** Days until an unverified domain is removed. */
const pendingDays = 30

/** Fewer than mails, because a demo inbox includes its mails. */
const demoBatch = 50

/** Removes expired data from the database and the raw store. */
export class Sweeper extends Context.Service<
  Sweeper,
  {
    /** Whether a round may remove anything: not for a day after the clock has moved by more than a day. */
    readonly mayRemove: Effect.Effect<boolean>
    /** Whether the files and objects are of this database. What no row knows is removed from no other. */
    readonly ownsFiles: Effect.Effect<boolean>
    /** The same for the log. */
    readonly ownsLog: Effect.Effect<boolean>
    /** Expired messages, events and attempts, with their raw messages. Returns the number of messages. */
    readonly expired: Effect.Effect<number>
    /** Segments of the log whose messages have all expired. Returns their number. */
    readonly segments: Effect.Effect<number>
    /** Files and objects without a row for seven days. Returns the number of those that are gone. */
    readonly orphans: Effect.Effect<number>
    /** Domains that were not verified in time, and expired keys, counters and refusals. */
    readonly leftovers: Effect.Effect<void>
    /** Expired demo inboxes with their mail. Returns their number. */
    readonly demos: Effect.Effect<number>
  }
>()("inlet/retention/Sweeper") {
  static readonly layer = Layer.effect(
    Sweeper,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const raw = yield* RawStore
      const { retentionDays } = yield* Settings.limits

      /** Returns the number of those that are gone. */
      const removeRaw = (refs: ReadonlyArray<RawRef>) =>
        Effect.forEach(
          refs,
          (ref) =>
            raw.remove(ref).pipe(
              Effect.as(1),
              Effect.catchTag("RawStoreError", (error) =>
                Effect.as(Effect.logWarning("A raw message could not be removed. Inlet retries tomorrow", error), 0)
              )
            ),
          { concurrency: 8 }
        ).pipe(Effect.map(Num.sumAll))

      const removeExpired = yield* ExpiredMail.make(retentionDays)

      const expireBatch = Effect.gen(function* () {
        const emails = yield* removeExpired
        // The row first: a crash in between leaves bytes without a row, never an event without its message. Bytes in
        // the log expire with their segment.
        yield* removeRaw(emails.flatMap(({ domainId, hasPlace, id }) => (hasPlace ? [] : [rawRef(domainId, id)])))
        const undelivered = emails.filter(({ isUndelivered }) => isUndelivered)
        if (undelivered.length > 0) {
          const domains = new Set(undelivered.map(({ domainId }) => domainId))
          yield* Effect.logWarning(
            "Messages expired that no webhook has accepted: pending, held or dead. They were removed"
          ).pipe(Effect.annotateLogs({ messages: undelivered.length, domain_ids: [...domains].join(" ") }))
        }
        return emails.length
      })

      const expired = (retentionDays === 0 ? Effect.succeed(0) : inBatches(ExpiredMail.batch, expireBatch)).pipe(
        Effect.orDie,
        Effect.withSpan("Sweeper.expired")
      )

      const forgetKeys = Effect.map(
        sql`
          DELETE FROM received_once WHERE key = ANY(ARRAY(
            SELECT key FROM received_once WHERE received_at < now() - interval '7 days'
            ORDER BY received_at LIMIT ${batch}
            FOR UPDATE SKIP LOCKED
          ))
          RETURNING 1 AS forgotten
        `,
        (keys) => keys.length
      )

      const forgetAnswers = Effect.map(
        sql`
          DELETE FROM idempotency_keys WHERE (workspace_id, route, key) IN (
            SELECT workspace_id, route, key FROM idempotency_keys
            WHERE begun_at < now() - make_interval(hours => ${IdempotencyKeys.keptHours})
            ORDER BY begun_at LIMIT ${batch}
            FOR UPDATE SKIP LOCKED
          )
          RETURNING 1 AS forgotten
        `,
        (answers) => answers.length
      )

      const steps: ReadonlyArray<Effect.Effect<unknown, SqlError>> = [
        sql`
          UPDATE workspaces SET previous_signing_secret = NULL, previous_secret_until = NULL
          WHERE previous_secret_until < now()
        `,
        ExpiringRows.deleteUnverified(sql, pendingDays),
        inBatches(batch, forgetKeys),
        inBatches(batch, forgetAnswers),
        inBatches(batch, GivenCodes.forgetSome(sql, batch)),
        inBatches(batch, ExpiredRefusals.removeSome(sql, retentionDays, batch)),
        inBatches(batch, ExpiredOrders.removeSome(sql, batch)),
        inBatches(batch, ExpiredOperationalEvents.removeSome(sql, retentionDays, batch)),
        ExpiredRefusals.removeDays(sql, keptDays),
        sql`DELETE FROM daily_intake WHERE day < (now() AT TIME ZONE 'UTC')::date - 1`,
        sql`DELETE FROM domain_days WHERE day < (now() AT TIME ZONE 'UTC')::date - ${keptDays}::int`,
        sql`DELETE FROM domain_day_latencies WHERE day < (now() AT TIME ZONE 'UTC')::date - ${keptDays}::int`,
        sql`DELETE FROM console_sessions WHERE last_used_at < now() - make_interval(hours => ${idleHours})`,
        sql`DELETE FROM replays WHERE finished_at < now() - interval '30 days'`,
        sql`DELETE FROM console_links WHERE expires_at < now()`,
        sql`DELETE FROM client_limits WHERE day < (now() AT TIME ZONE 'UTC')::date - 1`
      ]

      // Each in its turn, also after one that failed.
      const leftovers = Effect.forEach(steps, Effect.exit).pipe(
        Effect.flatMap(Exit.asVoidAll),
        Effect.orDie,
        Effect.withSpan("Sweeper.leftovers")
      )

      const removeDemos = ExpiringRows.deleteDemos(sql, demoBatch)

      const demoBatchGone = Effect.map(removeDemos(), ({ length }) => length)

      const demos = inBatches(demoBatch, demoBatchGone).pipe(Effect.orDie, Effect.withSpan("Sweeper.demos"))

      return Sweeper.of({
        mayRemove: yield* SweeperClock.make,
        ownsFiles: yield* StoreOwner.make(raw.owner),
        ownsLog: yield* StoreOwner.make(raw.segments.owner),
        demos,
        expired,
        segments: yield* OldSegments.make,
        orphans: yield* WithoutRow.make(removeRaw),
        leftovers
      })
    })
  )
}

/** Removes batch after batch until one is not full. Returns the total. */
const inBatches = Effect.fnUntraced(function* <E, R>(size: number, removeBatch: Effect.Effect<number, E, R>) {
  let removed = 0
  let last = size
  while (last === size) {
    last = yield* removeBatch
    removed += last
    // Mail takes precedence.
    yield* Effect.sleep("10 millis")
  }
  return removed
})

/** Removes expired data every ten minutes, and bytes without a row once a day. */
export const layerWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const sweeper = yield* Sweeper
    const failed = (name: string) => `Sweeping ${name} failed; it is tried again`
    const sweep = <A>(name: string, work: Effect.Effect<A>) =>
      BackgroundLoop.survive(failed(name), Patience.forMuch(work))
    yield* BackgroundLoop.every(
      "10 minutes",
      failed("what is past its time"),
      sweep("expired mail", sweeper.expired).pipe(
        Effect.andThen(sweep("old segments", Effect.when(sweeper.segments, sweeper.ownsLog))),
        Effect.andThen(sweep("demo inboxes", sweeper.demos)),
        Effect.andThen(sweep("leftovers", sweeper.leftovers)),
        Effect.when(sweeper.mayRemove)
      )
    )
    // Not in the first minute, which is busy.
    yield* Effect.sleep("1 minute").pipe(
      Effect.andThen(
        BackgroundLoop.every(
          "1 day",
          failed("orphans"),
          Effect.when(Patience.forMuch(Effect.when(sweeper.orphans, sweeper.ownsFiles)), sweeper.mayRemove)
        )
      ),
      Effect.forkScoped
    )
  })
)
