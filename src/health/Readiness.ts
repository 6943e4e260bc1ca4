import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Outage from "../database/Outage.ts"
import * as Replication from "../database/Replication.ts"
import * as Rights from "../database/Rights.ts"
import { Unavailable } from "../model/ApiError.ts"
import { RawStore } from "../providers/storage/RawStore.ts"
import * as Settings from "../Settings.ts"
import * as Elapsed from "../schedule/Elapsed.ts"
import * as OneRun from "../schedule/OneRun.ts"

/** How long a write check is cached, because monitors and load balancers ask often. */
const lookEvery = "5 seconds"

const mostTime = "3 seconds"

/**
 * Checks that the database answers, is no standby, keeps what it confirms, accepts writes, and lets the role write mail.
 * Also checks the raw store: for `service` in every process, for `process` in those with the role smtp. Fails with what
 * does not work.
 */
export const make = Effect.fnUntraced(function* (scope: "process" | "service") {
  const sql = yield* SqlClient.SqlClient
  const raw = yield* RawStore
  const roles = yield* Settings.roles

  const within = <A, E>(work: Effect.Effect<A, E>, message: string) =>
    work.pipe(
      Effect.timeout(mostTime),
      Effect.tapError((error) => Effect.logWarning(message, error)),
      Effect.mapError(() => new Unavailable({ message }))
    )

  const database = within(
    Effect.gen(function* () {
      const lacking = yield* Rights.trouble(sql)
      if (lacking !== undefined) return lacking
      yield* sql`
        INSERT INTO write_trials (tried_at) VALUES (now()) ON CONFLICT (one_row) DO UPDATE SET tried_at = now()
      `
      return undefined
    }),
    "The database takes no writes: see whether its disk is full (df, df -i), or whether it is a standby"
  ).pipe(
    Effect.flatMap((lacking) =>
      lacking === undefined
        ? Effect.void
        : Effect.andThen(Effect.logWarning(lacking), Effect.fail(new Unavailable({ message: lacking })))
    )
  )
  const store = within(
    // A call of a disk that hangs cannot be interrupted.
    yield* OneRun.make(raw.writable),
    "Raw messages can't be written: see whether their disk is full (df, df -i) or their bucket gone"
  )

  const writes = yield* Effect.all([database, ...(scope === "service" || roles.includes("smtp") ? [store] : [])], {
    concurrency: "unbounded",
    discard: true
  }).pipe(
    // The first client may disconnect, while others wait for the same check.
    Effect.uninterruptible,
    Elapsed.cached(lookEvery)
  )

  const answers = Replication.look(sql).pipe(
    Effect.mapError(Outage.inWords),
    Effect.flatMap((seen) => {
      const trouble = Replication.trouble(seen)
      return trouble === undefined ? Effect.void : Effect.fail(trouble)
    }),
    Effect.timeoutOrElse({
      duration: mostTime,
      orElse: () => Effect.fail("The database does not answer. Retry in 5 s")
    }),
    Effect.mapError((message) => new Unavailable({ message }))
  )
  return Effect.andThen(answers, writes)
})
