import { assert, describe, it } from "@effect/vitest"
import * as Quoted from "../../../src/content/html/Quoted.ts"
import * as QuoteMarks from "../../../src/content/html/QuoteMarks.ts"
import * as MarkedQuotes from "../../../src/content/reply/MarkedQuotes.ts"

const marks = [...QuoteMarks.quotations, ...QuoteMarks.heads].map((mark) => mark.replace("(?:_\\d+)?", ""))

describe("The mark of a quotation", () => {
  for (const mark of marks) {
    it(`${mark} is cut out of a reply, and gives no codes`, () => {
      const cut = MarkedQuotes.cut(`<p>Yes</p><div class="${mark}">Old words</div>`)
      assert.include(cut, "Yes")
      assert.notInclude(cut, "Old words")
      assert.isTrue(Quoted.isQuote("div", mark, ""))
    })
  }

  it("is not a word of a text", () => {
    assert.isUndefined(MarkedQuotes.cut("<p>A quotation of hs_reply</p>"))
  })
})
