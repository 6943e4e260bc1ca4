import * as Color from "./Color.ts"
import type { Display } from "./Effects.ts"
import * as Length from "./Length.ts"
import * as Shapes from "./Shapes.ts"
import { isInherited, type Property } from "./TextProperties.ts"

const displays: Readonly<Record<string, Display>> = {
  none: "none",
  inline: "inline",
  contents: "inline",
  "inline-block": "inline",
  "inline-flex": "inline",
  "inline-grid": "inline",
  "inline-table": "inline",
  ruby: "inline",
  block: "block",
  flex: "block",
  grid: "block",
  "flow-root": "block",
  "-webkit-box": "block",
  table: "table",
  "table-row-group": "block",
  "table-header-group": "block",
  "table-footer-group": "block",
  "table-caption": "block",
  "table-column": "none",
  "table-column-group": "none",
  "table-row": "row",
  "table-cell": "cell",
  "list-item": "item"
}

const opacity = (value: string): number | undefined => {
  const match = /^([+-]?[\d.]+(?:e[+-]?\d+)?)(%?)$/.exec(value)
  const length = match === null && value.startsWith("calc(") ? Length.parse(value)?.number : undefined
  if (match === null) return length
  return Math.max(0, Math.min(1, match[2] === "%" ? Number(match[1]) / 100 : Number(match[1])))
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

const isBoxWord = /^(auto|none|initial|inherit|unset|revert|fit-content|min-content|max-content)$/

const side =
  (name: Side): Property =>
  (effects, value) => {
    const length = Length.parse(value)
    if (length !== undefined || isBoxWord.test(value)) effects[name] = length
  }

const clips = (value: string) => /^(hidden|clip|scroll|auto|-moz-hidden-unscrollable)$/.test(value)

/** Width of a visible border or padding. */
const isSome = (value: string) =>
  value.split(" ").some((word) => {
    const length = Length.parse(word)
    return length !== undefined && length.px + length.em > 0
  })

const padding: Property = (effects, value) => {
  effects.hasPadding = isSome(value) || effects.hasPadding === true
}

const border: Property = (effects, value) => {
  const isDrawn = /\b(solid|outset|dashed|dotted|double)\b/.test(value) && !/(^|\s)0(px)?(\s|$)/.test(value)
  effects.hasBorder = isDrawn || effects.hasBorder === true
}

const transform: Property = (effects, value) => Shapes.transform(effects, value)

const filter: Property = (effects, value) => {
  const amount = opacity(/(?:^|\s)opacity\(\s*([^)]*?)\s*\)/.exec(value)?.[1] ?? "1")
  if (amount !== undefined) effects.filter = Shapes.isBlurred(value) ? 0 : amount
}

const clipPath: Property = (effects, value) => {
  effects.isClippedByPath = Shapes.isEmptyPath(value)
}

const mask: Property = (effects, value) => {
  effects.isMasked = Shapes.gradient(value)?.every((color) => Color.alphaOf(color) < 26) ?? false
}

/** Properties of boxes: their presence, position and size. */
export const properties: Readonly<Record<string, Property>> = {
  display: (effects, value) => {
    const display = displays[value.replace(/^block flow(-root)?$/, "block")]
    if (display !== undefined) effects.display = display
  },
  visibility: (effects, value) => {
    if (value === "hidden" || value === "collapse") effects.visible = false
    else if (value === "visible" || value === "initial") effects.visible = true
    else if (isInherited(value)) effects.visible = "inherit"
  },
  opacity: (effects, value) => {
    const amount = opacity(value)
    if (amount !== undefined) effects.opacity = amount
  },
  filter,
  "-webkit-filter": filter,
  zoom: (effects, value) => {
    const factor = opacity(value) ?? 1
    effects.zoom = factor === 0 ? 1 : factor
  },
  transform,
  "-webkit-transform": transform,
  scale: (effects, value) => {
    const factors = value.split(" ").slice(0, 2)
    effects.scale = value === "none" ? 1 : Math.min(...factors.map((part) => Math.abs(opacity(part) ?? 1)))
  },
  translate: (effects, value) => {
    effects.isTranslated = Shapes.isFar(value.split(" "))
  },
  rotate: (effects, value) => {
    effects.rotate = /^[xy]\s/.test(value) ? Shapes.turned(value.slice(2)) : 1
  },
  clip: (effects, value) => {
    effects.isClipped = Shapes.isEmptyRect(value)
  },
  "clip-path": clipPath,
  "-webkit-clip-path": clipPath,
  mask,
  "mask-image": mask,
  "-webkit-mask": mask,
  "-webkit-mask-image": mask,
  "content-visibility": (effects, value) => {
    effects.skipsContent = value === "hidden"
  },
  position: (effects, value) => {
    if (value === "absolute" || value === "fixed") effects.position = "absolute"
    else effects.position = /^(relative|sticky|-webkit-sticky)$/.test(value) ? "relative" : "static"
  },
  inset: (effects, value) => {
    const [top, right = top, bottom = top, left = right] = value.split(" ").map(Length.parse)
    Object.assign(effects, { top, right, bottom, left })
  },
  margin: (effects, value) => {
    const [top, right = top, , left = right] = value.split(" ").map(Length.parse)
    Object.assign(effects, { marginTop: top, marginLeft: left })
  },
  overflow: (effects, value) => {
    const [x = "", y = x] = value.split(" ")
    effects.clipsX = clips(x)
    effects.clipsY = clips(y)
  },
  "overflow-x": (effects, value) => {
    effects.clipsX = clips(value)
  },
  "overflow-y": (effects, value) => {
    effects.clipsY = clips(value)
  },
  left: side("left"),
  right: side("right"),
  top: side("top"),
  bottom: side("bottom"),
  "inset-inline-start": side("left"),
  "inset-inline-end": side("right"),
  "inset-block-start": side("top"),
  "inset-block-end": side("bottom"),
  width: side("width"),
  height: side("height"),
  "inline-size": side("width"),
  "block-size": side("height"),
  "max-width": side("maxWidth"),
  "max-height": side("maxHeight"),
  "max-inline-size": side("maxWidth"),
  "max-block-size": side("maxHeight"),
  "margin-left": side("marginLeft"),
  "margin-top": side("marginTop"),
  "margin-inline-start": side("marginLeft"),
  "margin-block-start": side("marginTop"),
  padding: (effects, value) => {
    effects.hasPadding = isSome(value)
  },
  "padding-top": padding,
  "padding-bottom": padding,
  "padding-left": padding,
  "padding-right": padding,
  border: (effects, value) => {
    effects.hasBorder = false
    border(effects, value)
  },
  "border-top": border,
  "border-bottom": border
}
