import { Parser } from "htmlparser2"

// The sandbox and the policy protect the reader. Removing the elements that they forbid avoids browser warnings, and
// links that cannot work.

const kept = new Set(
  (
    "a abbr address article aside b bdi bdo big blockquote br caption center cite code col colgroup dd del details dfn " +
    "dir div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main mark nav ol p pre " +
    "q rp rt ruby s samp section small span strike strong style sub summary sup table tbody td tfoot th thead time tr " +
    "tt u ul var wbr"
  ).split(" ")
)

const keptAttributes = new Set(
  (
    "align alt bgcolor border cellpadding cellspacing class color cols colspan dir face height hidden hspace lang noshade " +
    "nowrap open rowspan size span start style title type valign vspace width"
  ).split(" ")
)

const voids = new Set(["br", "col", "hr", "img", "wbr"])

/** Their content is not mail text, or is parsed by other rules than HTML's. */
const dropped = new Set(
  (
    "applet audio base canvas embed frame frameset iframe link math meta noembed noframes noscript object plaintext " +
    "script select svg template textarea title video xmp"
  ).split(" ")
)
const droppedVoids = new Set(["base", "embed", "frame", "link", "meta"])

const escape = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

const quietCss = (css: string) =>
  css
    .replace(/[<>]/g, "")
    .replace(/@import[^;]*;?/gi, "")
    .replace(/url\s*\([^)]*\)?/gi, "none")
    .replace(/(https?:)?\/\/[^\s"')]*/gi, "")

const openTag = (name: string, attributes: Readonly<Record<string, string>>) => {
  const { alt = "", href, src = "" } = attributes
  const loads = name === "img" && !/^data:image\/(png|jpe?g|gif|webp);/i.test(src)
  if (loads) return alt.trim() === "" ? "" : `<span class="inlet-image">${escape(alt)}</span>`
  const own = Object.entries(attributes).flatMap(([key, value]) =>
    keptAttributes.has(key) ? [[key, key === "style" ? quietCss(value) : value] as const] : []
  )
  if (name === "a" && href !== undefined) own.push(["title", href])
  if (name === "img") own.push(["src", src])
  return `<${name}${own.map(([key, value]) => ` ${key}="${escape(value)}"`).join("")}>`
}

/** Maximum nesting depth. The parser's work for each tag grows with it, and no browser shows more. */
const deepest = 1_000

/** Removes active and loading elements from untrusted HTML. Ends at the maximum depth. */
export const render = (html: string): string => {
  const parts: Array<string> = []
  let depth = 0
  let hidden = 0
  let inStyle = false
  const parser = new Parser({
    onopentag(name, attributes) {
      if (++depth > deepest) return parser.pause()
      if (droppedVoids.has(name)) return
      if (dropped.has(name)) hidden++
      if (hidden > 0 || !kept.has(name)) return
      inStyle = name === "style"
      parts.push(openTag(name, attributes))
    },
    ontext(text) {
      if (hidden === 0) parts.push(inStyle ? quietCss(text) : escape(text))
    },
    onclosetag(name) {
      depth--
      if (droppedVoids.has(name)) return
      if (dropped.has(name)) hidden = Math.max(0, hidden - 1)
      else if (hidden === 0 && kept.has(name) && !voids.has(name)) parts.push(`</${name}>`)
      if (name === "style") inStyle = false
    }
  })
  parser.end(html)
  return parts.join("")
}

/** A complete document for a sandboxed frame. */
const page = (html: string): string => `<!doctype html>
<html><head><meta charset="utf-8"><title>HTML part</title><style>
:root { color-scheme: light; background: #fff }
body { margin: 16px; font: 15px/1.5 system-ui, sans-serif; color: #1c1b19; overflow-wrap: break-word }
img { max-width: 100% } a { text-decoration: underline }
.inlet-image { padding: 0 6px; border: 1px dashed #99958c; color: #67635b; font-size: 13px }
</style></head><body>${render(html)}</body></html>
`

/** The HTML part in an event's payload as such a document, or null without one. */
export const pageOf = (payload: string): string | null => {
  // Rendered by EventPayload, which writes this field in every payload.
  const { html } = JSON.parse(payload) as { readonly html: string | null }
  return html === null ? null : page(html)
}
