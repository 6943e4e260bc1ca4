import type { Budget } from "./Budget.ts"
import { splitArguments } from "./Color.ts"
import { find, unescaped } from "./CssText.ts"

/** An element as selectors match it. */
export interface Matched {
  readonly name: string
  readonly id: string
  /** Class names separated by spaces, with a space at both ends. Empty without classes. */
  readonly classes: string
  readonly parent: Matched | undefined
  readonly previous: Matched | undefined
  /** Its position among its siblings, from 1. */
  readonly index: number
  readonly attributes: ReadonlyArray<string>
}

interface Attribute {
  readonly name: string
  readonly operator: string
  readonly value: string
  readonly ignoresCase: boolean
}

/** A compound selector with its combinator to the next. */
interface Compound {
  tag: string
  id: string
  readonly classes: Array<string>
  readonly attributes: Array<Attribute>
  readonly pseudos: Array<(element: Matched, budget: Budget) => boolean>
  /** The combinator to the compound on its left. */
  combinator: "" | " " | ">" | "+" | "~"
}

/** From right to left. */
export interface Selector {
  readonly compounds: ReadonlyArray<Compound>
  readonly specificity: number
  /** Does not depend on other elements, attributes or positions. */
  readonly isSimple: boolean
  /** Depends on what is unknown at an element's start, and counts as matching. */
  readonly isUnsure: boolean
}

const attributeOf = (element: Matched, name: string): string | undefined => {
  const { attributes } = element
  for (let index = 0; index < attributes.length; index += 2) {
    if (attributes[index] === name) return attributes[index + 1]
  }
  return undefined
}

/** Characters compared or lowered in the time of one step. */
const comparedInAStep = 4

const holds = (element: Matched, { ignoresCase, name, operator, value }: Attribute, budget: Budget): boolean => {
  budget.steps -= 1 + element.attributes.length / comparedInAStep
  const found = attributeOf(element, name)
  if (found === undefined) return false
  if (operator !== "") {
    const passes = (ignoresCase ? 2 : 1) * (operator === "~=" ? 4 : 1)
    budget.steps -= (passes * (found.length + value.length)) / comparedInAStep
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

const fits = (compound: Compound, element: Matched, budget: Budget): boolean => {
  const { attributes, classes, id, pseudos, tag } = compound
  budget.steps--
  if (tag !== "" && tag !== element.name) return false
  if (id !== "" && id !== element.id) return false
  budget.steps -= classes.length * (1 + element.classes.length / 32) + 2 * pseudos.length
  return (
    classes.every((name) => element.classes.includes(name)) &&
    attributes.every((attribute) => holds(element, attribute, budget)) &&
    pseudos.every((pseudo) => pseudo(element, budget))
  )
}

/** Whether the compounds from `index` on match this element and those to its left or above it. */
const fitsFrom = (compounds: ReadonlyArray<Compound>, index: number, element: Matched, budget: Budget): boolean => {
  const compound = compounds[index]
  if (compound === undefined) return true
  if (budget.isSpent || !fits(compound, element, budget)) return false
  const { combinator } = compound
  if (combinator === "") return true
  const isAbove = combinator === " " || combinator === ">"
  let other = isAbove ? element.parent : element.previous
  if (combinator === ">" || combinator === "+")
    return other !== undefined && fitsFrom(compounds, index + 1, other, budget)
  while (other !== undefined && !budget.isSpent) {
    if (fitsFrom(compounds, index + 1, other, budget)) return true
    other = isAbove ? other.parent : other.previous
  }
  return false
}

export const matches = ({ compounds }: Selector, element: Matched, budget: Budget): boolean =>
  fitsFrom(compounds, 0, element, budget)

const identifier = /^(?:[\w-]|[^\x00-\x7f]|\\[\da-f]{1,6}\s?|\\[\s\S])+/i

/** The selectors of a prelude. Unknown ones match nothing and are left out. */
export const parseList = (text: string, foldsCase: boolean, depth = 0): ReadonlyArray<Selector> =>
  depth > 4 ? [] : splitSelectors(text).flatMap((part) => parse(part, foldsCase, depth) ?? [])

const splitSelectors = (text: string): ReadonlyArray<string> => {
  const parts: Array<string> = []
  for (let at = 0; at <= text.length; ) {
    const end = find(text, at, text.length, ",")
    parts.push(text.slice(at, end).trim())
    at = end + 1
  }
  return parts
}

const fresh = (): Compound => ({ tag: "", id: "", classes: [], attributes: [], pseudos: [], combinator: "" })

const parse = (text: string, foldsCase: boolean, depth: number): Selector | undefined => {
  if (text === "" || text.length > 1_000) return undefined
  const fold = (name: string) => (foldsCase ? name.toLowerCase() : name)
  const compounds: Array<Compound> = []
  let specificity = 0
  let compound = fresh()
  let isEmpty = true
  let isUnsure = false
  let rest = text
  const name = () => {
    const found = identifier.exec(rest)?.[0] ?? ""
    rest = rest.slice(found.length)
    return unescaped(found)
  }
  while (rest !== "") {
    const [first = ""] = rest
    const combinator = /^\s*([>+~\s])\s*/.exec(rest)
    if (combinator !== null) {
      if (isEmpty || compounds.length > 16) return undefined
      const between = combinator[1] ?? " "
      compounds.push(compound)
      compound = fresh()
      compound.combinator = between === ">" || between === "+" || between === "~" ? between : " "
      isEmpty = true
      rest = rest.slice(combinator[0].length)
      continue
    }
    isEmpty = false
    if (first === "*") rest = rest.slice(1)
    else if (first === ".") {
      rest = rest.slice(1)
      const found = name()
      if (found === "") return undefined
      compound.classes.push(` ${fold(found)} `)
      specificity += 1_000
    } else if (first === "#") {
      rest = rest.slice(1)
      compound.id = fold(name())
      if (compound.id === "") return undefined
      specificity += 1_000_000
    } else if (first === "[") {
      const end = find(rest, 1, rest.length, "]")
      const match = /^([\w:-]+)(?:\s*([~|^$*]?=)\s*(?:"([\s\S]*)"|'([\s\S]*)'|([^\s"']+))(?:\s+([is]))?)?$/i.exec(
        rest.slice(1, end).trim()
      )
      if (match === null) return undefined
      const [, attribute = "", operator = "", double, single, bare, flag] = match
      compound.attributes.push({
        name: attribute.toLowerCase(),
        operator,
        value: unescaped(double ?? single ?? bare ?? ""),
        ignoresCase: flag?.toLowerCase() === "i" || attribute.toLowerCase() === "type"
      })
      specificity += 1_000
      rest = rest.slice(end + 1)
    } else if (first === ":") {
      if (rest.startsWith("::")) return undefined
      rest = rest.slice(1)
      const pseudo = name().toLowerCase()
      let content = ""
      if (rest.startsWith("(")) {
        const end = find(rest, 1, rest.length, ")")
        content = rest.slice(1, end)
        rest = rest.slice(end + 1)
      }
      const test = pseudoClass(pseudo, content, foldsCase, depth)
      if (test === undefined) return undefined
      compound.pseudos.push(test.fits)
      specificity += test.specificity
      isUnsure ||= test.isUnsure === true
    } else {
      const tag = name().toLowerCase()
      if (tag === "" || compound.tag !== "") return undefined
      compound.tag = tag
      specificity += 1
    }
  }
  if (isEmpty) return undefined
  compounds.push(compound)
  // Each compound has the combinator to the one on its left, and the list starts at the right.
  const rightToLeft = compounds.reverse()
  return {
    compounds: rightToLeft,
    specificity,
    isUnsure,
    isSimple: compounds.length === 1 && compound.attributes.length === 0 && compound.pseudos.length === 0
  }
}

interface Pseudo {
  readonly fits: (element: Matched, budget: Budget) => boolean
  readonly specificity: number
  readonly isUnsure?: boolean
}

/** Pseudo-classes about later siblings, types, and initial states. */
const unsure =
  /^(last-child|only-child|first-of-type|last-of-type|only-of-type|nth-last-child|nth-of-type|nth-last-of-type|has|lang|dir|defined|enabled|read-only|default|optional|valid|in-range)$/

const pseudoClass = (name: string, content: string, foldsCase: boolean, depth: number): Pseudo | undefined => {
  const place = (fits: (element: Matched) => boolean): Pseudo => ({ fits, specificity: 1_000 })
  switch (name) {
    case "root":
      return place((element) => element.name === "html")
    case "first-child":
      return place((element) => element.index === 1)
    case "nth-child":
      return nth(content)
    case "link":
    case "any-link":
      return place((element) => element.name === "a" && attributeOf(element, "href") !== undefined)
    case "checked":
      return place((element) => attributeOf(element, "checked") !== undefined)
    case "not":
    case "is":
    case "where":
    case "matches":
    case "-webkit-any": {
      const selectors = parseList(content, foldsCase, depth + 1)
      // An unknown selector must not make `:not` match everything.
      const isKnown = selectors.length === splitArguments(content).length && !selectors.some((each) => each.isUnsure)
      if (name === "not" && !isKnown) return undefined
      const highest = Math.max(0, ...selectors.map(({ specificity }) => specificity))
      return {
        fits: (element, budget) =>
          selectors.some((selector) => matches(selector, element, budget)) !== (name === "not"),
        specificity: name === "where" ? 0 : highest,
        isUnsure: name !== "not" && selectors.some(({ isUnsure }) => isUnsure)
      }
    }
    default:
      return unsure.test(name) ? { fits: () => true, specificity: 1_000, isUnsure: true } : undefined
  }
}

/** `2n+1`, `odd`, `even` or a number. */
const nth = (content: string): Pseudo | undefined => {
  const text = content
    .trim()
    .toLowerCase()
    .replace(/^odd$/, "2n+1")
    .replace(/^even$/, "2n")
    .replace(/\s+/g, "")
  const match = /^(?:([+-]?\d*)n)?([+-]?\d+)?$/.exec(text)
  if (match === null || text === "") return undefined
  const step =
    match[1] === undefined ? 0 : match[1] === "" || match[1] === "+" ? 1 : match[1] === "-" ? -1 : Number(match[1])
  const offset = Number(match[2] ?? 0)
  const fits = ({ index }: Matched) =>
    step === 0 ? index === offset : (index - offset) % step === 0 && (index - offset) / step >= 0
  return { fits, specificity: 1_000 }
}
