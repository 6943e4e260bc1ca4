import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Schema } from "effect"
import * as SeenHtml from "../../../src/content/html/SeenHtml.ts"

const render = (html: string) => SeenHtml.see(html).text

describe("The text of an HTML part", () => {
  it.each([
    ["<p>Hello <b>you</b></p>", "Hello you"],
    ["one<br>two<br><br>three", "one\ntwo\n\nthree"],
    ["<div>one</div><div>two</div>", "one\ntwo"],
    ["<p>one</p><p>two</p>", "one\n\ntwo"],
    ["<h1>Title</h1>text", "Title\n\ntext"],
    ["<ul><li>one</li><li>two</li></ul>after", "- one\n- two\n\nafter"],
    ["<ol start=3><li>one<li>two</ol>after", "3. one\n4. two\n\nafter"],
    ["<span style='display:block'>one</span><div style='display:inline'>two</div> three", "one\ntwo three"],
    ["<p style='white-space:pre-line'>one  two\nthree</p>", "one two\nthree"],
    ["<p style='text-transform:uppercase'>ab12</p>", "AB12"],
    ["<p>one<p>two<div>three<p>four</div>five", "one\n\ntwo\n\nthree\n\nfour\n\nfive"],
    ["<table><tr><td>a<td>b<tr><td>c</table>d", "a b\nc\n\nd"],
    ["<textarea>what &amp; why <b></textarea>", "what & why <b>"],
    ["<select><option>one<option>two</select>", "one"],
    ["<details><summary>more</summary>inside</details>", "more"],
    ["<details open><summary>more</summary>inside</details>", "more\ninside"],
    ["<noscript>no program runs in a mail</noscript>", "no program runs in a mail"],
    ["a<!-- > -->b<!--> c -->d<! e>f<?g?>h</3>i", "ab c -->dfhi"],
    ["<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>", "a b\nc d"],
    ["  many \n\t blanks  <b> here </b> ", "many blanks here"],
    ["<b>no</b>gap <i>gap</i>", "nogap gap"],
    ["Tom &amp; Jerry &lt;3 &euro; &#8364; &#x20AC;", "Tom & Jerry <3 € € €"],
    ["a&nbsp;b", "a b"],
    ["<pre>  keep\n   this</pre>", "keep\n   this"],
    ['<a href="https://example.com/x">here</a>', "here [https://example.com/x]"],
    ['<a href="https://example.com/">https://example.com/</a>', "https://example.com/"],
    ['<a href="https://www.Example.com/">example.com</a>', "example.com"],
    ['<a href="https://example.com.evil.example/">example.com</a>', "example.com [https://example.com.evil.example/]"],
    ['<a href="https://example.com/x"><img src=x alt="Read"></a>', "[image: Read] [https://example.com/x]"],
    [
      '<a href="https://example.com/x"><div>one</div><div>two</div></a> three',
      "one\ntwo [https://example.com/x]\nthree"
    ],
    ['<a href="mailto:a@example.com">write</a>', "write [mailto:a@example.com]"],
    ['<a href="javascript:alert(1)">here</a>', "here"],
    ['<img alt="A chart" src="x.png">', "[image: A chart]"],
    ["<head><title>no</title><style>p{}</style></head><body>yes</body>", "yes"],
    ["a<script>no()</script><style>no{}</style><!-- no --><template>no</template>b", "ab"],
    ["<p>unclosed <b>tags <i>everywhere", "unclosed tags everywhere"],
    ["</p></div></b>stray ends", "stray ends"],
    ["a < b and a <b", "a < b and a"],
    ["", ""]
  ])("of %j is %j", (html, text) => {
    assert.strictEqual(render(html), text)
  })

  it("is bounded", () => {
    assert.isAtMost(render("word ".repeat(200_000)).length, 256 * 1024)
    assert.isAtMost(render("<br>".repeat(300_000).concat("x")).length, 256 * 1024)
  })

  it("ends at the maximum depth and keeps the text before it", () => {
    assert.strictEqual(render(`before ${"<div>".repeat(2_000)}inside`), "before")
    const reasonable = `${"<div>".repeat(500)}inside${"</div>".repeat(500)} <p>after</p>`
    assert.strictEqual(render(reasonable), "inside\n\nafter")
    assert.strictEqual(render("<p>one</p>".repeat(5_000)).length, 5 * 5_000 - 2)
  })

  it.live.each([
    "<b>",
    "<div>",
    "<ul><li>",
    "<table><tr><td>",
    "<a href=https://example.com/>x</a>",
    "<font>x</b>",
    "<svg>",
    "<pre>",
    "<p></span>",
    "<img src='cid:x'>",
    "&nbsp;",
    "<!--",
    "<"
  ])("is extracted within its time limit from 1 MB of %s", (piece) =>
    Effect.gen(function* () {
      const html = piece.repeat(Math.floor(1_048_576 / piece.length))
      const [duration, text] = yield* Effect.timed(Effect.sync(() => render(html)))
      assert.isBelow(Duration.toSeconds(duration), 3)
      assert.isAtMost(text.length, 256 * 1024)
    })
  )

  it.prop("is produced for any HTML", { html: Schema.String }, ({ html }) => {
    assert.strictEqual(render(html), render(html).trim())
  })
})
