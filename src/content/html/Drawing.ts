import * as Invisible from "./Invisible.ts"

const isIsland = (name: string) => name === "foreignobject" || name === "desc" || name === "title"

const hasText = (name: string) => name === "foreignobject" || name === "text"

/** The SVG that is open at a position. Its text is left out, as by most mail programs. */
export class Drawing {
  /** Browsers show text in a drawing. */
  showsText = false
  /** Numbers of open SVG elements, of their HTML integration points, and of elements with text. */
  #open = 0
  #islands = 0
  #texts = 0

  get isOpen(): boolean {
    return this.#open > 0
  }

  get isIsland(): boolean {
    return this.#islands > 0
  }

  begin(isSelfClosing: boolean) {
    this.end()
    if (!isSelfClosing) this.#open = 1
  }

  end() {
    this.#open = 0
    this.#islands = 0
    this.#texts = 0
  }

  /** An element in the drawing. */
  add(name: string) {
    if (name === "svg") this.#open++
    else if (isIsland(name)) this.#islands++
    if (hasText(name)) this.#texts++
  }

  close(name: string) {
    if (name === "svg") this.#open--
    else if (isIsland(name)) this.#islands = Math.max(0, this.#islands - 1)
    if (hasText(name)) this.#texts = Math.max(0, this.#texts - 1)
    if (this.#open === 0) this.end()
  }

  write(text: string) {
    this.showsText ||= this.#texts > 0 && Invisible.hasWords(text)
  }
}
