import properties from "mdn-data/css/properties.json" with { type: "json" }
import syntaxes from "mdn-data/css/syntaxes.json" with { type: "json" }

/** A page in which one declaration may hide a word. */
export interface StyleCase {
  readonly name: string
  /** The page with another word in the same place. */
  readonly html: (word: string) => string
}

/** Values at the ends of what numbers, lengths, colors and images can be. */
const extremes: ReadonlyArray<readonly [type: RegExp, values: ReadonlyArray<string>]> = [
  [/<(length|length-percentage|dimension)/, ["0", "1px", "-1px", "1500px", "-9999px", "-2em", "300vw", "-300vh"]],
  [/<(percentage|length-percentage)/, ["0%", "1%", "100%", "-100%", "-999%"]],
  [/<(number|integer|alpha-value|opacity-value)/, ["0", "0.01", "1", "-1", "9999"]],
  [/<angle/, ["90deg", "180deg", "1turn"]],
  [/<time/, ["0s", "9s", "-9s"]],
  [
    /<(color|paint)/,
    ["transparent", "#fff", "#000", "white", "rgb(255 255 255 / 1%)", "color-mix(in srgb, white, white)"]
  ],
  [
    /<(image|bg-image|mask-reference)/,
    ["linear-gradient(#000,#000)", "linear-gradient(transparent,transparent)", "url(data:,)"]
  ],
  [/<(filter-function)/, ["opacity(0)", "brightness(0) invert(1)", "blur(99px)", "contrast(0)"]],
  [
    /<(transform-function)/,
    ["scale(0)", "translate(-9999px)", "rotateY(90deg)", "matrix(0,0,0,0,0,0)", "skewX(90deg)"]
  ],
  [/<(basic-shape|clip-source)/, ["inset(50%)", "circle(0)", "polygon(0 0)", "path('M0 0')", "inset(0 0 100% 0)"]],
  [/<shadow/, ["0 0 0 999px #fff", "inset 0 0 0 999px #000"]],
  [/<shape/, ["rect(0,0,0,0)"]],
  [/<string/, ["''", "'x'"]],
  [/<(custom-ident|keyframes-name|dashed-ident)/, ["x", "--x"]]
]

const mostKeywords = 12

/** The syntax of a property with its named parts, one level deep. */
const whole = (syntax: string): string =>
  `${syntax} ${Array.from(syntax.matchAll(/<'?([\w-]+)'?(?:\s*\[[^\]]*\])?>/g), ([, name = ""]) => {
    const part: { readonly syntax?: string } | undefined = Reflect.get(syntaxes, name) ?? Reflect.get(properties, name)
    return part?.syntax ?? ""
  }).join(" ")}`

const valuesOf = (syntax: string): ReadonlyArray<string> => {
  const text = whole(syntax)
  const keywords = text.replace(/<[^>]*>|[\w-]+\([^)]*\)/g, " ").match(/(?<![\w-])[a-z][a-z-]+(?![\w-]*\()/g) ?? []
  const values = extremes.flatMap(([type, found]) => (type.test(text) ? found : []))
  return [...new Set([...keywords.slice(0, mostKeywords), ...values])]
}

/** Declarations that make a property count which has no effect alone. */
const companions = ["", "position:absolute;", "overflow:hidden;", "display:flex;overflow:hidden;"] as const

const page = (head: string, body: string) =>
  `<!doctype html><html><head>${head}</head><body><p>Hello there</p>${body}<p>Bye then</p></body></html>`

/** Where a declaration may be: on the element of the word, around it, or near it. */
const places: Readonly<Record<string, (style: string, word: string) => string>> = {
  inline: (style, word) => page("", `<div style="${style}">Code ${word}</div>`),
  sheet: (style, word) => page(`<style>.x{${style}}</style>`, `<div class=x>Code ${word}</div>`),
  around: (style, word) => page("", `<div style="${style}"><p>A line</p><span>Code ${word}</span></div>`),
  before: (style, word) => page("", `<div style="${style}">A line</div><div>Code ${word}</div>`),
  after: (style, word) => page("", `<div>Code ${word}</div><div style="${style};background:#fff">A line</div>`),
  "beside it in the line": (style, word) =>
    page("", `<p><b style="${style}">A word</b> Code ${word} <i style="${style}">end</i></p>`),
  inside: (style, word) => page("", `<div>Code ${word} <div style="${style}">A line</div></div>`),
  "in a box that clips": (style, word) =>
    page(
      "",
      `<div style="height:60px;overflow:hidden"><div style="${style}">A line</div><div>Code ${word}</div></div>`
    ),
  "on a row that clips": (style, word) =>
    page(
      "",
      `<div style="width:240px;overflow:hidden"><span style="${style}">A word</span> <span>Code ${word}</span></div>`
    )
}

/** Every property with extreme values in every place, half of them with a companion. */
export const cases: ReadonlyArray<StyleCase> = Object.entries(properties).flatMap(([property, { syntax }]) =>
  property.startsWith("--") || property.startsWith("-ms-")
    ? []
    : valuesOf(syntax).flatMap((value, index): ReadonlyArray<StyleCase> => {
        const companion = companions[index % companions.length] ?? ""
        return Object.entries(places).map(([place, html]) => {
          const style = `${place === "inline" ? "" : companion}${property}:${value}`
          return { name: `${place}: ${style}`, html: (word) => html(style, word) }
        })
      })
)
