import type { Declaration } from "./Declarations.ts"
import * as Declarations from "./Declarations.ts"
import type { Effects } from "./Effects.ts"
import * as Length from "./Length.ts"

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
    return isFlat(Declarations.effects(declarations)) ? nothing : cover
  }
  return /^first-l(ine|etter)$/.test(pseudoElement) && declarations.some(({ property }) => !isMild.test(property))
    ? unknown
    : nothing
}

const isMild = /^(font-weight|text-transform|white-space|border|padding|margin)/

const isEmpty = (length: Length.Length | undefined) => length === undefined || Length.resolve(length, 16, 600) === 0

/** Without room and place of its own, as content that ends floats. */
const isFlat = (effects: Effects): boolean =>
  effects.display === "none" ||
  (effects.isUnsure !== true &&
    (effects.position ?? "static") === "static" &&
    [effects.height, effects.width, effects.marginTop, effects.marginLeft].every(isEmpty) &&
    (effects.pulls ?? 0) === 0 &&
    effects.hasPadding !== true &&
    effects.hasMinimum !== true &&
    effects.isRaised !== true)
