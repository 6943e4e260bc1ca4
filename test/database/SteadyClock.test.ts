import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import * as EmbeddedDatabase from "../../src/database/EmbeddedDatabase.ts"
import * as SteadyClock from "../../src/database/SteadyClock.ts"

const hour = 3_600_000

/** A clock on top of a system time that the test sets. */
const clock = () => {
  let passed = 0
  let set = 0
  const now = SteadyClock.make(
    () => 1_000_000_000 + passed + set,
    () => passed
  )
  const start = now()
  return {
    set: (millis: number) => {
      set += millis
    },
    /** Advances the time, and returns what the clock has advanced since its start. */
    past: (millis: number) => {
      passed += millis
      return now() - start
    }
  }
}

describe("The clock of the embedded database", () => {
  it("does not jump when the system clock is set by 2 h, and is correct again within a day", () => {
    for (const leap of [2 * hour, -2 * hour]) {
      const { past, set } = clock()
      assert.strictEqual(past(1_000), 1_000)
      set(leap)
      assert.closeTo(past(60_000), 61_000, 6_000)
      for (let hours = 0; hours < 24; hours++) past(hour)
      assert.strictEqual(past(0), 61_000 + 24 * hour + leap)
    }
  })

  it("never runs backwards, and follows a larger change at once", () => {
    const { past, set } = clock()
    set(-2 * hour)
    let before = past(0)
    for (let seconds = 0; seconds < 100; seconds++) {
      const now = past(1_000)
      assert.isAbove(now, before)
      before = now
    }
    set(1_000 * hour)
    assert.isAbove(past(1), 900 * hour)
  })

  it.live("is the clock of PostgreSQL, so that a delivery due in minutes is not due after a change of 2 h", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-clock-" })
      const leaping = new URL("../LeapingPglite.ts", import.meta.url)
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`CREATE TABLE due AS SELECT now() + interval '5 minutes' AS at`
        yield* sql`SELECT 'leap'`
        const [row] =
          yield* sql`SELECT at > now() + interval '4 minutes' AND at < now() + interval '6 minutes' AS holds FROM due`
        assert.deepStrictEqual(row, { holds: true })
      }).pipe(Effect.provide(EmbeddedDatabase.layer(folder, leaping).pipe(Layer.provide(Logger.layer([])))))
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
