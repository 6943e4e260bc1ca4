import { apart } from "../../cache/Apart.ts"
import * as AtRules from "./AtRules.ts"
import type { Budget } from "./Budget.ts"
import * as CssText from "./CssText.ts"
import type { Declaration } from "./Declarations.ts"
import * as Declarations from "./Declarations.ts"
import * as PseudoElements from "./PseudoElements.ts"
import * as Selector from "./Selector.ts"

/** Maximum length of all style sheets of a mail in UTF-16 units. Mail programs read far less. */
const longest = 256 * 1024

/** The maximum number of rules. */
const mostRules = 4_000

/** The maximum length of a selector. */
const longestSelector = 20_000

/** The steps for parsing a selector in brackets, as in `:not()`. */
const stepsOfABracket = 300

export interface Rule {
  readonly selector: Selector.Selector
  readonly declarations: ReadonlyArray<Declaration>
  readonly order: number
  /** Distinguishes the rules of one set from those of another. */
  readonly key: string
  /** The steps for merging its declarations with others. */
  readonly cost: number
  /** Whether it applies is unknown, because of its selector or of a condition around it. */
  readonly isUnsure: boolean
}

export interface Rules {
  /** By the first condition of their last compound: `#id`, `.class`, a tag, or nothing. */
  readonly byKey: ReadonlyMap<string, ReadonlyArray<Rule>>
  readonly foldsCase: boolean
  readonly needsAttributes: boolean
  readonly needsSiblings: boolean
  readonly isEmpty: boolean
  /** Some rules were not read, and may hide any element. */
  readonly isCut: boolean
  /** The steps for parsing their selectors. */
  readonly steps: number
}

interface Draft {
  readonly rules: Array<Rule>
  readonly foldsCase: boolean
  /** For brackets, and for each unit of a nested rule, which repeats the selector around it. */
  steps: number
  readonly mostSteps: number
  isCut: boolean
}

/** Maximum nesting of rules. */
const deepest = 5

const read = (
  draft: Draft,
  css: string,
  [from, end]: readonly [from: number, end: number],
  depth: number,
  isUnsure: boolean
): void => {
  for (const { end: close, prelude, start } of CssText.blocks(css, from, end)) {
    if (draft.rules.length >= mostRules || draft.steps > draft.mostSteps) draft.isCut = true
    if (draft.isCut) return
    const head = CssText.prelude(prelude)
    const body = css.slice(start, close)
    if (!head.startsWith("@")) {
      draft.steps += (head.split("(").length - 1) * stepsOfABracket
      // Rules inside of rules are not read.
      draft.isCut ||= body.includes("{")
      add(draft, head, body, isUnsure)
      continue
    }
    const [, name = "", condition = ""] = /^@([\w-]+)\s*([\s\S]*)$/.exec(head) ?? []
    const applies = AtRules.applies(name.toLowerCase(), condition, body)
    draft.isCut ||= applies === "unreadable" || (applies !== false && depth >= deepest)
    if (applies !== false && !draft.isCut)
      read(draft, css, [start, close], depth + 1, isUnsure || applies === undefined)
  }
}

/** A namespace takes rules away from elements of HTML, and a sheet in a URL may bring some. */
const unreadable = /@namespace|@import[^;]{0,100}data:/i

const add = (draft: Draft, head: string, body: string, isUnsure: boolean) => {
  const declarations = CssText.declarations(body)
  if (declarations.length === 0) return
  draft.isCut ||= head.length > longestSelector
  for (const selector of Selector.parseList(head.slice(0, longestSelector), draft.foldsCase)) {
    const own = PseudoElements.declarations(selector.pseudoElement, declarations)
    if (own.length === 0) continue
    if (draft.rules.length >= mostRules) {
      draft.isCut = true
      return
    }
    draft.rules.push({
      selector,
      declarations: own,
      order: draft.rules.length,
      key: String.fromCharCode(draft.rules.length + 32),
      cost: Declarations.cost(own),
      isUnsure: isUnsure || selector.isUnsure
    })
  }
}

const keyOf = ({ selector: { compounds } }: Rule): string => {
  const { classes = [], id = "", tag = "" } = compounds[0] ?? {}
  return id !== "" ? `#${id}` : classes[0] !== undefined ? `.${classes[0].trim()}` : tag
}

const indexed = (rules: ReadonlyArray<Rule>, foldsCase: boolean, isCut: boolean, steps: number): Rules => {
  const compounds = rules.flatMap(({ selector }) => selector.compounds)
  return {
    byKey: Map.groupBy(rules, keyOf),
    foldsCase,
    needsAttributes: compounds.some(({ attributes, pseudos }) => attributes.length + pseudos.length > 0),
    needsSiblings: compounds.some(
      ({ combinator, pseudos }) => combinator === "+" || combinator === "~" || pseudos.length > 0
    ),
    isEmpty: rules.length === 0,
    isCut,
    steps
  }
}

/** The cache of parsed style sheets, because every mail of a sender has the same ones. */
const known = new Map<string, Rules>()
let knownSize = 0
const mostKnown = 512 * 1024

/** The style sheets of a mail, up to the maximum length. Of equal ones only the last can win. */
const within = (sheets: ReadonlyArray<string>) => {
  let room = longest
  let isCut = false
  const texts = [...new Set(sheets.toReversed())].reverse().flatMap((sheet) => {
    const text = sheet.slice(0, room)
    isCut ||= text.length < sheet.length
    room -= text.length
    return text === "" ? [] : [text]
  })
  return { texts, isCut }
}

/** The rules of all sheets of a mail, in order. Without a doctype class names are case-insensitive. */
export const rules = (sheets: ReadonlyArray<string>, foldsCase: boolean, budget: Budget): Rules => {
  const { isCut, texts } = within(sheets)
  if (texts.length === 0) return indexed([], foldsCase, false, 0)
  // The key has the lengths, because sheets split at another position differ and may be of another sender.
  const key = `${foldsCase ? "1" : "0"}${texts.map(({ length }) => length).join()}:${texts.join("")}`
  let found = known.get(key)
  if (found === undefined) {
    const draft: Draft = {
      rules: [],
      foldsCase,
      steps: 0,
      mostSteps: budget.steps,
      isCut
    }
    for (const sheet of texts) {
      const text = apart(sheet)
      draft.isCut ||= unreadable.test(text)
      read(draft, text, [0, text.length], 0, false)
    }
    found = indexed(draft.rules.sort(byWeight), foldsCase, draft.isCut, draft.steps)
    if (knownSize + key.length > mostKnown) {
      known.clear()
      knownSize = 0
    }
    // Rules that exceed this mail's budget may be parsed for a longer one.
    if (found.steps <= budget.steps) {
      known.set(apart(key), found)
      knownSize += key.length
    }
  }
  budget.steps -= found.steps
  return found
}

const nothing: ReadonlyArray<Rule> = []

const byWeight = (one: Rule, other: Rule) =>
  one.selector.specificity - other.selector.specificity || one.order - other.order

/** The cost of sorting a rule among many that arrive in a few sorted lists. */
const sortingSteps = 2

/** The rules that match an element, the weakest first. */
export const fitting = (rules: Rules, element: Selector.Matched, budget: Budget): ReadonlyArray<Rule> => {
  if (rules.isEmpty) return nothing
  let found: Array<Rule> | undefined
  const look = (candidates: ReadonlyArray<Rule> | undefined) => {
    if (candidates === undefined) return
    for (const rule of candidates) {
      if (budget.isSpent) return
      if (!Selector.matches(rule.selector, element, budget)) continue
      found ??= []
      found.push(rule)
    }
  }
  look(rules.byKey.get(""))
  look(rules.byKey.get(element.name))
  if (element.classes !== "") {
    for (const name of element.classes.slice(1, -1).split(" ")) look(rules.byKey.get(`.${name}`))
  }
  if (element.id !== "") look(rules.byKey.get(`#${element.id}`))
  if (found === undefined) return nothing
  if (found.length === 1) return found
  budget.steps -= found.length * sortingSteps
  return found.sort(byWeight)
}
