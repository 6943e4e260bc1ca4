import type { Budget } from "./Budget.ts"

/** `[name=value]` in a selector. */
export interface AttributeSelector {
  readonly name: string
  readonly operator: string
  readonly value: string
  readonly ignoresCase: boolean
}

/** The value of an attribute. Names and values alternate in the list. */
export const valueOf = (attributes: ReadonlyArray<string>, name: string): string | undefined => {
  for (let index = 0; index < attributes.length; index += 2) {
    if (attributes[index] === name) return attributes[index + 1]
  }
  return undefined
}

/** Characters compared or lowered in the time of one step. */
const comparedInAStep = 4

export const holds = (
  attributes: ReadonlyArray<string>,
  { ignoresCase, name, operator, value }: AttributeSelector,
  budget: Budget
): boolean => {
  budget.steps -= 1 + Math.ceil(attributes.length / comparedInAStep)
  const found = valueOf(attributes, name)
  if (found === undefined) return false
  if (operator !== "") {
    const passes = (ignoresCase ? 2 : 1) * (operator === "~=" ? 4 : 1)
    budget.steps -= Math.ceil((passes * (found.length + value.length)) / comparedInAStep)
  }
  const [own, wanted] = ignoresCase ? [found.toLowerCase(), value.toLowerCase()] : [found, value]
  switch (operator) {
    case "":
      return true
    case "=":
      return own === wanted
    case "~=":
      return wanted !== "" && ` ${own.replace(/\s/g, " ")} `.includes(` ${wanted} `)
    case "|=":
      return own === wanted || own.startsWith(`${wanted}-`)
    case "^=":
      return wanted !== "" && own.startsWith(wanted)
    case "$=":
      return wanted !== "" && own.endsWith(wanted)
    default:
      return wanted !== "" && own.includes(wanted)
  }
}
