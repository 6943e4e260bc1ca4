import * as AttributeSelector from "./AttributeSelector.ts"
import type { Budget } from "./Budget.ts"
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

/** A compound selector with its combinator to the next. */
interface Compound {
  tag: string
  id: string
  readonly classes: Array<string>
  readonly attributes: Array<AttributeSelector.AttributeSelector>
  readonly pseudos: Array<(element: Matched, budget: Budget) => boolean>
  /** The combinator to the compound on its left. */
  combinator: "" | " " | ">" | "+" | "~"
}

/** From right to left. */
export interface Selector {
  readonly compounds: ReadonlyArray<Compound>
  readonly specificity: number
  /** It may match more or fewer elements than Inlet evaluates: it matches wherever the known part does. */
  readonly isUnsure: boolean
  /** A part of the element: its first line, or the content before or after it. */
  readonly pseudoElement: string
}

const fits = (compound: Compound, element: Matched, budget: Budget): boolean => {
  const { attributes, classes, id, pseudos, tag } = compound
  budget.steps--
  if (tag !== "" && tag !== element.name) return false
  if (id !== "" && id !== element.id) return false
  budget.steps -= classes.length * (1 + Math.ceil(element.classes.length / 32)) + 2 * pseudos.length
  // Loops, because closures would be most of the memory that styles allocate.
  for (const name of classes) if (!element.classes.includes(name)) return false
  for (const attribute of attributes) if (!AttributeSelector.holds(element.attributes, attribute, budget)) return false
  for (const pseudo of pseudos) if (!pseudo(element, budget)) return false
  return true
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

/** The selectors of a prelude. Those with an unknown syntax match every element, unsurely. */
export const parseList = (text: string, foldsCase: boolean, depth = 0): ReadonlyArray<Selector> =>
  depth > 4
    ? [unknown]
    : splitSelectors(text).flatMap((part) => parse(part, foldsCase, depth) ?? (isJunk(part) ? [] : [unknown]))

/** Browsers drop a rule with such a selector. */
const isJunk = (text: string): boolean => !/[|&\\[(]/.test(text) && text.length <= longest

const splitSelectors = (text: string): ReadonlyArray<string> => {
  const parts: Array<string> = []
  for (let at = 0; at <= text.length; ) {
    const end = find(text, at, text.length, ",")
    parts.push(text.slice(at, end).trim())
    at = end + 1
  }
  return parts
}

const longest = 1_000

const fresh = (): Compound => ({ tag: "", id: "", classes: [], attributes: [], pseudos: [], combinator: "" })

const unknown: Selector = {
  compounds: [fresh()],
  specificity: 0,
  isUnsure: true,
  pseudoElement: ""
}

const parse = (text: string, foldsCase: boolean, depth: number): Selector | undefined => {
  if (text === "" || text.length > longest) return undefined
  const fold = (name: string) => (foldsCase ? name.toLowerCase() : name)
  const compounds: Array<Compound> = []
  let specificity = 0
  let compound = fresh()
  let isEmpty = true
  let isUnsure = false
  let pseudoElement = ""
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
      const isElement = rest.startsWith("::")
      rest = rest.slice(isElement ? 2 : 1)
      const pseudo = name().toLowerCase()
      let content = ""
      if (rest.startsWith("(")) {
        const end = find(rest, 1, rest.length, ")")
        content = rest.slice(1, end)
        rest = rest.slice(end + 1)
      }
      if (isElement || /^(before|after|first-line|first-letter)$/.test(pseudo)) {
        pseudoElement = pseudo
        continue
      }
      const test = pseudoClass(pseudo, content, foldsCase, depth)
      compound.pseudos.push(test.fits)
      specificity += test.specificity
      isUnsure ||= test.isUnsure === true || (pseudo === "empty" && /[+~]/.test(text))
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
    pseudoElement
  }
}

interface Pseudo {
  readonly fits: (element: Matched, budget: Budget) => boolean
  readonly specificity: number
  readonly isUnsure?: boolean
}

/** Pseudo-classes of what a person does with the page, which a mail at first sight never matches. */
const never = /^(hover|active|focus|focus-visible|focus-within|visited|target|target-within|-moz-.*|-ms-.*)$/

const pseudoClass = (name: string, content: string, foldsCase: boolean, depth: number): Pseudo => {
  const place = (fits: (element: Matched) => boolean): Pseudo => ({ fits, specificity: 1_000 })
  switch (name) {
    case "root":
      return place((element) => element.name === "html")
    case "first-child":
      return place(({ index }) => index === 1)
    // An element whose text is judged is not empty, nor are its ancestors. `parse` sees to its siblings.
    case "empty":
      return place(() => false)
    case "link":
    case "any-link":
      return place(
        (element) => element.name === "a" && AttributeSelector.valueOf(element.attributes, "href") !== undefined
      )
    case "not": {
      const selectors = parseList(content, foldsCase, depth + 1)
      // An unsure selector matches at least as many elements as a browser does, so it excludes none.
      const counted = selectors.filter((selector) => !selector.isUnsure)
      return {
        fits: (element, budget) => !counted.some((selector) => matches(selector, element, budget)),
        specificity: Math.max(0, ...selectors.map(({ specificity }) => specificity)),
        isUnsure: counted.length < selectors.length
      }
    }
    default:
      return never.test(name) ? place(() => false) : unsure
  }
}

/** Pseudo-classes that depend on later siblings or that Inlet does not know. */
const unsure: Pseudo = { fits: () => true, specificity: 1_000, isUnsure: true }
