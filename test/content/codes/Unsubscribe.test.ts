import { assert, describe, it } from "@effect/vitest"
import * as Unsubscribe from "../../../src/content/codes/Unsubscribe.ts"

const url = "https://news.example/u/1"

describe("The unsubscribe URL", () => {
  it.each([
    [`<${url}>`, { url, mailto: null, oneClick: false }],
    [
      "<mailto:off@news.example?subject=off>",
      { url: null, mailto: "mailto:off@news.example?subject=off", oneClick: false }
    ],
    [`<mailto:off@news.example>, <${url}>`, { url, mailto: "mailto:off@news.example", oneClick: false }],
    [`(a comment) <${url}>, <https://news.example/u/2>`, { url, mailto: null, oneClick: false }],
    ["<https://news.example/\r\n u/1>", { url, mailto: null, oneClick: false }]
  ])("is the first URL and the first address of %s", (field, expected) => {
    assert.deepStrictEqual(Unsubscribe.read(field, undefined), expected)
  })

  it.each([["https://news.example/u/1"], ["<ftp://news.example/u>"], ["<javascript:alert(1)>"], ["<>"], [""]])(
    "is not taken from %s",
    (field) => {
      assert.isNull(Unsubscribe.read(field, undefined))
    }
  )

  it("is one-click if the sender declares it and the URL is https", () => {
    assert.isTrue(Unsubscribe.read(`<${url}>`, "List-Unsubscribe=One-Click")?.oneClick)
    assert.isFalse(Unsubscribe.read(`<${url}>`, "yes")?.oneClick)
    assert.isFalse(Unsubscribe.read("<http://news.example/u/1>", "List-Unsubscribe=One-Click")?.oneClick)
    assert.isFalse(Unsubscribe.read("<mailto:off@news.example>", "List-Unsubscribe=One-Click")?.oneClick)
  })

  it("is absent without the header field", () => {
    assert.isNull(Unsubscribe.read(undefined, "List-Unsubscribe=One-Click"))
  })
})
