import type { Declaration } from "./Declarations.ts"
import * as Declarations from "./Declarations.ts"

const nothing: ReadonlyArray<Declaration> = []

const cover: ReadonlyArray<Declaration> = [{ property: Declarations.covering, value: "", isImportant: false }]

/** An unknown declaration, which makes the element's text uncertain. */
const unknown: ReadonlyArray<Declaration> = [{ property: "::first", value: "?", isImportant: false }]

/**
 * The declarations of a rule for a pseudo-element, as declarations of the element itself: content before or after it
 * may cover text or add words, and the first line or letter may be hidden. Others do not affect the element's text.
 */
export const declarations = (
  pseudoElement: string,
  declarations: ReadonlyArray<Declaration>
): ReadonlyArray<Declaration> => {
  if (pseudoElement === "") return declarations
  if (pseudoElement === "before" || pseudoElement === "after" || pseudoElement === "marker") {
    return declarations.every(isFlat) || declarations.some(isNone) ? nothing : cover
  }
  return /^first-l(ine|etter)$/.test(pseudoElement) && declarations.some(({ property }) => !isMild.test(property))
    ? unknown
    : nothing
}

const isMild = /^(font-weight|text-transform|white-space|border|padding|margin)/

const isNone = ({ property, value }: Declaration) => property === "display" && value === "none"

/** Without room and place of its own, as content that ends floats. */
const isFlat = ({ property, value }: Declaration): boolean =>
  /^(color|background|background-color|display|font|font-size|font-weight|line-height|overflow|visibility)$/.test(
    property
  ) || /^(?:(?:0|0px|auto|none|static) ?)+$/.test(value)
