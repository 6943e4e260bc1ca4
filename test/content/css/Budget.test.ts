import { assert, describe, it } from "@effect/vitest"
import { Budget } from "../../../src/content/css/Budget.ts"
import type { Matched } from "../../../src/content/css/Selector.ts"
import * as Selector from "../../../src/content/css/Selector.ts"
import * as SeenHtml from "../../../src/content/html/SeenHtml.ts"

const element = (more: Partial<Matched> = {}): Matched => ({
  name: "p",
  id: "",
  classes: "",
  parent: undefined,
  previous: undefined,
  index: 1,
  attributes: [],
  ...more
})

/** The steps for matching a selector against an element. */
const stepsOf = (selector: string, of: Matched): number => {
  const budget = new Budget(1_000)
  const before = budget.steps
  for (const one of Selector.parseList(selector, false)) Selector.matches(one, of, budget)
  return before - budget.steps
}

const siblings = (count: number): Matched => {
  let last = element()
  for (let index = 2; index <= count; index++) last = element({ index, previous: last })
  return last
}

describe("The step budget of HTML", () => {
  it("charges an attribute selector for the characters it compares", () => {
    const titled = (length: number) => element({ attributes: ["title", "a".repeat(length)] })
    const short = stepsOf("[title*='a1b']", titled(10))
    assert.isAtLeast(stepsOf("[title*='a1b']", titled(9_000)) - short, 2_000)
    assert.isAtLeast(stepsOf("[title~='a1b' i]", titled(9_000)) - short, 16_000)
  })

  it("charges a sibling selector for each sibling it walks", () => {
    assert.isAtLeast(stepsOf("b ~ p", siblings(3_000)), 2_999)
  })

  it("charges a selector in brackets like any other", () => {
    assert.isAtLeast(stepsOf(":not(b ~ p)", siblings(3_000)), 2_999)
  })

  it("drops text and images after the element that exceeds it", () => {
    const nested = "<div>".repeat(60)
    const css = "<style>div div div div div div div div p{color:red}.no{display:none}</style>"
    const { hidden, isCut, text } = SeenHtml.see(
      `${css}seen${nested}${"<p></p>".repeat(2_000)}<img class=no alt=HIDDEN><p class=no>HIDDEN</p>behind`
    )
    assert.isFalse(isCut)
    assert.include(text, "behind")
    assert.notInclude(text, "HIDDEN")
    assert.isTrue(hidden)
    const costly = SeenHtml.see(
      `${css.replace("div", "b div")}seen${nested}${"<p></p>".repeat(2_000)}<img class=no alt=HIDDEN><p class=no>HIDDEN</p>behind`
    )
    assert.isTrue(costly.isCut)
    assert.isTrue(costly.hidden)
    assert.strictEqual(costly.text, "seen")
  })

  it("charges a tag for the open elements it searches", () => {
    const { isCut } = SeenHtml.see(`<p><object>${"<span>".repeat(900)}${"<hr>".repeat(100_000)}`)
    assert.isTrue(isCut)
  })

  it("is the same for a cached style sheet", () => {
    const html = `<style>a{${"&".repeat(200)}{${"&".repeat(90)}{color:red}}}</style>${"<p>x</p>".repeat(50)}`
    const [first, second] = [SeenHtml.see(html), SeenHtml.see(html)]
    assert.strictEqual(first.text, second.text)
    assert.strictEqual(first.isCut, second.isCut)
  })

  it("is shared by the HTML parts of a mail", () => {
    assert.strictEqual(new Budget(10, 1_000).steps * 100, new Budget(1_000).steps)
  })
})
