import { assert, describe, it } from "@effect/vitest"
import * as SenderAddress from "../../src/trust/SenderAddress.ts"

describe("The sender of a mail", () => {
  it("has one address, however it is written", () => {
    for (const written of [
      "jane@a.example",
      "JANE@A.example",
      '"jane"@a.example',
      '"j\\ane"@a.example.',
      "jane@a.example.."
    ]) {
      assert.strictEqual(SenderAddress.canonical(written), "jane@a.example", written)
    }
    assert.strictEqual(SenderAddress.canonical("jane@MÜNCHEN.example"), "jane@xn--mnchen-3ya.example")
    assert.strictEqual(SenderAddress.canonical('"a b"@a.example'), "a b@a.example")
  })

  it("is taken by its address, its domain and the parents of that", () => {
    const senders = SenderAddress.sendersOf(["ada@mail.a.example", "bob@b.example", ""])
    const taken = ["ada@mail.a.example", "bob@b.example", "mail.a.example", "b.example", "*.a.example", "*.example"]
    for (const value of taken) assert.isTrue(SenderAddress.takesOne(value, senders), value)
    const others = ["bob@mail.a.example", "a.example", "*.mail.a.example", "*.b.example", "l.a.example", "example"]
    for (const value of others) assert.isFalse(SenderAddress.takesOne(value, senders), value)
  })

  it("is compared in time that grows with its length alone", () => {
    const dots = ".".repeat(2_000_000)
    assert.isFalse(SenderAddress.matches("a.example", `a@${dots}x`))
    assert.isTrue(SenderAddress.matches("a.example", `a@a.example${dots}`))
    assert.isTrue(SenderAddress.matches("a.example", `"${"\\x".repeat(1_000_000)}"@a.example`))
  })
})
