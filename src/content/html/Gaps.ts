import { isIntro } from "../reply/ReplyLines.ts"
import type { Frame } from "./Frame.ts"
import type { Tag } from "./HtmlTokens.ts"
import type { LineWriter } from "./LineWriter.ts"

/** The maximum number of checks before unmarked quotations: a fixed number, plus one for a number of units. */
const mostLooks = 200
const unitsOfALook = 250

/** The line beside a quotation. */
const quotingLine = /border-left(?:-width)?\s*:(?!\s*(?:none|0))/i

/** Finds quotations and signatures that mail programs mark. */
export class Gaps {
  readonly #writer: LineWriter
  #looks: number

  /** `units` is the length of the HTML. */
  constructor(writer: LineWriter, units: number) {
    this.#writer = writer
    this.#looks = mostLooks + units / unitsOfALook
  }

  /** Opens a gap if the element begins one. */
  begin(frame: Frame, tokens: Tag) {
    const { gap, mark, name } = frame
    if (gap?.isSure === true) return
    if (mark === "head") this.#writer.cut()
    const isQuote = name === "blockquote" && this.#isQuote(frame, tokens)
    const isNamed = name === "div" && tokens.attribute("name") === "quote"
    if (isQuote || isNamed || mark === "quotation" || mark === "signature") {
      frame.gap = { isCut: true, around: gap, isSure: true }
      if (name === "blockquote") for (let at = gap; at?.isCut === true; at = at.around) at.isCut = false
    } else if (mark === "around" && name === "div") frame.gap = { isCut: true, around: gap, isSure: false }
  }

  /** Authors indent with unmarked ones. */
  #isQuote({ classes, id }: Frame, tokens: Tag): boolean {
    const isCite = tokens.attribute("type") === "cite" || tokens.attribute("cite") !== undefined
    if (isCite || /quote/i.test(classes + id) || quotingLine.test(tokens.attribute("style") ?? "")) return true
    return this.#looks-- >= 1 && isIntro((this.#writer.lines.at(-1)?.text ?? "").slice(-200), false)
  }
}
