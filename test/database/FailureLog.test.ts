import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Logger } from "effect"
import { SqlError } from "effect/sql"
import * as FailureLog from "../../src/database/FailureLog.ts"
import { notStored } from "../../src/intake/NotStored.ts"
import { RawStoreError } from "../../src/providers/storage/RawStoreError.ts"

/** The parts of the log entry about a failure. */
const logged = (cause: Cause.Cause<unknown>) => {
  const entries: Array<ReadonlyArray<unknown>> = []
  const logger = Logger.make(({ cause, message }) => void entries.push([message, ...cause.reasons].flat()))
  return Effect.as(Effect.provide(FailureLog.error("It failed", cause), Logger.layer([logger])), entries)
}

describe("The log of a failure", () => {
  it.effect("is one line with the reason while the database is unavailable", () =>
    Effect.gen(function* () {
      const cause = Object.assign(new Error("could not extend file"), { code: "53100" })
      const full = new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause, operation: "execute" }) })
      for (const failure of [full, notStored(full)]) {
        assert.deepStrictEqual(yield* logged(Cause.fail(failure)), [
          [
            "It failed. The disk of the database is full. The operator has to free space on it, or inodes (df -i). Nothing has to be restarted: could not extend file"
          ]
        ])
      }
    })
  )

  it.effect("has the cause of anything else, in the same line too", () =>
    Effect.gen(function* () {
      const bug = new Error("a bug")
      const [entry] = yield* logged(Cause.die(bug))
      assert.strictEqual(entry?.[0], "It failed: a bug")
      assert.include(JSON.stringify(entry?.slice(1).map((part) => Object(part).defect?.message)), "a bug")
      const refused = new SqlError.UnknownError({ cause: { code: "42601" }, operation: "execute" })
      const [other = []] = yield* logged(Cause.fail(new SqlError.SqlError({ reason: refused })))
      assert.isAbove(other.length, 1)
      const noSpace = new RawStoreError({ cause: new Error("ENOSPC: no space left on device, write") })
      const [full = []] = yield* logged(Cause.fail(notStored(noSpace)))
      assert.strictEqual(full[0], "It failed: ENOSPC: no space left on device, write")
    })
  )
})
