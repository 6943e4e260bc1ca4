import { assert, describe, it } from "@effect/vitest"
import * as SeenHtml from "../../src/content/html/SeenHtml.ts"
import { aroundIt, carried, ofColor, ofText, outright, seen, type Trick, unsure, unsureOfAll } from "./Tricks.ts"

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
    const told = around(trick, "CANARY")
    assert.include(told.text, "CANARY")
    assert.isFalse(told.uncertain)
  })

  it.each(["x<p title='CANARY", "x<!-- CANARY"])("is removed if the mail ends inside it: %s", (html) => {
    assert.isFalse(isIn(SeenHtml.see(`<p>Before</p>${html}`)))
  })

  it("is that of links in the color of the background", () => {
    const link = (body: string) => SeenHtml.see(`${body}<a href="https://a.example/x">CANARY</a>`).text
    assert.strictEqual(link("<body link=white>"), "")
    // The first attribute counts.
    assert.include(link("<body link=black><body link=white>"), "CANARY")
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

/** The parts of the lines that may be hidden. */
const doubtful = ({ lines }: SeenHtml.SeenHtml) =>
  lines.map(({ text, uncertain = [] }) => uncertain.map(([from, to]) => text.slice(from, to)).join("|")).join("|")

describe("Uncertain text", () => {
  it.each(unsure.map((trick) => [trick.name, trick] as const))("stays and is marked: %s", (_, trick) => {
    const told = around(trick, "CANARY")
    assert.include(told.text, "CANARY")
    assert.include(doubtful(told), "CANARY")
    assert.notInclude(doubtful(told), "Before it.")
    assert.notInclude(doubtful(told), "And after it.")
    assert.isTrue(told.uncertain)
  })

  it.each(unsureOfAll.map((trick) => [trick.name, trick] as const))("is all text with %s", (_, trick) => {
    const told = around(trick, "CANARY")
    assert.strictEqual(doubtful(told).replaceAll("|", " "), "Before it. CANARY And after it.")
    assert.isTrue(told.uncertain)
  })

  it.each(aroundIt)("includes a word hidden by %s", (_, html) => {
    const told = SeenHtml.see(`<!doctype html><html><body><p>Hello there</p>${html}`)
    const certain = told.lines.map(({ text, uncertain = [] }) =>
      uncertain.reduceRight((left, [from, to]) => left.slice(0, from) + left.slice(to), text)
    )
    assert.notInclude(certain.join("\n"), "CANARY")
  })

  it("does not include animated text in a hidden element, but includes what an animation may show", () => {
    assert.strictEqual(SeenHtml.see(`<div style="display:none"><p style="animation:x 1s">CANARY`).text, "")
    const { text, uncertain } = SeenHtml.see(`<div style="opacity:0;animation:x 1s"><p>CANARY`)
    assert.deepStrictEqual([text, uncertain], ["CANARY", true])
  })

  it("is one part of a line", () => {
    const { lines } = SeenHtml.see("<p>Your code is <b style='mask:url(#a)'>48 <i>29</i> 13</b> for today</p>")
    assert.deepStrictEqual(
      lines.map(({ text, uncertain }) => [text, uncertain]),
      [["Your code is 48 29 13 for today", [[13, 21]]]]
    )
  })

  it("includes the text of a link", () => {
    const { links } = SeenHtml.see(
      "<a href=https://a.example>one</a> <a href=https://b.example><i style=mask:none>two</i></a> <a href=https://c.example style=mask:x>three</a>"
    )
    assert.deepStrictEqual(
      links.map(({ isUncertain }) => isUncertain),
      [false, true, true]
    )
  })

  it.each([
    [
      "a box of one line hides the lines below it",
      "<div style='height:20px;line-height:20px;overflow:hidden'>Hi<br><br>CANARY</div>"
    ],
    [
      "a box hides what is moved out of it",
      "<div style='width:200px;height:40px;overflow:hidden'><p style='margin-left:300px'>CANARY</div>"
    ],
    [
      "a sheet of a data URL applies",
      "<link rel=stylesheet href='data:text/css,.a%7Bdisplay:none%7D'><p class=a>CANARY"
    ],
    ["a template in a table is hidden", "<table><template><tr><td>CANARY</td></tr></template><tr><td>y</table>"]
  ])("is not what Inlet evaluates: %s", (_, html) => {
    const told = SeenHtml.see(`<p>Before it.</p>${html}`)
    assert.notInclude(told.text, "CANARY")
    assert.isTrue(told.hidden)
  })

  it("does not include a color without # in a mail without a doctype", () => {
    const color = (html: string) => SeenHtml.see(`${html}<p style='color:ffffff'>CANARY</p>`).text
    assert.deepStrictEqual([color(""), color("<!doctype html>")], ["", "CANARY"])
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
