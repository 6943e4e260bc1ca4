import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { longestSymbol, longestVirus, mostSymbols, type Spam, unscanned } from "../../src/model/Spam.ts"
import * as Traits from "../../src/model/Traits.ts"
import * as Scanned from "../../src/reading/Scanned.ts"

const spam = (verdict: Spam["verdict"]): Spam => ({ ...unscanned, verdict })

describe("A scan", () => {
  it("is the last field of a payload, and takes no more bytes than are left for it", () => {
    const longest: Spam = {
      verdict: "virus",
      score: -12_345.67,
      required: 12_345.67,
      symbols: Array.from({ length: mostSymbols }, () => ({ name: "本".repeat(longestSymbol), score: -12_345.67 })),
      virus: "本".repeat(longestVirus)
    }
    const payload = Buffer.from(JSON.stringify({ text: "zoë", trust: {} }))
    const whole = Buffer.from(Scanned.payload(payload, longest))
    assert.isAtMost(whole.byteLength - payload.byteLength, Scanned.mostBytes)
    const decoded = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Unknown))(whole.toString())
    assert.deepStrictEqual(decoded, { text: "zoë", trust: {}, spam: longest })
  })

  it("holds a delivery only where the domain says so, and never one that was not scanned", () => {
    for (const verdict of ["clean", "spam", "virus", "unknown"] as const) {
      assert.isNull(Scanned.hold(null, spam(verdict), "tag"))
      assert.strictEqual(Scanned.hold("sender_blocked", spam(verdict), "tag"), "sender_blocked")
    }
    assert.deepStrictEqual(
      (["clean", "spam", "virus", "unknown"] as const).map((verdict) => Scanned.hold(null, spam(verdict), "hold")),
      [null, "spam", "virus", null]
    )
  })

  it("names the virus before the sender rule, and the rule before spam", () => {
    assert.strictEqual(Scanned.hold("sender_not_allowed", spam("virus"), "hold"), "virus")
    assert.strictEqual(Scanned.hold("sender_not_allowed", spam("spam"), "hold"), "sender_not_allowed")
  })

  it("has bits of its own in the traits of an event", () => {
    const others = 0xff
    const all = (["clean", "spam", "virus", "unknown"] as const).map(Traits.ofVerdict)
    assert.strictEqual(new Set(all).size, 4)
    for (const bits of all) {
      assert.strictEqual(bits & Traits.verdictBits, bits)
      assert.strictEqual(bits & others, 0)
    }
  })
})
