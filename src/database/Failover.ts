import type { PgConnection, PgPool } from "@effect/sql-pg"
import { Clock, Duration, Effect, Predicate } from "effect"
import type { SqlError } from "effect/sql"
import * as Outage from "./Outage.ts"

/** Whether an error may mean that another server is the primary now. */
const isSuspected = (error: SqlError.SqlError) => error.reason._tag === "ConnectionError" || Outage.isOfChange(error)

/** A pool whose sessions can be replaced together. */
export interface Sessions {
  readonly get: PgPool.PgPool["get"]
  readonly reserve: PgPool.PgPool["reserve"]
  readonly use: PgPool.PgPool["use"]
  readonly invalidate: PgPool.PgPool["invalidate"]
  /** Replaces this session and all that were opened before it, if the error may mean a failover. */
  readonly suspect: (session: PgConnection.PgConnection, error: SqlError.SqlError) => Effect.Effect<void>
}

/**
 * Long enough for the other attempts of the same moment to fail too. Real time, also if a test sets the fiber's clock,
 * because the server's time is real.
 */
const pause = Clock.Clock.defaultValue().sleep(Duration.millis(100))

/**
 * Repeats a failed checkout once. A waiting checkout gets the failure of any attempt to connect, even of one that began
 * up to 5 s ago, when the database was out of reach.
 */
const twice = (checkout: PgPool.PgPool["get"]): PgPool.PgPool["get"] =>
  Effect.catch(checkout, () => Effect.andThen(pause, checkout))

/**
 * After a failover, connections of the pool may still lead to the old primary, which has become a standby or was cut
 * off. The first error that may mean a failover makes all sessions of its generation stale. A stale session runs no
 * further statement.
 */
export const sessionsOf = (pool: Pick<PgPool.PgPool, "get" | "reserve" | "use" | "invalidate">): Sessions => {
  let newest = 0
  const generations = new WeakMap<object, number>()
  const identityOf = (session: PgConnection.PgConnection): object =>
    Predicate.hasProperty(session, "base") && Predicate.isObject(session.base) ? session.base : session

  const generationOf = (session: PgConnection.PgConnection) => {
    const identity = identityOf(session)
    const known = generations.get(identity)
    if (known !== undefined) return known
    generations.set(identity, newest)
    return newest
  }

  const current = (checkout: PgPool.PgPool["get"]): PgPool.PgPool["get"] =>
    Effect.suspend(() =>
      Effect.flatMap(checkout, (session) =>
        generationOf(session) === newest
          ? Effect.succeed(session)
          : Effect.andThen(pool.invalidate(session), current(checkout))
      )
    )

  const use: PgPool.PgPool["use"] = (run) =>
    Effect.suspend(() => {
      // A statement that has run is never repeated.
      let isCheckedOut = false
      const borrow = pool.use((session) => {
        isCheckedOut = true
        return generationOf(session) === newest
          ? Effect.map(run(session), (result) => ({ result }))
          : Effect.as(pool.invalidate(session), undefined)
      })
      return Effect.flatMap(
        Effect.catch(borrow, (error) => (isCheckedOut ? Effect.fail(error) : Effect.andThen(pause, borrow))),
        (done) => (done === undefined ? use(run) : Effect.succeed(done.result))
      )
    })

  return {
    get: current(twice(pool.get)),
    reserve: current(twice(pool.reserve)),
    use,
    invalidate: pool.invalidate,
    suspect: (session, error) =>
      isSuspected(error)
        ? Effect.suspend(() => {
            // Sessions of an earlier generation fail one after the other. Those opened since are not affected.
            if (generationOf(session) === newest) newest++
            return pool.invalidate(session)
          })
        : Effect.void
  }
}
