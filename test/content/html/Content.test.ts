import { assert, describe, it } from "@effect/vitest"
import * as Content from "../../../src/content/html/Content.ts"

const read = (said: Partial<Content.Said>, request: Partial<Content.ContentRequest> = {}) =>
  Content.read(
    { text: "", html: null, ...said },
    { part: "visible", format: "markdown", maxChars: 20_000, offset: 0, ...request }
  )

const markdown = (html: string) => read({ html }).content

describe("Markdown content", () => {
  it.each([
    ["<h2>Hi</h2><p>one <b>two</b></p><p>three<br>four</p>", "## Hi\n\none two\n\nthree\nfour"],
    ["<ul><li>a<li>b<ol><li>c</ol></ul>", "- a\n- b\n\n  1. c"],
    ["<blockquote><p>old</p><p>older</p></blockquote>new", "> old\n\n> older\n\nnew"],
    ["<pre>a\n  b</pre>", "```\na\n  b\n```"],
    ["<pre>```\nb</pre>", "~~~~\n```\nb\n~~~~"],
    [
      "<table><tr><th>Item<th>Price</tr><tr><td>Pen | ink<td>$2</tr><tr><td>Book</table>",
      "| Item | Price |\n| --- | --- |\n| Pen \\| ink | $2 |\n| Book |  |"
    ],
    ["<table><tr><td>left<td>right</table>", "left right"],
    ["<table><tr><td><p>a<p>b<td>c<tr><td>d<td>e</table>", "a\n\nb\n\nc\nd e"],
    ["*a* `b` [c](d) <i>&lt;e&gt;</i> snake_case", "\\*a\\* \\`b\\` \\[c\\](d) \\<e> snake_case"],
    ["<p># no</p><p>1. no</p><p>- no</p><p>&gt; no</p>", "\\# no\n\n\\1. no\n\n\\- no\n\n\\> no"],
    [
      '<a href="https://a.example/1">[one]</a> <a href="https://a.example/2">two</a> <a href="https://a.example/1">one</a>',
      "[\\[one\\]][1] [two][2] [one][1]"
    ],
    ['<a href="https://a.example/1"><div>one</div><div>two</div></a>', "one\n[two][1]"],
    ['<a href="https://a.example/1"><img src=x alt="Open"></a>', "[(image: Open)][1]"],
    ["<p hidden>no</p>", ""]
  ])("of %j is %j", (html, expected) => {
    assert.strictEqual(markdown(html), expected)
  })

  it("lists numbered links, and those of a slice with the slice", () => {
    const html = `<p><a href="https://a.example/1">one</a></p><p><a href="https://a.example/2">two</a></p>`
    assert.deepStrictEqual(read({ html }).links, [
      { ref: 1, text: "one", url: "https://a.example/1" },
      { ref: 2, text: "two", url: "https://a.example/2" }
    ])
    const { content, links } = read({ html }, { offset: 10 })
    assert.strictEqual(content, "[two][2]")
    assert.deepStrictEqual(links, [{ ref: 2, text: "two", url: "https://a.example/2" }])
  })

  it("has bounded depth and size for any HTML", () => {
    for (const piece of [
      "<blockquote>x",
      "<ul><li>x",
      "<table><tr><td>x<td>y",
      "<a href=https://x.example>y</a>",
      "<pre>x\n"
    ]) {
      assert.isAtMost(read({ html: piece.repeat(20_000) }, { maxChars: 200_000 }).content.length, 200_000)
    }
  })
})

describe("The content of an event", () => {
  const html = `<p>Hello <a href="https://a.example/">you</a></p><div style="display:none">Obey this</div>`

  it("is the visible HTML, or the text of a mail without HTML", () => {
    assert.strictEqual(read({ text: "plain", html }).content, "Hello [you][1]")
    assert.strictEqual(read({ text: "plain", html }, { format: "text" }).content, "Hello you [https://a.example/]")
    assert.strictEqual(read({ text: "plain *1*" }).content, "plain *1*")
    assert.strictEqual(read({ text: "plain", html: "<img src=x>" }).content, "plain")
  })

  it("is the reply, or the visible text if that is the reply", () => {
    assert.strictEqual(read({ text: "Yes\n> no?", reply: "Yes" }, { part: "reply" }).content, "Yes")
    assert.strictEqual(read({ text: "plain", html, reply: null }, { part: "reply" }).content, "Hello [you][1]")
    assert.strictEqual(read({ text: "plain" }, { part: "reply" }).content, "plain")
  })

  it("includes the plain text in the full view", () => {
    assert.strictEqual(
      read({ text: "plain", html }, { part: "full" }).content,
      "⟦plain text only: plain⟧\n\nHello [you][1]"
    )
    assert.strictEqual(
      read({ text: "Hello you [https://a.example/]", html }, { part: "full" }).content,
      "Hello [you][1]"
    )
  })

  it("lists hidden words in the hidden view, and else their count", () => {
    for (const part of ["visible", "reply", "full"] as const) {
      const told = read({ text: "plain", html, reply: null }, { part })
      assert.notInclude(JSON.stringify(told), "Obey")
      assert.deepStrictEqual(told.hidden, { words: 2, excerpt: null })
    }
    const { content, hidden } = read({ text: "plain", html }, { part: "hidden" })
    assert.deepStrictEqual({ content, hidden }, { content: "Obey this", hidden: { words: 2, excerpt: "Obey this" } })
  })

  it("joins from slices to the whole, without a split character", () => {
    const text = "a😀b😀😀 c".repeat(20)
    for (const maxChars of [1, 2, 3, 7, 1_000]) {
      let whole = ""
      let offset: number | null = 0
      while (offset !== null) {
        const { content, length, next_offset, tokens_estimate } = read({ text }, { maxChars, offset })
        assert.isTrue(content.isWellFormed())
        assert.strictEqual(length, text.length)
        assert.strictEqual(tokens_estimate, Math.ceil(Buffer.byteLength(content) / 4))
        whole += content
        offset = next_offset
      }
      assert.strictEqual(whole, text)
    }
    assert.strictEqual(read({ text }, { offset: 10_000 }).content, "")
  })
})
