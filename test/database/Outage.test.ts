import { assert, describe, it } from "@effect/vitest"
import { SqlError } from "effect/sql"
import * as Database from "../../src/database/Database.ts"
import * as Outage from "../../src/database/Outage.ts"

const failure = (cause: unknown) =>
  new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause, operation: "execute" }) })

describe("A database outage", () => {
  it("is a full disk if the thread of the embedded database ended for lack of space", () => {
    const cause = new Error('could not write to file "pg_wal/xlogtemp.42": No space left on device')
    assert.match(
      Outage.inWords(failure(new Error("the thread ended", { cause }))),
      /^The disk of the database is full\./
    )
  })

  it("is a full disk if a PostgreSQL server reports its SQLSTATE", () => {
    assert.match(Outage.inWords(failure({ code: "53100" })), /free space on it/)
  })

  it.each(["53300", "57P03", "58030", "25006", "55000"])("may pass by itself, as SQLSTATE %s", (code) => {
    const reasonOf = (state: string) =>
      new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause: { code: state }, operation: "execute" }) })
    assert.isTrue(Database.isUnreachable(reasonOf(code)))
    assert.isFalse(Database.isUnreachable(reasonOf("42601")))
  })

  it("is a restart or a failover if the server is no primary at the moment", () => {
    for (const code of ["57P01", "57P02", "57P03"]) {
      assert.match(Outage.inWords(failure({ code })), /^The database restarts, or a failover is under way\./)
    }
  })

  it("is a database that takes no writes if the server refuses them, and names both causes", () => {
    const cause = Object.assign(new Error("cannot execute INSERT in a read-only transaction"), { code: "25006" })
    const takesNone = "it is a standby, or default_transaction_read_only is on"
    assert.strictEqual(Outage.inWords(failure(cause)), `The database takes no writes: ${takesNone}. Retry in 5 s`)
    assert.strictEqual(
      Database.explain("db:5432", failure(cause)),
      `The database at db:5432 takes no writes (${cause.message}): ${takesNone}. Name the primary, wait for the end of a failover, or turn the setting off`
    )
  })

  it("is otherwise an unreachable database", () => {
    assert.strictEqual(
      Outage.inWords(failure(new Error("connect ECONNREFUSED"))),
      "The database is out of reach. Retry in 5 s"
    )
  })
})
