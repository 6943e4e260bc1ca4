import * as Length from "./Length.ts"

/** Whether a value of a property can hide no text. */
export type Harmless = (value: string) => boolean

const oneOf = (words: string): Harmless => {
  const known = new Set([...words.split(" "), "initial", "inherit", "unset"])
  return (value) => known.has(value)
}

/** A value in which all lengths, in px, are between `-most` and `most`. A percentage counts as a part of 600 px. */
export const upTo =
  (most: number): Harmless =>
  (value) =>
    value === "0" ||
    !/[\d(]/.test(value) ||
    value.split(/[\s,/]+/).every((word) => {
      if (!/\d/.test(word)) return !word.includes("(") && !word.includes(")")
      const length = Length.parse(word)
      return (length !== undefined && Math.abs(Length.resolve(length, 16, 600)) <= most) || /^#[\da-f]{3,8}$/.test(word)
    })

/** Colors in functions have no length. */
const withoutColors = (value: string) => value.replace(/\b(?:rgb|hsl)a?\([^()]*\)/g, "#000")

/** A value with colors, in which all lengths are short. */
export const thin = (most: number): Harmless => {
  const isWithin = upTo(most)
  return (value) => isWithin(withoutColors(value))
}

/** Properties of typography, lists, tables, printing, scrolling and interaction that never hide text. */
const names =
  "font-family font-style font-variant font-variant-alternates font-variant-caps font-variant-east-asian font-variant-emoji font-variant-ligatures font-variant-numeric font-variant-position font-feature-settings font-kerning font-language-override font-optical-sizing font-palette font-synthesis font-synthesis-small-caps font-synthesis-style font-synthesis-weight font-display font-stretch font-width font-smooth font-smoothing -webkit-font-feature-settings -webkit-font-smoothing -webkit-font-kerning -webkit-font-variant-ligatures " +
  "text-align text-align-all text-align-last text-anchor text-autospace text-decoration-color text-decoration-line text-decoration-skip text-decoration-skip-ink text-decoration-style text-emphasis text-emphasis-color text-emphasis-position text-emphasis-style text-group-align text-justify text-orientation text-overflow text-rendering text-spacing text-spacing-trim text-underline-position text-wrap-style -webkit-text-decoration-skip -webkit-text-orientation -webkit-hyphens -webkit-line-break -webkit-locale -webkit-nbsp-mode " +
  "direction dominant-baseline baseline-source alignment-baseline hyphens hyphenate-character hyphenate-limit-chars hanging-punctuation line-break overflow-wrap word-break word-wrap ruby-align ruby-overhang ruby-position wrap-option glyph-orientation-vertical " +
  "border-color border-top-color border-right-color border-bottom-color border-left-color border-inline-color border-block-color border-style border-top-style border-right-style border-bottom-style border-left-style border-collapse box-sizing -webkit-box-sizing box-decoration-break -webkit-box-decoration-break corner-shape " +
  "background-attachment background-origin background-position background-position-x background-position-y background-repeat background-size -webkit-background-size -webkit-background-origin outline-color outline-style column-rule-color column-rule-style column-fill column-span " +
  "align-content align-items align-self justify-content justify-items justify-self place-content place-items place-self float clear caption-side empty-cells object-fit object-position image-rendering image-orientation image-resolution list-style-image list-style-position counter-increment counter-reset counter-set " +
  "-webkit-box-align -webkit-box-orient -webkit-box-pack -webkit-align-items -webkit-justify-content -webkit-user-drag -webkit-user-select -webkit-user-modify -webkit-tap-highlight-color -webkit-touch-callout -webkit-overflow-scrolling -webkit-print-color-adjust -webkit-margin-collapse -webkit-column-break-inside -webkit-backface-visibility -webkit-border-horizontal-spacing -webkit-border-vertical-spacing -webkit-rtl-ordering -webkit-highlight " +
  "appearance -webkit-appearance accent-color caret caret-color caret-shape cursor pointer-events user-select resize touch-action interactivity nav-down nav-left nav-right nav-up spatial-navigation-action hyphenate print-color-adjust color-adjust forced-color-adjust color-interpolation color-interpolation-filters color-rendering dynamic-range-limit shape-rendering backface-visibility perspective transform-box transform-style isolation will-change view-transition-name view-transition-class anchor-name anchor-scope container-name timeline-scope " +
  "break-after break-before break-inside page page-break-after page-break-before page-break-inside orphans widows size bleed marks margin-trim scroll-behavior scroll-margin scroll-padding scroll-snap-align scroll-snap-stop scroll-snap-type scrollbar-color scrollbar-gutter scrollbar-width overflow-anchor overscroll-behavior overscroll-behavior-x overscroll-behavior-y overflow-clip-margin " +
  "transition transition-behavior transition-delay transition-duration transition-property transition-timing-function -webkit-transition -webkit-transition-duration -webkit-transition-property -webkit-transition-timing-function -webkit-transition-delay " +
  "fill fill-opacity fill-rule stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit stop-color stop-opacity clip-rule marker paint-order vector-effect flood-color flood-opacity lighting-color shape-outside shape-margin shape-image-threshold math-shift math-style speak speak-as src unicode-range behavior azimuth volume layout-grid layout-grid-mode text-underline text-underline-color ime-mode tab-interval alt v-text-anchor"

const any: ReadonlySet<string> = new Set(names.split(" "))

/** Several properties with the same test. */
const each = (names: string, harmless: Harmless) => names.split(" ").map((name) => [name, harmless] as const)

const isShort = upTo(200)

/** Properties that hide no text with these values. */
const some: ReadonlyMap<string, Harmless> = new Map<string, Harmless>([
  ...each(
    "margin-right margin-bottom margin-inline-end margin-block-end",
    (value) => !value.includes("-") && isShort(value)
  ),
  ...each("border-right border-left", thin(200)),
  ["outline", thin(3)],
  ...each("text-decoration -webkit-text-decoration", thin(5)),
  ...each("transform-origin -webkit-transform-origin perspective-origin", upTo(600)),
  ...each(
    "border-width border-top-width border-right-width border-bottom-width border-left-width border-spacing",
    isShort
  ),
  ...each("border-radius gap row-gap grid-gap", upTo(100)),
  // An outline within its box, or far around it, lies over text.
  ["outline-offset", (value) => !value.includes("-") && upTo(3)(value)],
  ...each("text-underline-offset word-spacing", upTo(50)),
  ["outline-width", upTo(3)],
  ...each("vertical-align baseline-shift", upTo(10)),
  ["tab-size", upTo(20)],
  ["text-decoration-thickness", (value) => upTo(5)(value) || value === "from-font"],
  ["column-gap", (value) => value === "normal" || upTo(100)(value)],
  ...each(
    "border-image-source font-size-adjust text-combine-upright animation animation-name -webkit-animation line-clamp -webkit-line-clamp offset offset-path backdrop-filter",
    oneOf("none")
  ),
  ...each("text-shadow border-image", oneOf("none 0")),
  ...each("right bottom inset-inline-end inset-block-end", oneOf("0 0px auto")),
  ...each("-webkit-text-stroke -webkit-text-stroke-width", oneOf("0 0px")),
  ...each("font-variation-settings mix-blend-mode background-blend-mode container-type", oneOf("normal")),
  ...each("column-count columns -webkit-column-count", oneOf("auto 1")),
  ["column-width", oneOf("auto")],
  ["text-size-adjust", oneOf("none auto 100%")],
  ["-webkit-text-size-adjust", oneOf("none auto 100% 100")],
  ["zoom", oneOf("1 100% normal")],
  ...each("background-clip -webkit-background-clip", oneOf("border-box padding-box content-box")),
  ["content-visibility", oneOf("visible auto")],
  ["-webkit-text-security", oneOf("none")],
  ["unicode-bidi", oneOf("normal embed isolate plaintext -webkit-isolate")],
  ["contain", oneOf("none layout style")],
  ["writing-mode", oneOf("horizontal-tb lr-tb lr")],
  ["z-index", (value) => value === "auto" || /^\d+$/.test(value) || value === "initial" || value === "inherit"],
  // Words in another order, or before or after an element, change what it says.
  ["order", oneOf("0")],
  ...each(
    "flex-direction flex-flow flex-wrap -webkit-flex-direction -webkit-flex-wrap",
    (value) => !value.includes("reverse")
  ),
  ["-webkit-box-direction", oneOf("normal")],
  ...each(
    "quotes list-style list-style-type",
    (value) => !/["'].*[\p{L}\p{N}]/su.test(value.replace(/url\([^()]*\)/g, ""))
  ),
  ["content", (value) => !/\(|["'].*[\p{L}\p{N}]/su.test(value)],
  ["color-scheme", (value) => value === "normal" || /^[a-z ]*\blight\b[a-z ]*$/.test(value)],
  ["supported-color-schemes", () => true]
])

/** Properties that only other rendering engines and mail programs know, and attributes of HTML. */
const foreign =
  /^(?:mso-|-ms-|-moz-|-o-|-khtml-|-apple-|-premailer-|x-|tab-stops$|v?align$|bgcolor$|cell(?:padding|spacing)$)/

/** Browsers skip a declaration whose name is no identifier. */
const identifier = /^-?[a-z_][\w-]*$/

/** Whether a property hides no text, whatever its value. */
export const isHarmless = (property: string): boolean =>
  any.has(property) || (!some.has(property) && (foreign.test(property) || !identifier.test(property)))

/** Whether a property hides no text with this value. A value with `var()` is unknown. */
export const isHarmlessAs = (property: string, value: string): boolean => some.get(property)?.(value) ?? false
