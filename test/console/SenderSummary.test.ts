import { assert, describe, it } from "@effect/vitest"
import * as SenderSummary from "../../src/console/mail/SenderSummary.ts"

const none = { spf: "none", dkim: "none", dmarc: "none", arc: "none" } as const

describe("The summary of sender checks in the console", () => {
  it("names a From field with several authors, and no missing policy, for a DMARC permerror", () => {
    const summary = SenderSummary.of({ ...none, spf: "pass", dmarc: "permerror" })
    assert.strictEqual(
      summary,
      "The From field does not name one clear author, so no address is confirmed. It may be forged."
    )
  })

  it("names the header if every check is a permerror", () => {
    const all = { spf: "permerror", dkim: "permerror", dmarc: "permerror", arc: "permerror" } as const
    assert.match(SenderSummary.of(all), /^The header is too large or has too many signatures to check/)
  })

  it("names silent DNS for a DMARC temperror, whatever SPF says", () => {
    assert.match(SenderSummary.of({ ...none, spf: "pass", dmarc: "temperror" }), /^DNS did not answer/)
  })

  it("names a missing policy only if DMARC found none and SPF passed", () => {
    assert.match(SenderSummary.of({ ...none, spf: "pass" }), /publishes no DMARC policy/)
    for (const authentication of [none, { ...none, spf: "pass", dmarc: "neutral" } as const]) {
      assert.strictEqual(SenderSummary.of(authentication), "Nothing confirms the From address.")
    }
  })
})
