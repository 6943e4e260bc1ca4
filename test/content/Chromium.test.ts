import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as SeenScore from "../../scripts/SeenScore.ts"
import * as ShownText from "../../scripts/ShownText.ts"
import * as SeenHtml from "../../src/content/html/SeenHtml.ts"
import * as Needs from "../Needs.ts"
import { outright, seen } from "./Tricks.ts"

/** Ordinary and malformed HTML mails. */
const samples: ReadonlyArray<string> = [
  `<!doctype html><html><head><title>No</title><style>.m{display:none}@media(max-width:600px){.m{display:block}.d{display:none}}</style></head>
   <body bgcolor="#f4f4f4"><div style="display:none;max-height:0">Preheader</div><table width="600"><tr><td style="font-size:0"><img alt="Logo" src="x"></td></tr>
   <tr><td style="background:#123;color:#fff"><h1>Your receipt</h1><p class=d>On a desktop</p><p class=m>On a phone</p></td></tr>
   <tr><td><table><tr><td>Item</td><td align=right>2 &times; $4.00</td></tr></table><a href="https://a.example/x" style="background:#07f;color:#fff">Pay&nbsp;now</a></td></tr></table></body></html>`,
  "<p>One <b>two<p>three</b> four<ul><li>five<li>six</ul>seven<br>eight</p>nine<table><tr><td>ten<td>eleven<tr><td>twelve</table>",
  "<div>Reply above<blockquote>quoted <font color=gray>gray</font></blockquote><pre>keep\n  it</pre>&lt;not a tag&gt; a < b &amp; c</div>",
  "<b><i>mis</b>nested</i><a href=x>li<a href=y>nk</a><p><font size=1>small<p>again</font>end<h2>head</h3>tail",
  "<select><option>first</select><details><summary>sum</summary>body</details><details open><summary>s</summary>shown</details><math><mtext>sum</mtext></math>",
  "<!--[if mso]>no<![endif]--><!--[if !mso]><!-->yes<!--<![endif]--><center>mid</center><dl><dt>term<dd>data</dl><o:p>office</o:p>",
  "<table><caption>cap</caption>stray<tr><td>cell</td></tr></table><address>addr</address><p>a</p>b<hr>c<q>d</q>"
]

describe("The visible text in Chromium", Needs.options(Needs.chromium), () => {
  it.live("equals the text that Inlet considers visible, word for word", () =>
    Effect.gen(function* () {
      const read = yield* ShownText.reader(yield* ShownText.launch(Needs.pathOfChromium))
      for (const html of [...samples, ...seen.map(({ around }) => `<p>Before</p>${around("CANARY")}<p>After</p>`)]) {
        const { missing } = SeenScore.of(html, yield* read(html))
        assert.deepStrictEqual(missing, [], html)
      }
      for (const { around, name } of outright) {
        const html = `<p>Before</p>${around("CANARY")}<p>After</p>`
        const shown = yield* read(html)
        assert.match(shown, /Before[\s\S]*After/, name)
        assert.match(SeenHtml.see(html).text, /Before[\s\S]*After/, name)
      }
    }).pipe(Effect.scoped)
  )
})
