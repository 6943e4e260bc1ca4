/** A way to hide text from a person while it stays in the HTML. */
export interface Trick {
  readonly name: string
  readonly around: (inner: string) => string
}

const style = (css: string, tag = "div"): Trick => ({
  name: css,
  around: (inner) => `<${tag} style="${css}">${inner}</${tag}>`
})

const sheet = (css: string, around: (inner: string) => string): Trick => ({
  name: css,
  around: (inner) => `<style>${css}</style>${around(inner)}`
})

const markup = (html: string): Trick => ({ name: html, around: (inner) => html.replace("*", inner) })

/** Tricks that hide any content. */
export const outright: ReadonlyArray<Trick> = [
  style("display:none"),
  style("DISPLAY : None !important"),
  style("d\\69 splay:n\\6fne"),
  style("dis/**/play:block;display/**/:/**/none"),
  style("opacity:0"),
  style("opacity:9%", "span"),
  style("opacity:.5;filter:opacity(10%)"),
  style("content-visibility:hidden"),
  style("max-height:0;overflow:hidden"),
  style("height:0;width:0;overflow:hidden"),
  style("height:1px;overflow:clip"),
  style("width:0;overflow-x:hidden"),
  style("position:absolute;left:-9999px"),
  style("position:fixed;top:-200em"),
  style("position:relative;right:5000px"),
  style("position:absolute;inset:0 auto auto -9999px"),
  style("position:absolute;left:calc(-1px * 9999)"),
  style("position:absolute;left:-200vw"),
  style("position:absolute;left:-999px"),
  style("transform:translateY(-100vh)"),
  style("rotate:x 90deg"),
  style("filter:blur(40px)"),
  style("margin-left:-9999px"),
  style("margin:-9999px 0 0"),
  style("clip-path:inset(100%)"),
  style("clip-path:inset(50%)"),
  style("clip-path:circle(0)"),
  style("clip-path:polygon(0 0, 0 0, 0 0)"),
  style("position:absolute;clip:rect(0,0,0,0)"),
  style("position:absolute;clip:rect(1px 1px 1px 1px)"),
  style("transform:scale(0)"),
  style("transform:scale(0.01)"),
  style("transform:translateX(-9999px)"),
  style("transform:translate(0,-500vh)"),
  style("transform:matrix(0,0,0,0,0,0)"),
  style("transform:rotateX(90deg)"),
  style("scale:0"),
  style("translate:-9999px"),
  style("mask-image:linear-gradient(transparent,transparent)"),
  sheet(".a{display:none}", (inner) => `<div class="b a">${inner}</div>`),
  sheet("#b{display:none}", (inner) => `<div id=b>${inner}</div>`),
  sheet("section{display:none}", (inner) => `<section>${inner}</section>`),
  sheet("section.c#d{display:none}", (inner) => `<section class=c id=d>${inner}</section>`),
  sheet("x,.e,y{display:none}", (inner) => `<div class=e>${inner}</div>`),
  sheet(".f > div .g{display:none}", (inner) => `<div class=f><div><p><div class=g>${inner}</div></div></div>`),
  sheet("[data-h^=i]{display:none}", (inner) => `<div data-h=ij>${inner}</div>`),
  sheet("h6 + .k{display:none}", (inner) => `<h6>y</h6><div class=k>${inner}</div>`),
  sheet(".l:not(.m){display:none}", (inner) => `<div class=l>${inner}</div>`),
  sheet("@media screen and (min-width:1px){.n{display:none}}", (inner) => `<div class=n>${inner}</div>`),
  sheet("@media not print{.o{display:none}}", (inner) => `<div class=o>${inner}</div>`),
  sheet("@supports (display:grid){.p{display:none}}", (inner) => `<div class=p>${inner}</div>`),
  sheet(".q{color:red;.r &{display:none}}", (inner) => `<div class=r><div class=q>${inner}</div></div>`),
  sheet(".s{display:none!important}", (inner) => `<div class=s style="display:block">${inner}</div>`),
  sheet(".t{display:block}div.t{display:none}.t{display:block}", (inner) => `<div class=t>${inner}</div>`),
  sheet("a:before{content:'}/*'} .u{display:none} /* */", (inner) => `<div class=u>${inner}</div>`),
  { name: "a sheet behind it", around: (inner) => `<div class=v>${inner}</div><style>.v{display:none}</style>` },
  {
    name: "a style sheet after a variable",
    around: (inner) => `<style>:root{--w:none}</style><div style="display:var(--w)">${inner}</div>`
  },
  sheet("@scope (.jj){nav{display:none}}", (inner) => `<div class=jj><nav>${inner}</nav></div>`),
  sheet(".kk:last-child{display:none}", (inner) => `<section><p>y</p><div class=kk>${inner}</div></section>`),
  sheet(".ll:nth-of-type(1){display:none}", (inner) => `<section><div class=ll>${inner}</div></section>`),
  sheet("<!-- .mm{display:none} -->", (inner) => `<div class=mm>${inner}</div>`),
  sheet("@layer a{.nn{display:none}}", (inner) => `<div class=nn>${inner}</div>`),
  sheet(".\\6f o{display:none}", (inner) => `<div class=oo>${inner}</div>`),
  {
    name: "an unterminated block",
    around: (inner) => `<div class=pp>${inner}</div><style>.pp{display:none</style>`
  },
  markup("<div hidden>*</div>"),
  markup("<div popover>*</div>"),
  markup("<div><template shadowrootmode=open></template>*</div>"),
  markup("<DIV STYLE=DISPLAY:NONE>*</DIV>"),
  markup("<div style='display&#58;none'>*</div>"),
  markup("<span style='display:inline-block;width:0;height:0;overflow:hidden'>*</span>"),
  markup("<template>*</template>"),
  markup("<dialog>*</dialog>"),
  markup("<datalist>*</datalist>"),
  markup("<details><summary>s</summary>*</details>"),
  markup("<video>*</video>"),
  markup("<div><b style='display:none'></div>*</b>"),
  markup("<b style='display:none'><div>*</div></b>"),
  markup("<div style='display:none'></span></b></i>*</div>"),
  markup("<table style='display:none'><tr><td>*</td></tr></table>"),
  markup("<table><tr><td style='display:none'><table><tr><td>*</table></table>"),
  markup("<!-- * -->"),
  markup("<!--[if mso]>*<![endif]-->")
]

/** Tricks that hide text without a style of its own. */
export const ofText: ReadonlyArray<Trick> = [
  style("visibility:hidden"),
  style("visibility:collapse", "span"),
  style("font-size:0"),
  style("font-size:1px", "span"),
  style("font-size:0.1em"),
  style("font-size:10%"),
  style("font-size:calc(1px + 0.05em)"),
  style("font-size:min(1px,1em)"),
  style("font:0/0 a"),
  style("font:bold 1px/1 Arial, sans-serif"),
  style("zoom:.1"),
  style("-webkit-text-security:disc"),
  style("line-height:0"),
  style("text-indent:-9999px"),
  style("text-indent:-100%"),
  style("text-indent:-999px"),
  style("letter-spacing:-1em"),
  style("text-indent:100%;white-space:nowrap;overflow:hidden"),
  style("font-size:0", "b")
]

/** Tricks that hide text in the background's color, grouped by the colors they use. */
const colors = {
  white: [
    style("color:#fff"),
    style("color:WHITE", "span"),
    style("color:#fefefe"),
    style("color:rgb(255 255 255)"),
    style("color:rgb(100%,100%,100%)"),
    style("color:hsl(0,0%,100%)"),
    style("color:hsl(0 0% 98%)"),
    style("color:hwb(0 100% 0%)"),
    style("color:lab(100 0 0)"),
    style("color:oklch(100% 0 0)"),
    style("color:color(srgb 1 1 1)"),
    style("color:color-mix(in srgb, white, #fff)"),
    style("color:window"),
    style("--c:#fff;color:var(--c)"),
    style("color:var(--none,white)"),
    sheet(":root{--paper:#fff}", (inner) => `<div style="color:var(--paper)">${inner}</div>`),
    sheet(".z{color:#fff}", (inner) => `<div class=z>${inner}</div>`),
    markup('<font color="#FFFFFF">*</font>'),
    markup("<font color=ffffff>*</font>")
  ],
  whiteInside: [markup("<div><b style='color:#fff'><p>y</div>*</b>")],
  clear: [
    style("color:transparent"),
    style("color:rgba(0,0,0,0)"),
    style("color:#0000000a"),
    style("color:#000;opacity:.1"),
    style("-webkit-text-fill-color:transparent")
  ],
  onBlack: [
    style("background:linear-gradient(#111,#000)"),
    style("background-image:linear-gradient(to right, black 0%, #000 100%)"),
    markup("<table bgcolor=black><tr><td>*</td></tr></table>")
  ],
  onDark: [
    style("color:#333;background:#333"),
    style("color:#333;background:url(x.png) no-repeat #343434"),
    markup("<div style='background:#222'><div style='color:#222'>*</div></div>")
  ],
  onLight: [markup('<table><tr><td bgcolor="#eeeeee"><font color="#eeeeee">*</font></td></tr></table>')]
}

type ColorKind = keyof typeof colors

export const ofColor: ReadonlyArray<Trick> = Object.values(colors).flat()

/** For each group, the nested ones that are visible. The nested element sets colors for its content. */
const legible: Record<ColorKind, ReadonlyArray<ColorKind>> = {
  white: ["onBlack"],
  whiteInside: ["onBlack", "onDark"],
  clear: [],
  onBlack: ["white", "whiteInside"],
  onDark: ["white", "whiteInside", "onBlack"],
  onLight: ["onBlack"]
}

export const isLegible = (outer: Trick, inner: Trick): boolean =>
  legible[kindOf(outer)].some((kind) => colors[kind].includes(inner))

// Each key of `ofColor` is in one of them.
const kindOf = (trick: Trick) =>
  (Object.keys(colors) as ReadonlyArray<ColorKind>).find((kind) => colors[kind].includes(trick)) ?? "clear"

const plain = (inner: string) => inner.replaceAll(/<[^>]*>|['"]/g, "")

const carrier = (html: string): Trick => ({ name: html, around: (inner) => html.replaceAll("*", plain(inner)) })

/** Tricks with their text outside of the page's elements. */
export const carried: ReadonlyArray<Trick> = [
  {
    name: "tag characters",
    around: (inner) => `x${plain(inner).replaceAll(/[!-~]/g, (letter) => `&#${0xe0000 + letter.charCodeAt(0)};`)}`
  },
  carrier('<p aria-label="*" title="*" data-x="*">x</p>'),
  carrier('<a href="https://a.example" title="*">x</a>'),
  carrier('<img alt="*" width=1 height=1 src=x>'),
  carrier('<img alt="*" style="height:2px" src=x>'),
  carrier("<title>*</title>"),
  carrier("<svg><title>*</title><desc>*</desc><text>*</text></svg>"),
  carrier("<svg><desc><p>*</p></desc></svg>"),
  carrier("<select><option>x<option>*</select>"),
  carrier('<input value="*">'),
  carrier("<script>*</script>"),
  carrier("<iframe>*</iframe>"),
  carrier("<noembed>*</noembed>"),
  carrier("<noframes>*</noframes>")
]

/** HTML whose content is visible. */
export const seen: ReadonlyArray<Trick> = [
  style("display:block"),
  style("display:none;display:block"),
  style("display:block!important;display:none"),
  style("display:bogus"),
  style("opacity:.6"),
  style("color:#fff;background:#000"),
  style("color:#fff;background:linear-gradient(#fff,#000)"),
  style("color:#777"),
  style("font-size:9px"),
  style("max-height:0"),
  style("height:40px;overflow:hidden"),
  style("left:-9999px"),
  style("mso-hide:all"),
  style("clip:rect(0,0,0,0)"),
  style("position:relative;left:20px"),
  style("visibility:visible"),
  style("color:transparent;background:linear-gradient(#000,#333);-webkit-background-clip:text"),
  sheet("@media print{.aa{display:none}}", (inner) => `<div class=aa>${inner}</div>`),
  sheet("@media (max-width:600px){.bb{display:none}}", (inner) => `<div class=bb>${inner}</div>`),
  sheet("@media (prefers-color-scheme:dark){.cc{color:#fff}}", (inner) => `<div class=cc>${inner}</div>`),
  sheet(".dd{display:none}.dd{display:block}", (inner) => `<div class=dd>${inner}</div>`),
  sheet(".ee{display:none}", (inner) => `<div class=ee style="display:block">${inner}</div>`),
  sheet(".ff .gg{display:none}", (inner) => `<div class=gg>${inner}</div>`),
  sheet(".hh:hover{display:none}", (inner) => `<div class=hh>${inner}</div>`),
  sheet("p::before{display:none}", (inner) => `<p>${inner}</p>`),
  markup("<div style='visibility:hidden'><span style='visibility:visible'>*</span></div>"),
  markup("<div style='font-size:0'><span style='font-size:14px'>*</span></div>"),
  markup("<div style='color:#fff'><span style='color:#000'>*</span></div>"),
  markup("<p style='display:none'>y<p>*</p>"),
  markup("<font color=white><table><tr><td bgcolor=navy>*</td></tr></table></font>"),
  markup("<div hidden style='display:block'>*</div>"),
  markup("<!--[if !mso]><!-->*<!--<![endif]-->"),
  markup("<![if !mso]>*<![endif]>"),
  markup("<div aria-hidden=true>*</div>"),
  markup("<noscript>*</noscript>"),
  markup("<object>*</object>"),
  sheet(".qq:last-child{color:#fff}", (inner) => `<div><div class=qq>${inner}</div><br></div>`),
  markup("<div title='<p hidden>'>*</div>"),
  markup("<svg><p>*</p></svg>"),
  // The legacy color parser yields nearly black.
  markup("<font color=fff>*</font>"),
  markup("<b style='display:none'><div>y</b>*</div>"),
  markup("<font style='color:#fff'><div></font>*</div>"),
  markup("<div style='display:none'/></div>*")
]
