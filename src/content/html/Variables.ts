import type { Budget } from "../css/Budget.ts"
import type { Declaration } from "../css/Declarations.ts"
import type { Frame } from "./Frame.ts"

const longest = 500
const mostLooks = 64

const stepsOfALook = 3
/** The steps of one `var()`, and the units of its value processed in one step. */
const stepsOfOne = 20
const unitsInAStep = 4

/** A custom property as known at an element. */
const lookUp = (custom: Frame["custom"], name: string, budget: Budget): string | undefined => {
  let at = custom
  for (let count = 0; at !== undefined && count < mostLooks; count++) {
    budget.steps -= stepsOfALook
    const value = at.own.get(name)
    if (value !== undefined) return value
    at = at.outer
  }
  return undefined
}

/** A value without `var()`, or undefined if one has no value. */
const substituted = (value: string, custom: Frame["custom"], budget: Budget, depth: number): string | undefined => {
  const start = value.indexOf("var(")
  if (start < 0) return value
  if (depth > 16 || value.length > longest) return undefined
  budget.steps -= stepsOfOne + value.length / unitsInAStep
  let open = 1
  let end = start + 4
  while (end < value.length && open > 0) {
    const character = value[end++]
    if (character === "(") open++
    else if (character === ")") open--
  }
  const content = value.slice(start + 4, open === 0 ? end - 1 : end)
  const comma = content.indexOf(",")
  const name = (comma < 0 ? content : content.slice(0, comma)).trim()
  const found = lookUp(custom, name, budget) ?? (comma < 0 ? undefined : content.slice(comma + 1).trim())
  return found === undefined
    ? undefined
    : substituted(value.slice(0, start) + found + value.slice(end), custom, budget, depth + 1)
}

/** Declarations with their variables substituted. */
export const resolved = (
  declarations: ReadonlyArray<Declaration>,
  custom: Frame["custom"],
  budget: Budget
): ReadonlyArray<Declaration> =>
  declarations.flatMap((declaration) => {
    if (declaration.property.startsWith("--") || !declaration.value.includes("var(")) return [declaration]
    const value = substituted(declaration.value, custom, budget, 0)
    return value === undefined ? [] : [{ ...declaration, value: value.trim().toLowerCase() }]
  })
