import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as DomainNames from "../../src/domains/DomainNames.ts"

const longestLabel = "a".repeat(63)
/** 253 characters, the maximum in DNS. */
// 237 characters: with `_service-verify.` in front, 253.
const longestName = `${`${longestLabel}.`.repeat(3)}${"a".repeat(33)}.example.com`

/** Input and canonical form. */
const names: ReadonlyArray<readonly [typed: string, canonical: string]> = [
  ["example.com", "example.com"],
  ["Mail.EXAMPLE.Com", "mail.example.com"],
  ["example.com.", "example.com"],
  ["a.b.c.example.co.uk", "a.b.c.example.co.uk"],
  ["3com.com", "3com.com"],
  ["customer.github.io", "customer.github.io"],
  ["inbox.some-new-tld-of-nobody", "inbox.some-new-tld-of-nobody"],
  ["bücher.example", "xn--bcher-kva.example"],
  ["BÜCHER.example", "xn--bcher-kva.example"],
  ["bu\u0308cher.example", "xn--bcher-kva.example"],
  ["xn--bcher-kva.example", "xn--bcher-kva.example"],
  ["XN--BCHER-KVA.EXAMPLE", "xn--bcher-kva.example"],
  ["аррӏе.com", "xn--80ak6aa92e.com"],
  ["例え.jp", "xn--r8jz45g.jp"],
  [`${longestLabel}.com`, `${longestLabel}.com`],
  [longestName, longestName],
  [`${longestName}.`, longestName]
]

const refused: ReadonlyArray<readonly [typed: string, why: string]> = [
  ["", "nothing"],
  [".", "the root"],
  ["example..com", "an empty label"],
  [".example.com", "an empty label in front"],
  ["example.com..", "two trailing dots"],
  ["com", "a public suffix"],
  ["co.uk", "a public suffix of two labels"],
  ["github.io", "a private public suffix"],
  ["рф", "a public suffix in Unicode"],
  ["localhost", "a single label"],
  ["127.0.0.1", "an IPv4 address"],
  ["127.1", "a short IPv4 address"],
  ["0x7f.0.0.1", "a hexadecimal IPv4 address"],
  ["[::1]", "an IPv6 literal"],
  ["::1", "an IPv6 address"],
  ["example.123", "a numeric top-level domain"],
  ["_dmarc.example.com", "an underscore"],
  ["-example.com", "a leading hyphen"],
  ["example-.com", "a trailing hyphen"],
  [`${"a".repeat(64)}.com`, "a label of 64 characters"],
  [`a${longestName}`, "238 characters"],
  [`${"a".repeat(16)}${longestName}`, "253 characters"],
  [`${"a".repeat(17)}${longestName}`, "254 characters"],
  ["a".repeat(100_000), "100,000 characters"],
  ["ｅxample.com", "a full-width letter"],
  ["example。com", "an ideographic full stop"],
  ["ex\u00adample.com", "a soft hyphen"],
  ["ex\u200bample.com", "a zero-width space"],
  ["xn--example-.com", "an A-label of plain ASCII"],
  ["xn--.com", "an empty A-label"],
  ["xn--zzzzzzzzzzzz99999.com", "an A-label that decodes to nothing"],
  ["xn--bcher-kvä.example", "an A-label with Unicode in it"],
  ["exam ple.com", "a space"],
  ["example.com\0", "NUL"],
  ["example.com\r\nx", "a line break"],
  ["user@example.com", "an address"],
  ["http://example.com", "a URL"],
  ["example.com/path", "a path"],
  ["example.com:25", "a port"],
  ["*.example.com", "a wildcard"],
  ["example.com#x", "a fragment"]
]

describe("DomainNames", () => {
  for (const [typed, canonical] of names) {
    it.effect(`parses ${short(typed)} as ${short(canonical)}`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* DomainNames.parse(typed), canonical)
        assert.strictEqual(DomainNames.canonical(typed), canonical)
      })
    )
  }

  for (const [typed, why] of refused) {
    it.effect(`rejects ${why}: ${short(JSON.stringify(typed))}`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(DomainNames.parse(typed))
        assert.strictEqual(error._tag, "Invalid")
        assert.match(error.message, /^domain: Expected a name such as example\.com/)
        assert.isBelow(error.message.length, 200)
      })
    )
  }

  it("rejects overlong input in constant time", () => {
    const began = performance.now()
    for (let times = 0; times < 10; times++) {
      assert.isUndefined(DomainNames.canonical(`a${"\u0316\u0301".repeat(8_000)}.example`))
    }
    assert.isBelow(performance.now() - began, 1_000)
  })

  it("has either spelling of a name and of a part of an address, and no other of a text longer than any name", () => {
    assert.deepStrictEqual(DomainNames.spellings("Jo@example.com"), ["Jo@example.com"])
    assert.deepStrictEqual(DomainNames.spellings("jo@münchen.de"), ["jo@münchen.de", "jo@xn--mnchen-3ya.de"])
    assert.deepStrictEqual(DomainNames.spellings("xn--mnchen-3ya"), ["xn--mnchen-3ya", "münchen"])
    const long = "ü".repeat(1_100)
    assert.deepStrictEqual(DomainNames.spellings(long), [long])
  })

  it("recognizes the names of the platform", () => {
    assert.isTrue(DomainNames.isWithin("inlet.test", "inlet.test"))
    assert.isTrue(DomainNames.isWithin("a.inbox.inlet.test", "inlet.test"))
    assert.isFalse(DomainNames.isWithin("notinlet.test", "inlet.test"))
    assert.isFalse(DomainNames.isWithin("inlet.test.example.com", "inlet.test"))
  })
})

function short(text: string): string {
  return text.length > 60 ? `${text.slice(0, 20)}… (${text.length} characters)` : text
}
