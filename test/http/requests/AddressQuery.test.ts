import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
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
})
