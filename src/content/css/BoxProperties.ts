import * as Displays from "./Displays.ts"
import { thin, upTo } from "./HarmlessProperties.ts"
import * as Length from "./Length.ts"
import * as Shapes from "./Shapes.ts"
import { each, isInherited, type Property } from "./TextProperties.ts"

/** A number or percentage from 0 to 1, or undefined. */
const share = (value: string): number | undefined => {
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(%?)$/.exec(value)
  if (match === null) return value.endsWith(")") ? Length.parse(value)?.number : undefined
  return Math.max(0, match[2] === "%" ? Number(match[1]) / 100 : Number(match[1]))
}

type Side =
  | "left"
  | "right"
  | "top"
  | "bottom"
  | "width"
  | "height"
  | "maxWidth"
  | "maxHeight"
  | "marginLeft"
  | "marginTop"

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
  const length = Length.parse(value)
  if (length === undefined && !isBoxWord.test(value)) return false
  if (inPixels(length) > widestBox) return false
  effects.hasMinimum = (length !== undefined && Length.resolve(length, 16, 100) > 0) || effects.hasMinimum === true
  return true
}

const clips = (value: string) => /^(hidden|clip|scroll|auto|overlay|-moz-hidden-unscrollable)$/.test(value)

const isOverflow = (value: string) => clips(value) || /^(visible|initial|unset)$/.test(value)

/** More padding moves text. */
const mostPadding = 500

const padding: Property = (effects, value) => {
  for (const word of value.split(" ")) {
    const length = Length.parse(word)
    if (length === undefined) {
      if (isBoxWord.test(word)) continue
      return false
    }
    const pixels = Length.resolve(length, 16, 600)
    if (pixels > mostPadding) return false
    if (pixels > 0) effects.hasPadding = true
  }
  return true
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
const radius: Property = (effects, value) => {
  effects.isRound = !isSharp(value)
  return true
}

const corner: Property = (effects, value) => {
  effects.isRound ||= !isSharp(value)
  return true
}

const isModest = upTo(1_500)

const tracks: Property = (effects, value) => {
  effects.isTrack = true
  return /^[\w\s%./-]*$/.test(value) ? isModest(value.replace(/[\d.]+fr/g, "auto")) : /^[^\d]*$/.test(value)
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
    const display = Displays.of(value)
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
    const amount = value === "initial" ? 1 : share(value)
    if (amount === undefined) return false
    effects.opacity = Math.min(1, amount)
    effects.isRaised ||= amount < 1
    return true
  },
  ...each("filter -webkit-filter", Shapes.filter),
  zoom: (effects, value) => {
    const factor = value === "normal" ? 1 : share(value)
    if (factor === undefined) return false
    effects.zoom = factor === 0 ? 1 : factor
    return factor <= Shapes.mostScale
  },
  ...each("transform -webkit-transform", Shapes.transform),
  clip: (effects, value) => {
    effects.isClipped = Shapes.isEmptyRect(value)
    return value === "auto" || effects.isClipped || effects.position !== "absolute"
  },
  ...each("clip-path -webkit-clip-path", Shapes.clipPath),
  "content-visibility": (effects, value) => {
    effects.skipsContent = value === "hidden"
    return /^(hidden|visible|auto)$/.test(value)
  },
  position: (effects, value) => {
    if (value === "absolute" || value === "fixed") effects.position = value
    else effects.position = /^(relative|sticky|-webkit-sticky)$/.test(value) ? "relative" : "static"
    return effects.position !== "static" || /^(static|initial|unset)$/.test(value)
  },
  inset: (effects, value) => {
    const [top, right = top, bottom = top, left = right] = value.split(" ").map(Length.parse)
    Object.assign(effects, { top, right, bottom, left })
    return areSides(value)
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
  "overflow-y": (effects, value) => {
    effects.clipsY = clips(value)
    return isOverflow(value)
  },
  ...each("left inset-inline-start", side("left")),
  ...each("right inset-inline-end", side("right")),
  ...each("top inset-block-start", side("top")),
  ...each("bottom inset-block-end", side("bottom")),
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
  ...each("border-radius -webkit-border-radius", radius),
  ...each(
    "border-top-left-radius border-top-right-radius border-bottom-left-radius border-bottom-right-radius border-start-start-radius border-start-end-radius border-end-start-radius border-end-end-radius",
    corner
  ),
  "table-layout": (effects, value) => {
    effects.hasTracks = value === "fixed"
    return true
  },
  ...each("flex -webkit-flex -webkit-box-flex flex-basis flex-grow flex-shrink", tracks),
  ...each("grid grid-area grid-column grid-row grid-template grid-template-areas grid-template-columns", tracks),
  ...each("grid-template-rows grid-auto-columns grid-auto-rows grid-auto-flow", tracks)
}
