import { assert, describe, it } from "@effect/vitest"
import * as Quoted from "../../../src/content/html/Quoted.ts"

describe("An element is quoted", () => {
  for (const names of [
    "hs_reply",
    " em_quote ",
    " gmail_quote gmail_quote_container ",
    "x_divrplyfwdmsg",
    "x_x_appendonsend",
    "yiv1yahoo_quoted",
    "ydp1fyahoo_quoted"
  ]) {
    it(`if its class or id is "${names}"`, () => {
      assert.isTrue(Quoted.isQuote("div", names, ""))
    })
  }

  for (const names of ["", "p12", "em_quotes", "my_hs_reply", "yiv1gmail_quote", "content-body"]) {
    it(`but not if its class or id is "${names}"`, () => {
      assert.isFalse(Quoted.isQuote("div", names, ""))
    })
  }

  it("with everything after the header that a mail program puts before the original message", () => {
    assert.isTrue(Quoted.quotesTheRest("x_appendonsend", ""))
    assert.isFalse(Quoted.quotesTheRest(" gmail_quote ", ""))
  })
})
