import { apart } from "../../cache/Apart.ts"
import type { Budget } from "../css/Budget.ts"
import * as CssText from "../css/CssText.ts"
import * as Declarations from "../css/Declarations.ts"
import { Effects } from "../css/Effects.ts"
import * as StyleSheets from "../css/StyleSheets.ts"
import * as ElementKind from "./ElementKind.ts"
import type { Frame } from "./Frame.ts"
import * as Hints from "./Hints.ts"
import type { Tag } from "./HtmlTokens.ts"

/**
 * Caches effects by the declarations that apply to an element before its own, and by its own. Most elements of a mail
 * have the same ones, and so has the next mail.
 */
const known = new Map<string, Map<string, Effects>>()
const mostKnown = 4_000
let howManyKnown = 0
const longestKnown = 400

/** The cost of finding the rules of an element, which tags of three characters would not pay for. */
const stepsOfElement = 20

/** Maximum cached keys per mail. */
const sizeInMail = 1_000_000

/** The effects of an element without styles. */
export const none = new Effects()

/** The effects of elements without attributes. */
const byTag = new Map(
  Array.from(ElementKind.known, ({ css, name }) => [
    name,
    css === "" ? none : Declarations.effects(CssText.declarations(css))
  ])
)

/** Cascades the styles of browser, attributes, style sheets and element. Later ones win. */
export class Cascade {
  readonly rules: StyleSheets.Rules
  /** By element and rules, for this mail. */
  readonly #known = new Map<string, Effects>()
  readonly #budget: Budget
  #size = 0

  constructor(sheets: ReadonlyArray<string>, isQuirky: boolean, budget: Budget) {
    this.rules = StyleSheets.rules(sheets, isQuirky, budget)
    this.#budget = budget
  }

  effects(tokens: Tag, element: Frame): Effects {
    const effects = this.#effects(tokens, element)
    return effects.quirky !== undefined && this.rules.foldsCase ? effects.quirky : effects
  }

  #effects(tokens: Tag, element: Frame): Effects {
    if (this.rules.isEmpty && !tokens.hasAttributes()) return byTag.get(element.name) ?? none
    this.#budget.steps -= stepsOfElement
    const attribute = tokens.attribute("style") ?? ""
    const before = element.kind.css + wall(Hints.css(element.name, tokens))
    const rules = StyleSheets.fitting(this.rules, element, this.#budget)
    if (rules.length === 0) return before === "" && attribute === "" ? none : remembered(before, attribute)
    let key = `${before}|`
    for (const rule of rules) key += rule.key
    key += `|${attribute}`
    this.#budget.steps -= rules.length
    const found = this.#known.get(key)
    if (found !== undefined) return found
    this.#budget.steps -= rules.length
    for (const rule of rules) this.#budget.steps -= rule.cost
    const effects = Declarations.effects([
      ...CssText.declarations(before),
      ...rules.flatMap(({ declarations, isUnsure }) => (isUnsure ? Declarations.unknown : declarations)),
      ...CssText.declarations(attribute)
    ])
    this.#size += key.length
    if (this.#size < sizeInMail) this.#known.set(key, effects)
    return effects
  }
}

const wall = (css: string) => (css === "" ? "" : `;${css}`)

const together = (before: string, own: string) => (before === "" ? own : `${before};${own}`)

const remembered = (before: string, own: string): Effects => {
  if (before.length + own.length > longestKnown) return read(before, own)
  return known.get(before)?.get(own) ?? remember(apart(before), apart(own))
}

const read = (before: string, own: string): Effects => Declarations.effects(CssText.declarations(together(before, own)))

const remember = (before: string, own: string): Effects => {
  if (howManyKnown++ >= mostKnown) {
    known.clear()
    howManyKnown = 1
  }
  const effects = read(before, own)
  const siblings = known.get(before)
  if (siblings === undefined) known.set(before, new Map([[own, effects]]))
  else siblings.set(own, effects)
  return effects
}
