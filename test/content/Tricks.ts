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
  style("max-height:0;overflow:hidden"),
  style("height:0;width:0;overflow:hidden"),
  style("height:1px;overflow:clip"),
  style("width:0;overflow-x:hidden"),
  style("position:absolute;left:-9999px"),
  style("position:fixed;top:-200em"),
  style("position:absolute;left:calc(-1px * 9999)"),
  style("position:absolute;left:-200vw"),
  style("position:absolute;left:-999px"),
  style("margin-left:-9999px"),
  style("margin:-9999px 0 0"),
  style("clip-path:inset(100%)"),
  style("clip-path:inset(50%)"),
  style("position:absolute;clip:rect(0,0,0,0)"),
  style("position:absolute;clip:rect(1px 1px 1px 1px)"),
  style("transform:scale(0)"),
  style("transform:scale(0.01)"),
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
  sheet(".s{display:none!important}", (inner) => `<div class=s style="display:block">${inner}</div>`),
  sheet(".t{display:block}div.t{display:none}.t{display:block}", (inner) => `<div class=t>${inner}</div>`),
  sheet("a:before{content:'}/*'} .u{display:none} /* */", (inner) => `<div class=u>${inner}</div>`),
  { name: "a sheet behind it", around: (inner) => `<div class=v>${inner}</div><style>.v{display:none}</style>` },
  sheet("<!-- .mm{display:none} -->", (inner) => `<div class=mm>${inner}</div>`),
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
  style("text-indent:-9999px"),
  style("text-indent:-100%"),
  style("text-indent:-9999px;text-indent:1constructor"),
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
    style("color:window"),
    sheet(".z{color:#fff}", (inner) => `<div class=z>${inner}</div>`),
    markup('<font color="#FFFFFF">*</font>'),
    markup("<font color=ffffff>*</font>")
  ],
  whiteInside: [markup("<div><b style='color:#fff'><p>y</div>*</b>")],
  clear: [
    style("color:transparent"),
    style("color:rgba(0,0,0,0)"),
    style("color:#0000000a"),
    style("color:#000;opacity:.1")
  ],
  onBlack: [
    style("background:linear-gradient(#111,#000)"),
    style("background-image:linear-gradient(to right, black 0%, #000 100%)"),
    markup("<table bgcolor=black><tr><td>*</td></tr></table>")
  ],
  onDark: [
    style("color:#333;background:#333"),
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
  carrier('<input type=hidden value="*">'),
  carrier('<input type=password value="*">'),
  carrier("<script>*</script>"),
  carrier("<iframe>*</iframe>"),
  carrier("<noembed>*</noembed>"),
  carrier("<noframes>*</noframes>")
]

/** Tricks that Inlet does not evaluate: their text stays and is uncertain. */
export const unsure: ReadonlyArray<Trick> = [
  {
    name: "an indent after a block",
    around: (inner) => `<div style="text-indent:-9999px"><p>A line</p>${inner}</div>`
  },
  { name: "an indent after a line", around: (inner) => `<div style="text-indent:-9999px">A line<br>${inner}</div>` },
  style("opacity:.5;filter:opacity(10%)"),
  style("filter:blur(40px)"),
  style("clip-path:circle(0)"),
  style("clip-path:polygon(0 0, 0 0, 0 0)"),
  sheet("@supports (display:grid){.p{display:none}}", (inner) => `<div class=p>${inner}</div>`),
  sheet("@supports not (display:grid){.tt{display:none}}", (inner) => `<div class=tt>${inner}</div>`),
  {
    name: "a style sheet after a variable",
    around: (inner) => `<style>:root{--w:none}</style><div style="display:var(--w)">${inner}</div>`
  },
  sheet(".ll:nth-of-type(1){display:none}", (inner) => `<section><div class=ll>${inner}</div></section>`),
  style("color:hsl(0,0%,100%)"),
  style("color:lab(100 0 0)"),
  style("--c:#fff;color:var(--c)"),
  sheet(":root{--paper:#fff}", (inner) => `<div style="color:var(--paper)">${inner}</div>`),
  style("overflow:hidden;border-bottom-left-radius:100%"),
  style("overflow:hidden;margin-left:100%"),
  {
    name: "a thin line behind a paragraph in a box that clips",
    around: (inner) => `<div style="overflow:hidden;line-height:1px"><p>A line</p><span>${inner}</span></div>`
  },
  style("mask-image:linear-gradient(transparent,transparent)"),
  style("clip-path:path('M0 0')"),
  style("clip-path:inset(0 0 100% 0)"),
  style("content-visibility:hidden"),
  style("text-indent:-1e999px"),
  style("text-indent:calc(-1px/0)"),
  style("-webkit-text-security:disc"),
  style("-webkit-text-fill-color:transparent"),
  style("color:transparent;background:linear-gradient(#000,#333);-webkit-background-clip:text"),
  style("filter:contrast(0) brightness(2)"),
  style("color:hwb(0 100% 0%)"),
  style("color:color-mix(in srgb, white, #fff)"),
  style("color:rgb(from white r g b)"),
  style("color:var(--none)"),
  style("color:#333;background:url(x.png) no-repeat #343434"),
  style("background:url(data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP)"),
  style("background:linear-gradient(#000 90%,#fff 0)"),
  style("box-shadow:inset 0 0 0 99px #000"),
  style("z-index:-1;position:relative"),
  style("contain:strict"),
  sheet(".qq:last-child{color:#fff}", (inner) => `<div><div class=qq>${inner}</div><br></div>`),
  style("max-height:0"),
  style("color:#fff;background:linear-gradient(#fff,#000)"),
  style("display:bogus"),
  style("all:unset;display:none"),
  style("property-of-tomorrow:hide"),
  style("height:1px"),
  style("unicode-bidi:bidi-override;direction:rtl"),
  sheet("@keyframes k{to{opacity:0}}.va{animation:k 1s -1s paused both}", (inner) => `<div class=va>${inner}</div>`),
  sheet("@keyframes k{from{opacity:1}}.vb{opacity:0;animation:k 1s}", (inner) => `<div class=vb>${inner}</div>`),
  sheet("@scope (.vc){nav{display:none}}", (inner) => `<div class=vc><nav>${inner}</nav></div>`),
  sheet("@layer a{.vd{display:none}}", (inner) => `<div class=vd>${inner}</div>`),
  sheet("@container (width>1px){.ve{display:none}}", (inner) => `<div class=ve>${inner}</div>`),
  sheet("@rule-of-tomorrow{.vf{display:none}}", (inner) => `<div class=vf>${inner}</div>`),
  sheet("@supports selector(a){.vg{display:none}}", (inner) => `<div class=vg>${inner}</div>`),
  sheet(".vh:last-child{display:none}", (inner) => `<section><p>y</p><div class=vh>${inner}</div></section>`),
  sheet(".vi:class-of-tomorrow{display:none}", (inner) => `<div class=vi>${inner}</div>`),
  sheet(".vj{display:none}.vj:last-child{display:block}", (inner) => `<div class=vj>${inner}</div>`),
  sheet(".vl::first-line{font-size:0}", (inner) => `<div class=vl>${inner}</div>`),
  {
    name: "text after the first line of a clipped box",
    around: (inner) => `<div style="height:40px;overflow:hidden">${"word ".repeat(30)}${inner}</div>`
  },
  { name: "a collapsed column", around: (inner) => `<table><col style="visibility:collapse"><tr><td>${inner}</table>` },
  {
    name: "a flex item in a box that clips",
    around: (inner) => `<div style="width:100px;overflow:hidden;display:flex"><b>${inner}</b></div>`
  }
]

/** Tricks that may hide any text of a mail. */
export const unsureOfAll: ReadonlyArray<Trick> = [
  style("line-height:1500px"),
  style("transform:rotateX(90deg)"),
  style("transform:translateY(-100vh)"),
  style("transform:translate(0,-500vh)"),
  style("transform:translateX(-2000px) translateX(2000px)"),
  style("position:absolute;inset:0 auto auto -9999px"),
  style("zoom:.1"),
  style("position:relative;right:5000px"),
  style("scale:0"),
  style("translate:-9999px"),
  style("rotate:x 90deg"),
  style("transform:matrix(0,0,0,0,0,0)"),
  style("transform:skewX(90deg)"),
  sheet(".q{color:red;.r &{display:none}}", (inner) => `<div class=r><div class=q>${inner}</div></div>`),
  sheet(":is(.vk:last-child,.no){font-size:0}", (inner) => `<div class=vk>${inner}</div>`),
  sheet("@import 'data:text/css,.wb{display:none}';", (inner) => `<div class=wb>${inner}</div>`),
  sheet(".ga::before{content:'77'}", (inner) => `<b class=ga>${inner}</b>`),
  sheet(".gb:after{content:'\\37 7'}", (inner) => `${inner}<b class=gb></b>`),
  sheet("@media screen{.gc::after{content:attr(id)}}", (inner) => `<b class=gc id=77>${inner}</b>`),
  sheet(".gd::marker{content:'77 '}", (inner) => `<li class=gd>${inner}</li>`),
  {
    name: "text in a drawing beside it",
    around: (inner) => `${inner}<svg><title>Seven</title><text>77</text></svg>`
  },
  {
    name: "HTML in a drawing beside it",
    around: (inner) => `${inner}<svg><foreignObject><p>77</p></foreignObject></svg>`
  },
  style("margin-right:-9px"),
  style("margin-top:1600px"),
  style("position:fixed;bottom:-200px"),
  style("position:absolute;offset-path:path('M-9999 0 L-9998 0')"),
  {
    name: "moved back",
    around: (inner) =>
      `<div style="left:-2000px;position:relative"><div style="margin-left:2000px">${inner}</div></div>`
  },
  {
    name: "a box in front",
    around: (inner) =>
      `<div style="position:relative">${inner}<div style="position:absolute;inset:0;background:#fff"></div></div>`
  },
  sheet(
    ".wa{position:relative}.wa::after{content:'';position:absolute;inset:0;background:#fff}",
    (inner) => `<div class=wa>${inner}</div>`
  ),
  sheet(
    "@font-face{font-family:A;src:local(Arial);size-adjust:0%}",
    (inner) => `<p style="font-family:A">${inner}</p>`
  ),
  markup("<meta name=color-scheme content=dark>*"),
  { name: "a sheet that is too long", around: (inner) => `<style>${"x{a:b}".repeat(50_000)}</style>${inner}` }
]

/** HTML whose content is visible. */
export const seen: ReadonlyArray<Trick> = [
  style("display:block"),
  style("display:none;display:block"),
  style("display:block!important;display:none"),
  style("opacity:.6"),
  style("color:#fff;background:#000"),
  style("color:#777"),
  style("font-size:9px"),
  style("height:40px;overflow:hidden"),
  style("left:-9999px"),
  style("mso-hide:all"),
  style("clip:rect(0,0,0,0)"),
  style("position:relative;left:20px"),
  style("visibility:visible"),
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
  style("line-height:0"),
  style("line-height:1px", "p"),
  style("text-shadow:0 1px 0 #fff"),
  style("box-shadow:inset 0 1px 0 rgba(255,255,255,.2),0 1px 2px #000"),
  style("border:1px solid #414146;border-radius:9px;overflow:hidden"),
  style("width:600px;overflow:hidden"),
  style("height:60px;overflow:hidden"),
  style("position:relative;background:#fff"),
  sheet("p.rr:not(:empty){opacity:.9}", (inner) => `<p class=rr>${inner}</p>`),
  sheet(".ss:not(:hover){color:#333}", (inner) => `<div class=ss>${inner}</div>`),
  sheet(
    "@font-face{font-family:A;src:url(https://a.example/a.woff2)}.uu{font-family:A}",
    (inner) => `<div class=uu>${inner}</div>`
  ),
  markup("<input type=submit value='*'>"),
  markup("<object>*</object>"),
  markup("<div title='<p hidden>'>*</div>"),
  markup("<svg><p>*</p></svg>"),
  markup("<body link='#0563C1'><a href='https://a.example/x'>*</a>"),
  markup("<table style='background:#000;color:#333'><caption>*</caption></table>"),
  markup("<div style='width:90px'><div style='overflow:hidden'>*</div></div>"),
  markup("<div style='width:50px'><div style='width:300px'><p style='overflow:hidden'>*</p></div></div>"),
  sheet("ul{list-style:url('bullet1.png')}", (inner) => `<ul><li>${inner}</ul>`),
  markup("<table style='width:1px'><tr><td style='overflow:hidden'>*</td></tr></table>"),
  // The legacy color parser yields nearly black.
  markup("<font color=fff>*</font>"),
  markup("<b style='display:none'><div>y</b>*</div>"),
  markup("<font style='color:#fff'><div></font>*</div>"),
  markup("<div style='display:none'/></div>*")
]

/** HTML in which other elements, sheets or boxes hide a word that has no style of its own. */
export const aroundIt: ReadonlyArray<readonly [name: string, html: string]> = [
  [
    "a dark page by a variable",
    `<style>:root{--light:dark;color-scheme:var(--light)}</style><p style="color:#121212">CANARY`
  ],
  ["a float with a wide margin behind it", `<div style="float:right;margin-right:9999px">CANARY</div>`],
  ["a float moved to the right", `<div style="float:right;margin-right:-9999px">CANARY</div>`],
  ["a margin of the other direction", `<div dir=rtl style="margin-inline-end:-9999px">CANARY</div>`],
  ["an element that pulls the next one up", `<div style="margin-bottom:-9999px">x</div><p>CANARY`],
  ["an element before it that is moved up", `<div style="margin-top:-9999px">x</div><p>CANARY`],
  ["many elements that pull a little", `${"<div style='margin-bottom:-90px'>x</div>".repeat(20)}<p>CANARY`],
  ["an inline element that pulls the text after it", `<p><span style="margin-left:-9999px"></span>CANARY`],
  ["letters before it that pull it", `<p><span style="letter-spacing:-999px">aaa</span>CANARY`],
  [
    "an inline block in front",
    `<p>CANARY<span style="display:inline-block;margin-left:-100px;background:#fff;width:100px">&nbsp;</span>`
  ],
  ["an image in front", `<p>CANARY<img src="data:x" style="margin-left:-100px" width=100>`],
  [
    "an element of its own layer in front",
    `<p>CANARY</p><div style="margin-top:-40px;will-change:opacity;background:#fff">x</div>`
  ],
  ["block characters in front", `<p>CANARY<span style="position:relative;left:-90px">█████████</span>`],
  [
    "vertical lines that run out of the window",
    `<div style="writing-mode:vertical-rl;height:20px">${"word ".repeat(400)}CANARY</div>`
  ],
  [
    "a long line from right to left",
    `<div style="direction:rtl;white-space:nowrap">${"word ".repeat(100)}CANARY</div>`
  ],
  [
    "padding as high as the box",
    `<div style="box-sizing:border-box;height:40px;padding-top:40px;overflow:hidden">CANARY</div>`
  ],
  ["a line higher than its box", `<div style="height:20px;line-height:200px;overflow:hidden">CANARY</div>`],
  [
    "a border as high as the box",
    `<div style="box-sizing:border-box;height:40px;border-top:40px solid;overflow:hidden">CANARY</div>`
  ],
  ["a selector with a comment", `<style>.a/**/.b{display:none}</style><p class="a b">CANARY`],
  [
    "a sheet of another namespace",
    `<style>.a{display:none}</style><style>@namespace "x";.a{display:block}</style><p class=a>CANARY`
  ],
  [
    "a sheet with another title",
    `<style title=a>.a{display:none}</style><style title=b>.a{display:block}</style><p class=a>CANARY`
  ],
  [
    "an alternate sheet",
    `<style>.a{display:none}</style><link rel="alternate stylesheet" title=x href="data:text/css,.a{display:block}"><p class=a>CANARY`
  ],
  [
    "a sheet in a template",
    `<style>.a{display:none}</style><template><style>.a{display:block}</style></template><p class=a>CANARY`
  ],
  [
    "a sheet in a select",
    `<style>.a{display:none}</style><select><style>.a{display:block}</style></select><p class=a>CANARY`
  ],
  ["an image of the background attribute", `<table background="data:image/gif;base64,x"><tr><td>CANARY</table>`],
  ["reversed text", `<bdo dir=rtl>CANARY</bdo>`],
  ["moving text", `<marquee>CANARY</marquee>`],
  [
    "a wide flex item at the end",
    `<div style="display:flex;justify-content:flex-end"><div style="flex:0 0 3000px">CANARY</div></div>`
  ],
  ["a wide float", `<div style="float:right;width:3000px">CANARY</div>`],
  [
    "lines below the outer of two boxes",
    `<div style="height:40px;overflow:hidden"><div style="overflow:hidden;width:300px"><br>a<br>b<br>c<br>CANARY</div></div>`
  ],
  [
    "a block wider than its box",
    `<div style="width:100px;overflow:hidden"><div style="width:600px">word word word word word CANARY</div></div>`
  ],
  [
    "a cell behind a wide one",
    `<div style="width:100px;overflow:hidden"><table width=600><tr><td width=500>a</td><td>CANARY</table></div>`
  ],
  [
    "a margin as high as the box",
    `<div style="height:40px;overflow:hidden"><div style="margin-top:100px">CANARY</div></div>`
  ],
  ["an image as high as the box", `<div style="height:40px;overflow:hidden"><img height=100><div>CANARY</div></div>`],
  [
    "a row as high as the box",
    `<div style="height:40px;overflow:hidden"><table><tr><td height=100></td></tr><tr><td>CANARY</table></div>`
  ],
  ["the usual margin of a paragraph", `<div style="height:18px;overflow:hidden"><p>CANARY</div>`],
  [
    "content before it that pulls it",
    `<style>.a::before{content:"";display:block;margin-bottom:-9999px}</style><p class=a>CANARY`
  ],
  [
    "content before it as high as the box",
    `<style>.a::before{content:"";display:block;height:100px}</style><div class=a style="height:40px;overflow:hidden">CANARY</div>`
  ],
  [
    "an absolute position in two boxes",
    `<div style="position:relative;overflow:hidden;height:40px"><div style="overflow:hidden;height:50px"><div style="position:absolute;top:300px">CANARY</div></div></div>`
  ],
  ["a wide tab", `<div style="width:100px;overflow:hidden;white-space:pre;tab-size:999">a\tCANARY</div>`],
  [
    "padding as wide as the box",
    `<div style="width:200px;overflow:hidden;white-space:nowrap"><span style="padding-left:300px"></span>CANARY</div>`
  ],
  [
    "a margin below the element before it",
    `<div style="height:40px;overflow:hidden"><div style="margin-bottom:100px">a</div><div>CANARY</div></div>`
  ],
  [
    "a high box that clips before it",
    `<div style="height:60px;overflow:hidden"><div style="overflow:hidden;height:100px">a</div><div>CANARY</div></div>`
  ],
  [
    "a box whose height is a part of its width",
    `<div style="height:60px;overflow:hidden"><div style="overflow:hidden;aspect-ratio:1">a</div><div>CANARY</div></div>`
  ],
  [
    "padding of a box that clips before it",
    `<div style="height:60px;overflow:hidden"><div style="overflow:hidden;padding-bottom:99px">a</div><div>CANARY</div></div>`
  ],
  [
    "a minimum height before it",
    `<div style="height:60px;overflow:hidden"><div style="overflow:hidden;min-height:99px">a</div><div>CANARY</div></div>`
  ],
  [
    "high text before it",
    `<div style="height:60px;overflow:hidden"><div style="overflow:hidden;line-height:99px">a</div><div>CANARY</div></div>`
  ],
  ["an outline of letters beside it", `<p><b style="-webkit-text-stroke:200px #fff">a</b> CANARY`],
  ["a wide shadow of letters beside it", `<p>CANARY <b style="text-shadow:-60px 0 #fff;color:transparent">█████</b>`],
  [
    "a property of tomorrow in its box",
    `<div style="height:60px;overflow:hidden"><div style="room-of-tomorrow:99px">a</div><div>CANARY</div></div>`
  ],
  [
    "a reflection of the element behind it",
    `<div>CANARY</div><div style="-webkit-box-reflect:above;background:#fff">a</div>`
  ],
  ["a high box before it by its ratio", `<div style="overflow:hidden;aspect-ratio:0.01">a</div><div>CANARY</div>`],
  ["a wide shadow of a box beside it", `<p>CANARY <b style="box-shadow:0 0 0 999px #fff">a</b>`],
  ["a shadow of a box that is as wide as the word", `<p>CANARY <b style="box-shadow:0 0 0 50px #fff">a</b>`],
  ["large letters before it", `<div style="overflow:hidden;font-size-adjust:9999">a</div><div>CANARY</div>`],
  [
    "a box from beyond both sides of the window",
    `<div>CANARY</div><div style="position:absolute;inset:-9999px;background:#fff">a</div>`
  ],
  ["a large box before it", `<div style="overflow:hidden;zoom:9999">a</div><div>CANARY</div>`],
  ["a background of its column", `<table><col bgcolor=black><tr><td>CANARY</table>`],
  ["a background of its group of columns", `<table><colgroup style="background:#000"><col><tr><td>CANARY</table>`],
  ["a caption beside a dark table", `<table style="background:#000;color:#fff"><caption>CANARY</caption></table>`],
  [
    "a caption by its display",
    `<div style="display:table;background:#000;color:#fff"><p style="display:table-caption">CANARY`
  ],
  ["frames in place of the body", `<frameset></frameset><p>CANARY`],
  ["an object of a type", `<object type="text/html">CANARY</object>`],
  ["an outline within its box", `<p style="outline:10px solid #fff;outline-offset:-10px">CANARY`],
  ["an outline around the next line", `<p>CANARY<br><span style="outline:10px solid #fff">word word</span>`],
  ["a shadow of the next line that is moved up", `<p>CANARY<br><b style="box-shadow:0 -10px 0 10px #fff">word</b>`],
  [
    "a table with a fixed layout",
    `<table style="table-layout:fixed;width:1px"><tr><td style="overflow:hidden">CANARY</table>`
  ],
  ["a box that clips in a narrow one", `<div style="width:1px"><div style="overflow:hidden">CANARY</div></div>`],
  [
    "one line in a narrow box",
    `<div style="width:100px"><p style="overflow:hidden;white-space:nowrap">word word word CANARY</p></div>`
  ],
  ["a part of a narrow box", `<div style="max-width:99px"><p style="overflow:hidden;width:2%">CANARY</p></div>`],
  ["an override that another element leaves open", `<p>is &#x202e;<b>CANARY</b>`],
  ["items in reverse order", `<p style="display:flex;flex-direction:row-reverse"><b>CAN</b><b>CANARY</b>`],
  ["an item out of order", `<p style="display:flex"><b style="order:2">CANARY</b><b>a</b>`],
  ["quotation marks of digits", `<p><q style="quotes:'9' '9'">CANARY</q>`],
  ["a list marker of digits", `<ul style="list-style-type:'9'"><li>CANARY</ul>`],
  [
    "a counter style of digits",
    `<style>@counter-style x{system:cyclic;symbols:'9'}</style><ol style="list-style:x"><li>CANARY</ol>`
  ]
]
