import { hash } from "node:crypto"
import { apart } from "../../cache/Apart.ts"
import type { Budget } from "./Budget.ts"
import * as CssText from "./CssText.ts"
import type { Declaration } from "./Declarations.ts"
import * as Declarations from "./Declarations.ts"
import * as Effects from "./Effects.ts"
import * as MediaQuery from "./MediaQuery.ts"
import * as Selector from "./Selector.ts"

/** Maximum length of all style sheets of a mail in UTF-16 units. Mail programs read far less. */
const longest = 256 * 1024

/** The maximum number of rules. */
const mostRules = 4_000

/** The maximum length of a selector. */
const longestSelector = 20_000

/** The steps for parsing a selector in brackets, as in `:not()`. */
const stepsOfABracket = 300

interface Rule {
  readonly selector: Selector.Selector
  readonly declarations: ReadonlyArray<Declaration>
  readonly order: number
  /** Distinguishes the rules of one set from those of another. */
  readonly key: string
  /** The steps for merging its declarations with others. */
  readonly cost: number
}

/** The rules of style sheets, and the steps for parsing their selectors. */
interface Sheets {
  readonly rules: ReadonlyArray<Rule>
  readonly steps: number
}

/** Rules by the first condition of their last compound. */
export interface Rules {
  readonly byId: ReadonlyMap<string, ReadonlyArray<Rule>>
  readonly byClass: ReadonlyMap<string, ReadonlyArray<Rule>>
  readonly byTag: ReadonlyMap<string, ReadonlyArray<Rule>>
  readonly others: ReadonlyArray<Rule>
  readonly foldsCase: boolean
  readonly needsAttributes: boolean
  readonly needsSiblings: boolean
  readonly isEmpty: boolean
}

interface Draft {
  readonly rules: Array<Rule>
  /** The first rule of each block by its text. Of two equal blocks only the later one can win. */
  readonly blocks: Map<string, number>
  /** By the order of the rules. */
  readonly repeated: Set<number>
  readonly foldsCase: boolean
  /** For brackets, and for each unit of a nested rule, which repeats the selector around it. */
  steps: number
  readonly mostSteps: number
}

const read = (draft: Draft, css: string, from: number, end: number, above: string, depth: number): void => {
  for (const { end: close, prelude, start } of CssText.blocks(css, from, end, above !== "")) {
    if (draft.rules.length >= mostRules || draft.steps > draft.mostSteps) return
    const head = CssText.prelude(prelude)
    if (head.startsWith("@")) {
      const [, name = "", condition = ""] = /^@([\w-]+)\s*([\s\S]*)$/.exec(head) ?? []
      if (depth < 5 && name.toLowerCase() === "scope") read(draft, css, start, close, scopeOf(condition), depth + 1)
      else if (depth < 5 && opens(name.toLowerCase(), condition)) read(draft, css, start, close, above, depth + 1)
      continue
    }
    const body = css.slice(start, close)
    const selector = nested(head, above)
    if (above !== "") draft.steps += selector?.length ?? Number.POSITIVE_INFINITY
    if (selector === undefined) return
    draft.steps += (selector.split("(").length - 1) * stepsOfABracket
    add(draft, selector, body)
    if (depth < 5 && body.includes("{")) read(draft, css, start, close, selector, depth + 1)
  }
}

const opens = (name: string, condition: string): boolean => {
  if (name === "media") return MediaQuery.holds(condition)
  // Treats every `@supports` condition as true, unless negated.
  if (name === "supports") return !/^not\b/i.test(condition)
  return name === "layer"
}

/** `@scope (.a) to (.b)` applies to the content of `.a`. */
const scopeOf = (condition: string): string => /^\(([^()]+)\)/.exec(condition)?.[1] ?? ":root"

/** Expands a nested rule with its parent selector. Undefined if the result is too long. */
const nested = (head: string, above: string): string | undefined => {
  if (above === "") return head
  const place = head.includes(":scope") ? ":scope" : head.includes("&") ? "&" : undefined
  if (place === undefined) return `:is(${above}) ${head}`
  const parts = head.split(place)
  const length = head.length + (parts.length - 1) * above.length
  return length > 2 * longestSelector ? undefined : parts.join(`:is(${above})`)
}

const add = (draft: Draft, head: string, body: string) => {
  const declarations = CssText.declarations(body)
  if (declarations.length === 0 || head.length > longestSelector) return
  const first = draft.rules.length
  let hides: boolean | undefined
  for (const selector of Selector.parseList(head, draft.foldsCase)) {
    if (draft.rules.length >= mostRules) return
    // Later siblings are unknown at the start of an element, so rules about them count only if they hide.
    if (selector.isUnsure) {
      hides ??= Effects.hides(Declarations.effects(declarations))
      if (!hides) continue
    }
    draft.rules.push({
      selector,
      declarations,
      order: draft.rules.length,
      key: String.fromCharCode(draft.rules.length + 32),
      cost: Declarations.cost(declarations)
    })
  }
  const count = draft.rules.length - first
  if (count === 0) return
  const block = `${head}{${body}`
  const before = draft.blocks.get(block)
  for (let order = before ?? first; order < (before ?? first) + count && order < first; order++)
    draft.repeated.add(order)
  draft.blocks.set(block, first)
}

const indexed = (rules: ReadonlyArray<Rule>, foldsCase: boolean): Rules => {
  const byId = new Map<string, Array<Rule>>()
  const byClass = new Map<string, Array<Rule>>()
  const byTag = new Map<string, Array<Rule>>()
  const others: Array<Rule> = []
  const put = (map: Map<string, Array<Rule>>, key: string, rule: Rule) => {
    const list = map.get(key)
    if (list === undefined) map.set(key, [rule])
    else list.push(rule)
  }
  let needsAttributes = false
  let needsSiblings = false
  for (const rule of rules) {
    const { compounds, isSimple } = rule.selector
    const [last] = compounds
    if (last === undefined) continue
    const [firstClass] = last.classes
    if (last.id !== "") put(byId, last.id, rule)
    else if (firstClass !== undefined) put(byClass, firstClass.slice(1, -1), rule)
    else if (last.tag !== "") put(byTag, last.tag, rule)
    else others.push(rule)
    if (isSimple) continue
    needsAttributes ||= compounds.some(({ attributes, pseudos }) => attributes.length + pseudos.length > 0)
    needsSiblings ||= compounds.some(
      ({ combinator, pseudos }) => combinator === "+" || combinator === "~" || pseudos.length > 0
    )
  }
  return {
    byId,
    byClass,
    byTag,
    others,
    foldsCase,
    needsAttributes,
    needsSiblings,
    isEmpty: rules.length === 0
  }
}

/** The cache of parsed style sheets, because every mail of a sender has the same ones. */
const known = new Map<string, Sheets>()
let knownSize = 0
const mostKnown = 512 * 1024

/** The hashes of sheets seen once. */
const came = new Set<string>()
const mostCame = 10_000

const isSecond = (key: string): boolean => {
  const digest = hash("sha1", key)
  if (came.has(digest)) return true
  if (came.size >= mostCame) came.clear()
  came.add(digest)
  return false
}

/** The style sheets of a mail, up to the maximum length. */
const within = (sheets: ReadonlyArray<string>): ReadonlyArray<string> => {
  let room = longest
  return sheets.flatMap((sheet) => {
    const text = sheet.slice(0, room)
    room -= text.length
    return text === "" ? [] : [text]
  })
}

/** The rules of all sheets of a mail, in order. Without a doctype class names are case-insensitive. */
export const rules = (sheets: ReadonlyArray<string>, foldsCase: boolean, budget: Budget): Rules => {
  const texts = within(sheets)
  if (texts.length === 0) return indexed([], foldsCase)
  // The key has the lengths, because sheets split at another position differ and may be of another sender.
  const key = `${foldsCase ? "1" : "0"}${texts.map(({ length }) => length).join()}:${texts.join("")}`
  let list = known.get(key)
  if (list === undefined) {
    const draft: Draft = {
      rules: [],
      blocks: new Map(),
      repeated: new Set(),
      foldsCase,
      steps: 0,
      mostSteps: budget.steps
    }
    for (const sheet of texts) {
      const text = apart(sheet)
      read(draft, text, 0, text.length, "", 0)
    }
    list = { rules: draft.rules.filter(({ order }) => !draft.repeated.has(order)).sort(byWeight), steps: draft.steps }
    if (knownSize + key.length > mostKnown) {
      known.clear()
      knownSize = 0
    }
    // Rules that exceed this mail's budget may be parsed for a longer one. A sheet seen once is not cached.
    if (list.steps <= budget.steps && isSecond(key)) {
      known.set(apart(key), list)
      knownSize += key.length
    }
  }
  budget.steps -= list.steps
  return indexed(list.rules, foldsCase)
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
  look(rules.others)
  look(rules.byTag.get(element.name))
  if (element.classes !== "" && rules.byClass.size > 0) {
    for (const name of element.classes.slice(1, -1).split(" ")) look(rules.byClass.get(name))
  }
  if (element.id !== "") look(rules.byId.get(element.id))
  if (found === undefined) return nothing
  if (found.length === 1) return found
  budget.steps -= found.length * sortingSteps
  return found.sort(byWeight)
}
