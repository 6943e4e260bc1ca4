import { assert, describe, it } from "@effect/vitest"
import { Cause } from "effect"
import { notStored } from "../../src/intake/NotStored.ts"
import { RawStoreError } from "../../src/providers/storage/RawStoreError.ts"

describe("A message that could not be stored", () => {
  it("names the innermost error, also of a cause", () => {
    const disk = new RawStoreError({ cause: new Error("write failed", { cause: new Error("The disk is full") }) })
    for (const cause of [disk, Cause.fail(disk)])
      assert.strictEqual(notStored(cause).message, "The message could not be stored: The disk is full")
    assert.strictEqual(notStored("no answer").message, "The message could not be stored: no answer")
  })
})
