import { assert, it } from "@effect/vitest"
import { Cause } from "effect"
import { SqlError } from "effect/sql"
import { RawStoreError } from "../../src/providers/storage/RawStoreError.ts"
import * as ReadFailure from "../../src/reading/ReadFailure.ts"

it("The log of a message without an event tells a failed write and a failed load from a failed parse", () => {
  const full = Object.assign(new Error("could not extend file"), { code: "53100" })
  const reason = new SqlError.UnknownError({ cause: full, operation: "execute" })
  const inWords = (error: unknown) => ReadFailure.inWords(Cause.fail(error))
  assert.strictEqual(inWords(new SqlError.SqlError({ reason })), "The event of a message could not be stored")
  assert.strictEqual(inWords(new RawStoreError({ cause: "gone" })), "A message could not be loaded")
  assert.strictEqual(ReadFailure.inWords(Cause.die(new Error("a bug"))), "A message could not be parsed")
})
