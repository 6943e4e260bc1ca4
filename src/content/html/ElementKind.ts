/** The default style of each element in browsers. */
const sheet: Readonly<Record<string, string>> = {
  "head title style script template param rp area base basefont datalist link meta noembed noframes iframe audio video canvas applet svg dialog meter progress annotation annotation-xml":
    "display:none",
  "html body div section article aside header footer nav main address form fieldset legend details summary figure figcaption hgroup search center dt dd caption tbody thead tfoot hr optgroup option menu dir frameset":
    "display:block",
  "p ul ol dl blockquote": "display:block",
  "pre listing plaintext xmp": "display:block;white-space:pre",
  table: "display:table",
  tr: "display:table-row",
  td: "display:table-cell",
  th: "display:table-cell;font-weight:bold",
  li: "display:list-item",
  "colgroup col": "display:none",
  h1: "display:block;font-weight:bold;font-size:2em",
  h2: "display:block;font-weight:bold;font-size:1.5em",
  h3: "display:block;font-weight:bold;font-size:1.17em",
  h4: "display:block;font-weight:bold",
  h5: "display:block;font-weight:bold;font-size:.83em",
  h6: "display:block;font-weight:bold;font-size:.67em",
  "b strong": "font-weight:bold",
  "small sub sup": "font-size:smaller",
  big: "font-size:larger",
  mphantom: "visibility:hidden",
  // Shown in motion, or in reverse order.
  marquee: "display:inline-block;animation:marquee",
  bdo: "unicode-bidi:bidi-override",
  mark: "background-color:#ff0;color:#000",
  "button select": "background-color:#efefef;color:#000;padding:1px;border:1px solid",
  textarea: "display:inline-block;white-space:pre-wrap;background-color:#fff;color:#000"
}

const block =
  "address article aside blockquote center details dialog dir div dl dd dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary ul xmp"

/** The names of the elements with each property. */
const groups = {
  /** It has a blank line before and after. */
  isParagraph: "p table ul ol dl blockquote pre h1 h2 h3 h4 h5 h6",
  isVoid:
    "area base basefont bgsound br col command embed frame hr image img input keygen link meta param source track wbr",
  /** A formatting element of the standard: misnested, it is closed and reopened in the following text. */
  isFormatting: "a b big code em font i nobr s small strike strong tt u",
  /** It closes an open paragraph. */
  endsParagraph: block,
  /** The end tag of an unknown or inline element does not search beyond it. */
  isSpecial: `${block} applet area base basefont bgsound body br button caption col colgroup embed frame frameset head html iframe img input keygen link marquee meta noembed noframes noscript object param script select source style table tbody td template textarea tfoot th thead title tr track wbr`,
  /** Its start tag closes SVG and MathML (the standard's rules for foreign content). */
  endsDrawing:
    "b big blockquote body br center code dd div dl dt em embed font h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var",
  /** It may be in the head. */
  isForHead: "head html base basefont bgsound link meta title noscript noframes style script template",
  /** Its text is not shown in the page. */
  isSilent: "style script title iframe noembed noframes",
  /** A table part without text of its own. A browser puts text there before the table. */
  isFramework: "table tbody thead tfoot tr",
  /** It may be in such a part. */
  isPartOfTable: "caption colgroup col tbody thead tfoot tr td th template form input",
  /** It contains text in a table. */
  isCellOrCaption: "td th caption"
}

/** The default properties of an element name. */
export interface ElementKind extends Readonly<Record<keyof typeof groups, boolean>> {
  readonly name: string
  /** How a browser styles the element, as declarations. */
  readonly css: string
  /** The level of a heading, else 0. */
  readonly heading: number
}

const split = (names: string): ReadonlyArray<string> => names.split(" ")

const styles = new Map(
  Object.entries(sheet).flatMap(([names, css]) => split(names).map((name) => [name, css] as const))
)

const members = Object.entries(groups).map(([group, names]) => [group, new Set(split(names))] as const)

const make = (name: string): ElementKind => ({
  name,
  css: styles.get(name) ?? "",
  heading: /^h[1-6]$/.test(name) ? Number(name.slice(1)) : 0,
  ...(Object.fromEntries(members.map(([group, names]) => [group, names.has(name)])) as Record<
    keyof typeof groups,
    boolean
  >)
})

const all: ReadonlyMap<string, ElementKind> = new Map(
  [...styles.keys(), ...members.flatMap(([, names]) => [...names])].map((name) => [name, make(name)] as const)
)

const other = make("")

/** The kind of an element. All without special rules are equal. `name` is in lower case. */
export const of = (name: string): ElementKind => all.get(name) ?? { ...other, name }
