import { assert, describe, it } from "@effect/vitest"
import * as SeenHtml from "../../src/content/SeenHtml.ts"
import { ofColor, ofText, outright, seen, type Trick } from "./Tricks.ts"

const around = ({ around }: Trick, inner: string) =>
  SeenHtml.see(`<p>Before it.</p>${around(inner)}<p>And after it.</p>`)

const isIn = (told: SeenHtml.SeenHtml) =>
  [told.text, ...told.lines.map(({ text }) => text), ...told.links.flatMap(({ text, url }) => [text, url])].some(
    (text) => text.includes("CANARY")
  )

describe("What a person does not see", () => {
  it.each([...outright, ...ofText, ...ofColor].map((trick) => [trick.name, trick] as const))(
    "is left out: %s",
    (_, trick) => {
      const told = around(trick, "CANARY")
      assert.isFalse(isIn(told), told.text)
      assert.match(told.text, /Before it\./)
      assert.match(told.text, /And after it\./)
    }
  )

  it("is left out of each in each other", () => {
    const inAnything = [...outright, ...ofText, ...ofColor]
    const leaks = inAnything.flatMap((outer) =>
      // A color of its own makes text legible again, and so does a style that says the contrary.
      (outright.includes(outer)
        ? [...inAnything, ...seen]
        : ofText.includes(outer)
          ? inAnything
          : [...outright, ...ofText]
      ).flatMap((inner) => {
        // A comment ends where the first one in it ends.
        if (inner.name.startsWith("<!") && outer.name.startsWith("<!")) return []
        const told = around({ ...outer, around: (text) => outer.around(inner.around(text)) }, "CANARY")
        return isIn(told) ? [`${outer.name} around ${inner.name}`] : []
      })
    )
    assert.deepStrictEqual(leaks, [])
  })

  it.each(seen.map((trick) => [trick.name, trick] as const))("is not what stands in %s", (_, trick) => {
    assert.include(around(trick, "CANARY").text, "CANARY")
  })

  it.each([
    ["tags", [..."CANARY"].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("")],
    ["an attribute", '<p aria-label="CANARY" title="CANARY" data-x="CANARY">x</p>'],
    ["the alt text of a pixel", '<img alt="CANARY" width=1 height=1 src=x>'],
    ["the alt text of a line", '<img alt="CANARY" style="height:2px" src=x>'],
    ["a title", "<title>CANARY</title>"],
    ["a drawing", "<svg><title>CANARY</title><text>CANARY</text></svg>"],
    ["a desc with a paragraph", "<svg><desc><p>CANARY</p></desc></svg>"],
    ["options", "<select><option>x<option>CANARY</select>"],
    ["an input", '<input value="CANARY">'],
    ["a script", "<script>CANARY</script>"],
    ["a frame", "<iframe>CANARY</iframe>"],
    ["a tag that does not end", "x<p title='CANARY"],
    ["a comment that does not end", "x<!-- CANARY"]
  ])("is left out: %s", (_, html) => {
    assert.isFalse(isIn(SeenHtml.see(`<p>Before</p>${html}`)))
  })

  it("is told by name", () => {
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

describe("Code points that nobody sees", () => {
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
  ])("%j is seen as %j", (source, text) => {
    assert.strictEqual(SeenHtml.see(`<p>${source}</p>`).text, text)
  })
})
