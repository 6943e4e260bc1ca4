import { assert, describe, it } from "@effect/vitest"
import { SqlError } from "effect/sql"
import * as Outage from "../../src/database/Outage.ts"

const failure = (cause: unknown) =>
  new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause, operation: "execute" }) })

describe("An outage of the database", () => {
  it("names the full disk of an embedded database, whose thread has ended", () => {
    const cause = new Error('could not write to file "pg_wal/xlogtemp.42": No space left on device')
    assert.match(
      Outage.inWords(failure(new Error("the thread ended", { cause }))),
      /^The disk of the database is full\./
    )
  })

  it("names the full disk of a PostgreSQL server by its SQLSTATE", () => {
    assert.match(Outage.inWords(failure({ code: "53100" })), /free space on it/)
  })

  it("says of any other outage that the database is out of reach", () => {
    assert.strictEqual(
      Outage.inWords(failure(new Error("connect ECONNREFUSED"))),
      "The database is out of reach. Retry in 5 s"
    )
  })
})
