import { type Effects, paints } from "../css/Effects.ts"
import * as Length from "../css/Length.ts"
import type * as Style from "../css/Style.ts"
import type { Frame } from "./Frame.ts"

/** Elements moved by less, in px, cover no letter. */
const leastShift = 8

/** The sum of smaller moves, in px, that may take text out of the window. */
const mostPulled = 100

/** Lines after a tight one that may lie over it. */
const nearLines = 2

const negative = (length: Length.Length | undefined, em: number): number =>
  length === undefined ? 0 : Math.max(0, -Length.resolve(length, em, 600))

/**
 * Notices elements that may lie over others, or that move those after them out of the window. Inlet computes no
 * layout, so such an element may hide any text of the mail.
 */
export class Overlaps {
  #isMoved = false
  #tightLine = Number.NEGATIVE_INFINITY
  #pulled = 0

  /** Whether any text may be hidden. */
  get isPossible(): boolean {
    return this.#isMoved || this.#pulled > mostPulled
  }

  /** Text in a line that is lower than its letters. */
  tighten(line: number) {
    this.#tightLine = line
  }

  /** `line` is the index of the line where the text of the element begins. */
  add({ display, name, style }: Frame, outer: Style.Style, effects: Effects, line: number) {
    if (style.isGone) return
    const { position = "static" } = effects
    const isPainted = paints(effects) || effects.hasBorder === true || name === "img"
    // Blocks in the flow are painted behind all text.
    const isInFront = display === "inline" || position !== "static" || effects.isRaised === true
    const isNear = isPainted && isInFront && line - this.#tightLine <= nearLines
    this.#isMoved ||= effects.covers === true || isNear || (isInFront && effects.spreads === true)
    if (position === "absolute" || position === "fixed") this.#isMoved ||= style.isShown || style.showsImages
    else this.#move(style, outer, effects)
  }

  /** In the flow: elements after it move as well. */
  #move(style: Style.Style, outer: Style.Style, effects: Effects) {
    const pulls = (effects.pulls ?? 0) + negative(effects.marginTop, style.fontSize)
    const back = negative(effects.marginLeft, style.fontSize)
    this.#pulled += pulls + back
    this.#isMoved ||=
      pulls > leastShift ||
      back > leastShift ||
      Math.abs(style.y - outer.y) > leastShift ||
      style.x - outer.x < -leastShift ||
      (style.spacing !== outer.spacing && style.spacing < -0.3 * style.fontSize)
  }
}
