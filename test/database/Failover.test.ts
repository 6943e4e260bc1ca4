import type { PgConnection } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Pool } from "effect"
import { SqlError } from "effect/sql"
import * as Failover from "../../src/database/Failover.ts"

const refused = new SqlError.SqlError({
  reason: new SqlError.ConnectionError({ cause: new Error("Connection refused"), operation: "connect" })
})

/** A pool of one session. Its attempts to connect have these results, in order. */
const connecting = Effect.fnUntraced(function* (...attempts: ReadonlyArray<Effect.Effect<object, SqlError.SqlError>>) {
  let made = 0
  const pool = yield* Pool.make({
    acquire: Effect.suspend(() => attempts[made++] ?? Effect.die("asked again")),
    size: 1
  })
  // Failover only compares sessions, so plain objects stand for them.
  const sessions = pool as unknown as Pool.Pool<PgConnection.PgConnection, SqlError.SqlError>
  return Failover.sessionsOf({
    get: Pool.get(sessions),
    reserve: Pool.get(sessions),
    use: (run) => Pool.use(sessions, run),
    invalidate: (session) => Pool.invalidate(sessions, session)
  })
})

describe("A checkout", () => {
  const checkouts = {
    "of one statement": (sessions: Failover.Sessions) => sessions.use(Effect.succeed),
    "of a stream": (sessions: Failover.Sessions) => sessions.get,
    "of a transaction": (sessions: Failover.Sessions) => sessions.reserve
  }
  for (const [what, checkout] of Object.entries(checkouts)) {
    it.effect(`${what} succeeds if it waits for an attempt to connect that began in an outage`, () =>
      Effect.gen(function* () {
        const outage = yield* Deferred.make<object, SqlError.SqlError>()
        const session = { name: "session" }
        const sessions = yield* connecting(Deferred.await(outage), Effect.succeed(session))
        const asked = yield* Effect.forkChild(Effect.scoped(checkout(sessions)))
        yield* Effect.yieldNow
        yield* Deferred.fail(outage, refused)
        assert.strictEqual<object>(yield* Fiber.join(asked), session)
      })
    )

    it.effect(`${what} fails if the database is still away`, () =>
      Effect.gen(function* () {
        const sessions = yield* connecting(Effect.fail(refused), Effect.fail(refused), Effect.fail(refused))
        assert.strictEqual(yield* Effect.flip(Effect.scoped(checkout(sessions))), refused)
      })
    )
  }

  it.effect("does not run a statement again whose connection failed", () =>
    Effect.gen(function* () {
      const sessions = yield* connecting(Effect.succeed({}), Effect.succeed({}))
      let runs = 0
      const statement = Effect.suspend(() => {
        runs++
        return Effect.fail(refused)
      })
      assert.strictEqual(yield* Effect.flip(sessions.use(() => statement)), refused)
      assert.strictEqual(runs, 1)
    })
  )
})
