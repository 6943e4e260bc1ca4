import type { Frame } from "./Frame.ts"

/** A link while it is written, and after. */
export class Link {
  readonly url: string
  text = ""
  line = -1
  /** Where it ends: in which line, and behind how many characters of it. */
  endLine = -1
  endAt = 0
  /** Where it begins in its first line. */
  startAt = 0
  hasImage = false
  hasText = false
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
    // A cell that holds nothing else is the button's face.
    return cell?.hasBox === true && cell.letters === this.letters && this.letters > 0
  }
}
