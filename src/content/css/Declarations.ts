import * as BoxProperties from "./BoxProperties.ts"
import type { Effects } from "./Effects.ts"
import * as TextProperties from "./TextProperties.ts"

/** A property and its value, both in lower case except custom properties, whitespace collapsed. */
export interface Declaration {
  readonly property: string
  readonly value: string
  readonly isImportant: boolean
}

const properties: ReadonlyMap<string, TextProperties.Property> = new Map([
  ...Object.entries(BoxProperties.properties),
  ...Object.entries(TextProperties.properties)
])

/** Whether a property affects visibility. */
export const counts = (property: string): boolean => properties.has(property) || property.startsWith("--")

/** The steps for evaluating declarations. */
export const cost = (declarations: ReadonlyArray<Declaration>): number =>
  declarations.reduce((steps, { value }) => steps + stepsOfOne + value.length / unitsInAStep, 0)

const stepsOfOne = 10
const unitsInAStep = 2

/** Merges declarations. A later one wins over an earlier one, an important one over all others. */
export const effects = (declarations: ReadonlyArray<Declaration>): Effects => {
  const result: Effects = {}
  for (const important of [false, true]) {
    for (const { isImportant, property, value } of declarations) {
      if (isImportant !== important) continue
      if (property.startsWith("--")) {
        result.custom ??= new Map()
        result.custom.set(property, value)
      } else if (value.includes("var(")) result.isLate = true
      else properties.get(property)?.(result, value)
    }
  }
  return result
}
