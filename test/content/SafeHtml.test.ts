import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import * as SafeHtml from "../../src/content/SafeHtml.ts"

describe("The HTML of a stranger", () => {
  const cases: ReadonlyArray<readonly [name: string, html: string, safe: string]> = [
    [
      "keeps text, tables and styles",
      `<table><tr><td style="color:red">a</td></tr></table>`,
      `<table><tr><td style="color:red">a</td></tr></table>`
    ],
    [
      "keeps the style sheet in its head",
      `<html><head><title>t</title><style>p { color: red }</style></head><body><p>a</p></body></html>`,
      `<style>p { color: red }</style><p>a</p>`
    ],
    ["loses scripts with their text", `a<script>b</script><SCRIPT src=x></SCRIPT>c`, "ac"],
    ["loses event handlers", `<p onclick="a()" ONLOAD=b()>c</p>`, "<p>c</p>"],
    ["loses SVG and MathML with their content", `<svg><script>a</script><a>b</a></svg><math><mi>c</mi></math>d`, "d"],
    [
      "loses frames, media and forms, and keeps the text of a form",
      `<iframe src=a>b</iframe><video src=c></video><form action=d>e<input></form>`,
      "e"
    ],
    [
      "keeps hidden what a mail program hides",
      `<p hidden>a</p><details open class=b><summary>c</summary>d</details>`,
      `<p hidden="">a</p><details open="" class="b"><summary>c</summary>d</details>`
    ],
    [
      "loses base, link and meta elements",
      `<base href=//a><link rel=stylesheet href=b><meta http-equiv=refresh content=0>c`,
      "c"
    ],
    [
      "shows the target of a link as its title",
      `<a href="https://a.example/?b&amp;c">d</a>`,
      `<a title="https://a.example/?b&amp;c">d</a>`
    ],
    [
      "shows an inline image",
      `<img src="data:image/png;base64,AAAA" alt="a">`,
      `<img alt="a" src="data:image/png;base64,AAAA">`
    ],
    [
      "shows the alternative text of a remote image",
      `<img src="https://a.example/b.png" alt="c &lt; d">`,
      `<span class="inlet-image">c &lt; d</span>`
    ],
    ["loses a remote image without alternative text", `a<img src="https://a.example/pixel">`, "a"],
    ["loses an SVG image", `<img src="data:image/svg+xml,<svg>">`, ""],
    [
      "loses URLs in styles",
      `<p style="background:url(https://a.example/b)">c</p><style>@import "//a.example";p{src:url('b')}</style>`,
      `<p style="background:none">c</p><style>p{src:none}</style>`
    ],
    [
      "cannot end its style sheet early",
      `<style>a</style ><p>b</p></style><script>c</script>`,
      "<style>a</style><p>b</p>"
    ],
    [
      "cannot hide a tag in an attribute",
      `<p title="</p><script>a</script>">b</p>`,
      `<p title="&lt;/p&gt;&lt;script&gt;a&lt;/script&gt;">b</p>`
    ],
    ["cannot hide a tag in raw text", `<noscript><p title="</noscript><script>a</script>"></noscript>b`, "b"],
    ["cannot hide a tag as entities", `&lt;script&gt;a&lt;/script&gt;`, `&lt;script&gt;a&lt;/script&gt;`],
    ["cannot hide a tag in a comment", `<!--><script>a</script>-->b`, "--&gt;b"]
  ]
  for (const [name, html, safe] of cases) {
    it(name, () => assert.strictEqual(SafeHtml.render(html), safe))
  }

  it.live("is sanitized within its time limit at any depth", () =>
    Effect.gen(function* () {
      const started = yield* Clock.currentTimeMillis
      for (const tag of ["<b>", "<div>", "<svg>", "<table><tr><td>", "<a href=x>", "<style>"]) {
        SafeHtml.render(tag.repeat(1_000_000 / tag.length))
      }
      assert.isBelow((yield* Clock.currentTimeMillis) - started, 10_000)
    })
  )
})
