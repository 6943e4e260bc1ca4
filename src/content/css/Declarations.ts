import * as BoxProperties from "./BoxProperties.ts"
import { Effects } from "./Effects.ts"
import * as HarmlessProperties from "./HarmlessProperties.ts"
import * as TextProperties from "./TextProperties.ts"

/** A property and its value, both in lower case, whitespace collapsed. */
export interface Declaration {
  readonly property: string
  readonly value: string
  readonly isImportant: boolean
}

const properties: ReadonlyMap<string, TextProperties.Property> = new Map([
  ...Object.entries(BoxProperties.properties),
  ...Object.entries(TextProperties.properties)
])

/** Whether a property may affect visibility: any that is not known to be harmless. */
export const counts = (property: string): boolean =>
  properties.has(property) || !HarmlessProperties.isHarmless(property)

/** The steps for evaluating declarations. */
export const cost = (declarations: ReadonlyArray<Declaration>): number =>
  declarations.reduce((steps, { value }) => steps + stepsOfOne + Math.ceil(value.length / unitsInAStep), 0)

const stepsOfOne = 10
const unitsInAStep = 2

/**
 * Merges declarations. A later one wins over an earlier one, an important one over all others. A value that Inlet does
 * not evaluate makes the effects unsure, unless a later declaration of the same property replaces it.
 */
export const effects = (declarations: ReadonlyArray<Declaration>): Effects => {
  if (!declarations.some(isQuirk)) return merged(declarations)
  const result = merged(declarations.filter((declaration) => !isQuirk(declaration)))
  result.quirky = merged(declarations.map((one) => (isQuirk(one) ? { ...one, value: amended(one) } : one)))
  return result
}

const colors = /^(?:color|background-color)$/
const sizes =
  /^(?:bottom|font-size|(?:max-|min-)?(?:height|width)|left|letter-spacing|margin(?:-\w+)?|padding(?:-\w+)?|right|text-indent|top|word-spacing)$/
const isBare = /^[+-]?[\da-f.]+$/
const bareColor = /^(?:[\da-f]{3}|[\da-f]{6})$/
const bareNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)$/

/** A color without `#` or a size without a unit, which browsers accept in pages without a doctype. */
const isQuirk = ({ property, value }: Declaration): boolean =>
  value.length <= 7 &&
  value !== "0" &&
  isBare.test(value) &&
  ((bareColor.test(value) && colors.test(property)) ||
    (bareNumber.test(value) && Number(value) !== 0 && sizes.test(property)))

const amended = ({ property, value }: Declaration): string => (colors.test(property) ? `#${value}` : `${value}px`)

/** The strongest last. */
const inOrder = (declarations: ReadonlyArray<Declaration>): ReadonlyArray<Declaration> => {
  if (!declarations.some(({ isImportant }) => isImportant)) return declarations
  return declarations.toSorted((one, other) => Number(one.isImportant) - Number(other.isImportant))
}

const merged = (declarations: ReadonlyArray<Declaration>): Effects => {
  const result = new Effects()
  let unsure: Set<string> | undefined
  for (const { property, value } of inOrder(declarations)) {
    if (property === covering) result.covers = true
    else if (isKnown(result, property, value)) unsure?.delete(property)
    else {
      unsure ??= new Set()
      unsure.add(property)
      if (moves.test(property)) result.covers = true
      if (resets.test(property) || value.includes("var(")) result.mayShow = true
    }
  }
  if (unsure !== undefined && unsure.size > 0) result.isUnsure = true
  return result
}

/** Stands for the declarations of content before or after an element that may cover text. */
export const covering = "::before"

/** The declarations of a rule that may apply or not, and may show what others hide. */
export const unknown: ReadonlyArray<Declaration> = [{ property: "::", value: "?", isImportant: false }]

/** Properties that may move the element over others, or others out of sight. */
const moves =
  /^(?:(?:-webkit-)?(?:box-)?flex|grid|translate|rotate|scale|zoom|offset|inset|outline(?:-width|-offset)?|-webkit-text-stroke|margin|padding|top|left|right|bottom|position|(?:-webkit-)?transform|-webkit-box-reflect|aspect-ratio|font-size|line-height|(?:min-|max-)?(?:width|height|inline-size|block-size)$)/

/** Properties that may show what others hide. */
const resets = /^(?:all$|::|-webkit-animation|animation|-webkit-text-fill-color|(?:-webkit-)?background-clip)/

/** Browsers ignore an empty value. Inlet does not evaluate variables. */
const isKnown = (result: Effects, property: string, value: string): boolean =>
  value === "" ||
  (!value.includes("var(") &&
    (properties.get(property)?.(result, value) ?? HarmlessProperties.isHarmlessAs(property, value)))
