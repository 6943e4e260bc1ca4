import type { Frame } from "./Frame.ts"

/** A link, during and after writing. */
export class Link {
  readonly url: string
  text = ""
  line = -1
  /** Its end: the line, and the number of characters in it. */
  endLine = -1
  endAt = 0
  /** Its start in its first line. */
  startAt = 0
  hasImage = false
  hasText = false
  /** Some of its text may be hidden. */
  isUncertain = false
  letters = 0
  readonly quoted: boolean
  readonly #frame: Frame

  constructor(url: string, frame: Frame) {
    this.url = url
    this.#frame = frame
    this.quoted = frame.isQuoted
  }

  get image(): boolean {
    return this.hasImage && !this.hasText
  }

  get button(): boolean {
    const { cell, hasBox, hasPadding, parent } = this.#frame
    if (this.#frame.name === "button" || parent?.name === "button") return true
    if (hasBox && (hasPadding || this.#frame.display !== "inline")) return true
    // A cell with only the link is the button's area.
    return cell?.hasBox === true && cell.letters === this.letters && this.letters > 0
  }
}
