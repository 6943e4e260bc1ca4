import { assert, describe, it } from "@effect/vitest"
import * as Quoted from "../../../src/content/html/Quoted.ts"
import * as QuoteMarks from "../../../src/content/html/QuoteMarks.ts"
import * as SeenHtml from "../../../src/content/html/SeenHtml.ts"

describe("An element", () => {
  it.each([
    ["hs_reply", "quotation"],
    [" em_quote ", "quotation"],
    [" gmail_quote gmail_quote_container ", "around"],
    ["x_divrplyfwdmsg", "head"],
    ["x_x_appendonsend", "head"],
    ["yiv1yahoo_quoted", "quotation"],
    ["ydp1fyahoo_quoted", "quotation"],
    ["ydp1fsignature", "signature"],
    ["", undefined],
    ["p12", undefined],
    ["em_quotes", undefined],
    ["my_hs_reply", undefined],
    ["yiv1gmail_quote", undefined],
    ["content-body", undefined]
  ] as const)('with the class or id "%s" has the mark %s', (names, mark) => {
    assert.strictEqual(Quoted.markOf(names, ""), mark)
  })
})

describe("The mark of a quotation", () => {
  const marks = [...QuoteMarks.quotations, ...QuoteMarks.heads].map((mark) => mark.replace("(?:_\\d+)?", ""))

  it.each(marks)("%s is cut out of a reply, and gives no codes", (mark) => {
    const { lines, ownText } = SeenHtml.see(`<p>Yes</p><div class="${mark}">Old words</div>`)
    assert.include(ownText, "Yes")
    assert.notInclude(ownText, "Old words")
    assert.deepStrictEqual(
      lines.map(({ quoted }) => quoted),
      [false, true]
    )
  })

  it("is not a word of a text", () => {
    assert.isFalse(SeenHtml.see("<p>A quotation of hs_reply</p>").hasGaps)
  })
})
