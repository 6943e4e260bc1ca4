import { assert, describe, it } from "@effect/vitest"
import * as SeenHtml from "../../src/content/html/SeenHtml.ts"
import { carried, ofColor, ofText, outright, seen, type Trick } from "./Tricks.ts"

const around = ({ around }: Trick, inner: string) =>
  SeenHtml.see(`<p>Before it.</p>${around(inner)}<p>And after it.</p>`)

const isIn = (told: SeenHtml.SeenHtml) =>
  [told.text, ...told.lines.map(({ text }) => text), ...told.links.flatMap(({ text, url }) => [text, url])].some(
    (text) => text.includes("CANARY")
  )

describe("Hidden text", () => {
  it.each([...outright, ...ofText, ...ofColor, ...carried].map((trick) => [trick.name, trick] as const))(
    "is removed: %s",
    (_, trick) => {
      const told = around(trick, "CANARY")
      assert.isFalse(isIn(told), told.text)
      assert.match(told.text, /Before it\./)
      assert.match(told.text, /And after it\./)
    }
  )

  it.each(seen.map((trick) => [trick.name, trick] as const))("does not include visible text in %s", (_, trick) => {
    assert.include(around(trick, "CANARY").text, "CANARY")
  })

  it.each(["x<p title='CANARY", "x<!-- CANARY"])("is removed if the mail ends inside it: %s", (html) => {
    assert.isFalse(isIn(SeenHtml.see(`<p>Before</p>${html}`)))
  })

  it("does not depend on style sheets of earlier mails", () => {
    const sheet = "@media print{\n.a{color:red;\n}\n.code{display:none}\n}\n"
    // The same text split at another point has another meaning.
    const [first, second] = sheet.split("\n}\n.code")
    const other = `<!doctype html><style>${first}</style><style>.code${second}</style><p class="code">Hello</p>`
    assert.strictEqual(SeenHtml.see(other).text, "")
    const mail = `<!doctype html><style>${sheet}</style><p>Your code is</p><p class="code">482913</p>`
    assert.strictEqual(SeenHtml.see(mail).text, "Your code is\n\n482913")
    // Nothing beyond the first 256 KiB of a style sheet is read or cached.
    const comment = `<style>/*${"x".repeat(256 * 1024)}*/</style>`
    const long = (style: string) => SeenHtml.see(`${comment}<style>.q{${style}}</style><p class="q">482913</p>`).text
    assert.deepStrictEqual([long("display:none"), long("color:red")], ["482913", "482913"])
  })

  it("is listed by the name of its trick", () => {
    const { hidden, hiddenText, text } = SeenHtml.see(
      "<div style='display:none'>Your order &amp; more &nbsp;&zwnj;</div><p>Hello</p>"
    )
    assert.deepStrictEqual(
      { hidden, hiddenText, text },
      { hidden: true, hiddenText: "Your order & more", text: "Hello" }
    )
    assert.isFalse(SeenHtml.see("<div style='display:none'>&nbsp;&zwnj; - </div><p>Hello</p>").hidden)
    assert.isFalse(SeenHtml.see("<title>Hello</title><style>p{}</style><p>Hello</p>").hidden)
    assert.strictEqual(SeenHtml.see(`<p>x${"\u{e0061}\u{e0062}"}</p>`).hiddenText, "ab")
    assert.isAtMost(SeenHtml.see(`<p hidden>${"word ".repeat(100_000)}`).hiddenText.length, 130_000)
  })
})

describe("Invisible code points", () => {
  it.each([
    ["CAN\u200bARY", "CANARY"],
    ["so\u00adft \ufeffhy\u2060phen", "soft hyphen"],
    ["\u202eYRANAC\u202c", "CANARY"],
    ["a\u200db\u200cc", "abc"],
    ["\u3164x\u115f", "x"],
    ["می\u200cخواهم", "می\u200cخواهم"],
    ["क्\u200dष", "क्\u200dष"],
    ["👩\u200d💻 ❤\ufe0f 1\ufe0f\u20e3", "👩\u200d💻 ❤\ufe0f 1\ufe0f\u20e3"],
    ["a&#1;b&#0;", "ab\ufffd"]
  ])("%j is visible as %j", (source, text) => {
    assert.strictEqual(SeenHtml.see(`<p>${source}</p>`).text, text)
  })
})
