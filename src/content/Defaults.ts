/** What a browser does with each element unless a mail says otherwise. */
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
  mark: "background-color:#ff0;color:#000",
  "button select": "background-color:#efefef;color:#000;padding:1px;border:1px solid",
  textarea: "display:inline-block;white-space:pre-wrap;background-color:#fff;color:#000"
}

/** The same by the name of the element. */
export const css: ReadonlyMap<string, string> = new Map(
  Object.entries(sheet).flatMap(([names, text]) => names.split(" ").map((name) => [name, text] as const))
)

/** The level of each heading. */
export const headings: ReadonlyMap<string, number> = new Map([1, 2, 3, 4, 5, 6].map((level) => [`h${level}`, level]))

/** Elements with a blank line before and after. */
export const paragraphs: ReadonlySet<string> = new Set("p table ul ol dl blockquote pre h1 h2 h3 h4 h5 h6".split(" "))

export const voids: ReadonlySet<string> = new Set(
  "area base basefont bgsound br col command embed frame hr image img input keygen link meta param source track wbr".split(
    " "
  )
)

/** Elements that end where they are not needed, and begin again where text follows (the standard's formatting elements). */
export const formatting: ReadonlySet<string> = new Set(
  "a b big code em font i nobr s small strike strong tt u".split(" ")
)

/** Elements that end a paragraph that is open. */
export const endsParagraph: ReadonlySet<string> = new Set(
  "address article aside blockquote center details dialog dir div dl dd dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary ul xmp".split(
    " "
  )
)

/** Elements that an end tag of an unknown or inline element does not reach over. */
export const special: ReadonlySet<string> = new Set([
  ...endsParagraph,
  ..."applet area base basefont bgsound body br button caption col colgroup embed frame frameset head html iframe img input keygen link marquee meta noembed noframes noscript object param script select source style table tbody td template textarea tfoot th thead title tr track wbr".split(
    " "
  )
])

/** Start tags that end a drawing (the standard's rules for foreign content). */
export const endsDrawing: ReadonlySet<string> = new Set(
  "b big blockquote body br center code dd div dl dt em embed font h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var".split(
    " "
  )
)

/** What may stand in a head. */
export const inHead: ReadonlySet<string> = new Set(
  "head html base basefont bgsound link meta title noscript noframes style script template".split(" ")
)
