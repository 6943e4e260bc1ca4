import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Schema } from "effect"
import * as AddressQuery from "../../../src/http/requests/AddressQuery.ts"

const recipient = Schema.decodeSync(AddressQuery.Recipient)

describe("The recipient of a query", () => {
  it("is compared with the domain in canonical form, as mail is stored", () => {
    assert.strictEqual(recipient("Signup@münchen.example"), "Signup@xn--mnchen-3ya.example")
    assert.strictEqual(recipient("a@Shop.Example."), "a@shop.example")
    assert.strictEqual(recipient("a b@shop.example"), "a+b@shop.example")
  })

  it("stays as it is without a valid domain", () => {
    assert.strictEqual(recipient("a@-.example"), "a@-.example")
  })

  it("is refused without an @ between two characters, or with NUL", () => {
    for (const text of ["", "@", "a@", "@a", "@@", "plain", "a@b\0"]) assert.throws(() => recipient(text), /an address/)
    assert.strictEqual(recipient("@@@"), "@@@")
  })

  it.live("is refused in a time that grows with its length, not with the square of it", () =>
    Effect.gen(function* () {
      const started = yield* Clock.currentTimeMillis
      assert.throws(() => recipient(`${"@".repeat(300_000)}\0`))
      assert.isBelow((yield* Clock.currentTimeMillis) - started, 5_000)
    })
  )
})
