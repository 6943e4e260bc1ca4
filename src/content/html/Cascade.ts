import { apart } from "../../cache/Apart.ts"
import { BoundedMap } from "../../cache/BoundedMap.ts"
import type { Budget } from "../css/Budget.ts"
import * as CssText from "../css/CssText.ts"
import * as Declarations from "../css/Declarations.ts"
import { Effects } from "../css/Effects.ts"
import * as StyleSheets from "../css/StyleSheets.ts"
import type { Frame } from "./Frame.ts"
import * as Hints from "./Hints.ts"
import type { Tag } from "./HtmlTokens.ts"

/** Effects by their declarations. Most elements of a mail have the same ones, and so has the next mail. */
const known = new BoundedMap<string, Effects>(4_000)
const longestKnown = 400

/** The cost of finding the rules of an element, which tags of three characters would not pay for. */
const stepsOfElement = 20

/** Maximum cached keys per mail. */
const sizeInMail = 1_000_000

/** The effects of an element without styles. */
export const none = new Effects()

/** Cascades the styles of browser, attributes, style sheets and element. Later ones win. */
export class Cascade {
  readonly rules: StyleSheets.Rules
  /** By element and rules, for this mail. */
  readonly #known = new Map<string, Effects>()
  /** The last style attribute by the styles before it: elements that follow each other mostly have the same one. */
  readonly #last = new Map<string, { readonly attribute: string; readonly effects: Effects }>()
  readonly #budget: Budget
  /** The style of links, by the first body. */
  #link: string | undefined
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
    if (this.rules.isEmpty && !tokens.hasAttributes()) return of(element.kind.css)
    this.#budget.steps -= stepsOfElement
    const attribute = tokens.attribute("style") ?? ""
    if (element.name === "body") this.#link ??= Hints.linkOf(tokens)
    const before = joined(element.kind.css, Hints.css(element.name, tokens, this.#link ?? Hints.usualLink))
    const rules = StyleSheets.fitting(this.rules, element, this.#budget)
    if (rules.length === 0) return this.#ofAttribute(before, attribute)
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

  #ofAttribute(before: string, attribute: string): Effects {
    const last = this.#last.get(before)
    if (last?.attribute === attribute) return last.effects
    const effects = of(joined(before, attribute))
    this.#last.set(before, { attribute, effects })
    return effects
  }
}

const joined = (before: string, own: string) => (before === "" ? own : own === "" ? before : `${before};${own}`)

const of = (css: string): Effects => {
  if (css === "") return none
  const found = css.length > longestKnown ? undefined : known.get(css)
  if (found !== undefined) return found
  const effects = Declarations.effects(CssText.declarations(css))
  if (css.length <= longestKnown) known.set(apart(css), effects)
  return effects
}
