import type { Display } from "./Effects.ts"
import { thin, upTo } from "./HarmlessProperties.ts"
import * as Length from "./Length.ts"
import { each, isInherited, type Property } from "./TextProperties.ts"

const displays: ReadonlyArray<readonly [Display, RegExp]> = [
  ["none", /^(none|table-column|table-column-group)$/],
  ["inline", /^(initial|contents|ruby|inline|inline-(block|flex|grid|table)|-webkit-inline-flex)$/],
  ["block", /^(block|flex|grid|flow-root|-webkit-(flex|box)|table-(row-group|header-group|footer-group))$/],
  ["table", /^table$/],
  ["row", /^table-row$/],
  ["cell", /^table-cell$/],
  ["item", /^list-item$/]
]

type Side = "left" | "top" | "width" | "height" | "maxWidth" | "maxHeight" | "marginLeft" | "marginTop"

const isBoxWord =
  /^(auto|none|initial|inherit|unset|fit-content|min-content|max-content|-webkit-fill-available|-moz-fit-content|stretch)$/

/** Whether all words of a shorthand are lengths, or words for one. */
const areSides = (value: string) =>
  value.split(" ").every((word) => Length.parse(word) !== undefined || isBoxWord.test(word))

/** Browsers ignore a negative size. */
const isNegativeSize = (name: Side, value: string) =>
  value.startsWith("-") && /^-[\d.]/.test(value) && /idth|eight/.test(name)

const side =
  (name: Side): Property =>
  (effects, value) => {
    if (isNegativeSize(name, value)) return true
    const length = Length.parse(value)
    // Browsers ignore a value such as `30px, width: 30px`.
    if (length === undefined && !isBoxWord.test(value)) return /^[^(]*[,:]/.test(value)
    effects[name] = length
    return name.startsWith("max") || inPixels(length) <= widestBox
  }

const inPixels = (length: Length.Length | undefined) => (length === undefined ? 0 : Length.resolve(length, 16, 600))

/** More scaled text may leave the window. */
const mostScale = 3

/** Scales alone are evaluated. */
const transform: Property = (effects, value) => {
  const factor = value === "none" || value === "initial" ? 1 : Number(/^scale\(([\d.]+)\)$/.exec(value)?.[1])
  effects.isRaised = value !== "none"
  effects.scale = Number.isNaN(factor) ? 1 : factor
  return factor <= mostScale
}

/** Only filters of old versions of Internet Explorer, which browsers ignore, are evaluated. */
const filter: Property = (effects, value) => {
  const isNone = /^(none$|initial$|progid:|alpha\()/.test(value)
  effects.isRaised ||= !isNone
  return isNone
}

/** Empty boxes of text for programs that read aloud. */
const emptyRect = /^rect\((?:[01]px|0)(?:[ ,]+(?:[01]px|0)){3}\)$/
const emptyPath = /^inset\((?:50|100)%\)$/

/** Other shapes are not evaluated. */
const clipPath: Property = (effects, value) => {
  effects.isClippedByPath = emptyPath.test(value)
  return effects.isClippedByPath || /^(none|initial|unset)$/.test(value)
}

/** Wider margins and boxes may move text to the left of the window, where elements align to the right. */
const mostBehind = 500
const widestBox = 1_500

/** A margin behind or below an element, which moves the elements that follow. */
const following: Property = (effects, value) => {
  const length = Length.parse(value)
  effects.pulls = Math.max(effects.pulls ?? 0, -inPixels(length))
  return length === undefined ? isBoxWord.test(value) : Math.abs(inPixels(length)) <= mostBehind
}

const minimum: Property = (effects, value) => {
  const pixels = inPixels(Length.parse(value))
  effects.hasMinimum ||= pixels > 0
  return pixels <= widestBox && areSides(value)
}

const clips = (value: string) => /^(hidden|clip|scroll|auto|overlay|-moz-hidden-unscrollable)$/.test(value)

const isOverflow = (value: string) => clips(value) || /^(visible|initial|unset)$/.test(value)

/** More padding moves text. */
const mostPadding = 500

const padding: Property = (effects, value) => {
  const sides = value.split(" ").map((word) => inPixels(Length.parse(word)))
  effects.hasPadding ||= sides.some((pixels) => pixels > 0)
  return Math.max(...sides) <= mostPadding && areSides(value)
}

const border: Property = (effects, value) => {
  if (value === "0" || value === "none") return true
  const isDrawn = /\b(solid|outset|dashed|dotted|double|groove|ridge|inset)\b/.test(value)
  const isThin = /(^|\s)0(px)?(\s|$)/.test(value)
  effects.hasBorder = (isDrawn && !isThin) || effects.hasBorder === true
  return isNarrow(value)
}

const isNarrow = thin(200)

const isSharp = upTo(100)

/** Corners that cut letters off if the box clips its content. */
const corner: Property = (effects, value) => {
  effects.isRound ||= !isSharp(value)
  return true
}

const overflow =
  (...axes: ReadonlyArray<"clipsX" | "clipsY">): Property =>
  (effects, value) => {
    const [first = "", second = first] = value.split(" ")
    for (const axis of axes) effects[axis] = clips(axis === "clipsX" ? first : second)
    return isOverflow(first) && isOverflow(second)
  }

/** Properties of boxes: their presence, position and size. */
export const properties: Readonly<Record<string, Property>> = {
  display: (effects, value) => {
    const display = displays.find(([, values]) => values.test(value))?.[0]
    effects.display = display ?? effects.display
    effects.hasTracks = /flex|grid|-webkit-box/.test(value)
    return display !== undefined
  },
  visibility: (effects, value) => {
    if (value === "hidden" || value === "collapse") effects.visible = false
    else if (value === "visible" || value === "initial") effects.visible = true
    else if (isInherited(value)) effects.visible = "inherit"
    else return false
    return true
  },
  opacity: (effects, value) => {
    const match = /^([+-]?[\d.]+)(%?)$/.exec(value === "initial" ? "1" : value)
    const amount = Math.min(1, Number(match?.[1]) / (match?.[2] === "%" ? 100 : 1))
    if (Number.isNaN(amount)) return false
    effects.opacity = Math.max(0, amount)
    effects.isRaised ||= amount < 1
    return true
  },
  ...each("filter -webkit-filter", filter),
  ...each("transform -webkit-transform", transform),
  clip: (effects, value) => {
    effects.isClipped = emptyRect.test(value)
    return value === "auto" || effects.isClipped || effects.position !== "absolute"
  },
  ...each("clip-path -webkit-clip-path", clipPath),
  position: (effects, value) => {
    if (value === "absolute" || value === "fixed") effects.position = value
    else effects.position = /^(relative|sticky|-webkit-sticky)$/.test(value) ? "relative" : "static"
    return effects.position !== "static" || /^(static|initial|unset)$/.test(value)
  },
  margin: (effects, value) => {
    const [top = "", right = top, bottom = top, left = right] = value.split(" ")
    effects.marginTop = Length.parse(top)
    effects.marginLeft = Length.parse(left)
    const behind = inPixels(Length.parse(right))
    effects.pulls = Math.max(0, -behind) + Math.max(0, -inPixels(Length.parse(bottom)))
    return behind <= mostBehind && areSides(value)
  },
  overflow: overflow("clipsX", "clipsY"),
  "overflow-x": overflow("clipsX"),
  "overflow-y": overflow("clipsY"),
  ...each("left inset-inline-start", side("left")),
  ...each("top inset-block-start", side("top")),
  ...each("width inline-size", side("width")),
  ...each("height block-size", side("height")),
  ...each("max-width max-inline-size", side("maxWidth")),
  ...each("max-height max-block-size", side("maxHeight")),
  ...each("min-width min-height min-inline-size min-block-size", minimum),
  ...each("margin-left margin-inline-start", side("marginLeft")),
  ...each("margin-top margin-block-start", side("marginTop")),
  ...each("margin-right margin-bottom margin-inline-end margin-block-end", following),
  padding: (effects, value) => {
    effects.hasPadding = false
    return padding(effects, value)
  },
  ...each(
    "padding-top padding-bottom padding-left padding-right padding-inline padding-block padding-inline-start padding-inline-end padding-block-start padding-block-end",
    padding
  ),
  border: (effects, value) => {
    effects.hasBorder = false
    return border(effects, value)
  },
  ...each("border-top border-bottom border-left border-right border-inline border-block", border),
  ...each(
    "border-radius -webkit-border-radius border-top-left-radius border-top-right-radius border-bottom-left-radius border-bottom-right-radius border-start-start-radius border-start-end-radius border-end-start-radius border-end-end-radius",
    corner
  ),
  "table-layout": (effects, value) => {
    effects.hasTracks = value === "fixed"
    return true
  }
}
