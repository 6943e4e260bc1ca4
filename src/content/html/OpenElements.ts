import type { Budget } from "../css/Budget.ts"
import type { ElementKind } from "./ElementKind.ts"
import type { Frame } from "./Frame.ts"

/** Maximum nesting depth, far above real mail. */
const deepest = 1_000

/** Maximum formatting elements to reopen. */
const mostAgain = 12

const groups = new Set(["tbody", "thead", "tfoot"])

/** Elements that bound the search of a block's end tag. */
const scope = new Set(["table", "td", "th", "caption", "template", "object", "applet", "marquee", "html"])

/**
 * The open elements, by the standard's rules for tree construction: which tag closes which element. It keeps no tree.
 * A tag costs the elements it closes, and one step of the budget for each element it searches.
 */
export class OpenElements {
  readonly stack: Array<Frame>
  /** Formatting elements that were closed with a block and are reopened at the next text. */
  again: Array<Frame> = []
  readonly #open = new Map<string, number>()
  readonly #closed: (frame: Frame) => void
  readonly #restyle: (frame: Frame, parent: Frame) => Frame
  readonly #keepsParagraphs: boolean
  readonly #budget: Budget

  constructor(options: {
    readonly root: Frame
    readonly closed: (frame: Frame) => void
    /** The same element with the inheritance of another parent. */
    readonly restyle: (frame: Frame, parent: Frame) => Frame
    /** Without a doctype a table does not end a paragraph. */
    readonly isQuirky: boolean
    readonly budget: Budget
  }) {
    this.stack = [options.root]
    this.#closed = options.closed
    this.#restyle = options.restyle
    this.#keepsParagraphs = options.isQuirky
    this.#budget = options.budget
  }

  get top(): Frame {
    // The root is never closed.
    return this.stack[this.stack.length - 1] as Frame
  }

  get isTooDeep(): boolean {
    return this.stack.length > deepest
  }

  has(name: string): boolean {
    return (this.#open.get(name) ?? 0) > 0
  }

  push(frame: Frame) {
    this.stack.push(frame)
    this.#open.set(frame.name, (this.#open.get(frame.name) ?? 0) + 1)
  }

  /** Closes the elements that this start tag implicitly ends. */
  before(kind: ElementKind) {
    const { name } = kind
    switch (name) {
      case "li":
        this.#endItem(name, name)
        break
      case "dd":
      case "dt":
        this.#endItem("dd", "dt")
        break
      case "option":
      case "optgroup":
        if (this.top.name === "option") this.#pop()
        if (name === "optgroup" && this.top.name === "optgroup") this.#pop()
        return
      case "a":
      case "nobr":
        this.again = this.again.filter((frame) => frame.name !== name)
        if (this.has(name)) this.#endFormatting(name)
        return
      case "button":
        if (this.has(name)) this.#endInScope(name, scope)
        return
      case "td":
      case "th":
        return this.#endUpTo((frame) => frame.name === "tr" || groups.has(frame.name))
      case "tr":
        return this.#endUpTo((frame) => groups.has(frame.name))
      case "tbody":
      case "thead":
      case "tfoot":
      case "caption":
      case "colgroup":
        return this.#endUpTo(() => false)
      case "table":
        if (this.top.kind.isFramework) this.close(kind)
        if (!this.#keepsParagraphs) this.#endParagraph()
        return
    }
    if (kind.endsParagraph) this.#endParagraph()
    if (kind.heading > 0 && this.top.kind.heading > 0) this.#pop()
  }

  /** Whether the end tag closed something. */
  close(kind: ElementKind): boolean {
    const { name } = kind
    if (kind.isFormatting) {
      if (this.has(name) && this.#endFormatting(name)) return true
      const index = this.again.findLastIndex((frame) => frame.name === name)
      if (index >= 0) this.again.splice(index, 1)
      return false
    }
    if (kind.heading > 0) return this.#endHeading()
    if (!this.has(name)) return false
    if (kind.isCellOrCaption || kind.isFramework) return this.#endInScope(name, name === "table" ? noScope : tableScope)
    if (kind.isSpecial) return this.#endInScope(name, name === "p" ? buttonScope : name === "li" ? listScope : scope)
    return this.#endAt(
      this.#find(
        (frame) => frame.name === name,
        (frame) => frame.kind.isSpecial
      )
    )
  }

  /** Closes the innermost element. */
  endTop() {
    this.#pop()
  }

  #count(frame: Frame) {
    this.#open.set(frame.name, (this.#open.get(frame.name) ?? 1) - 1)
    this.#closed(frame)
  }

  #pop() {
    const frame = this.stack.pop()
    if (frame !== undefined) this.#count(frame)
  }

  /** Closes the element at this index with its content. Formatting is reopened after it, except after a cell. */
  #popTo(index: number): true {
    if (index === this.stack.length - 1) {
      this.#pop()
      return true
    }
    const going: Array<Frame> = []
    while (this.stack.length > index) {
      const frame = this.top
      this.#pop()
      if (frame.kind.isCellOrCaption) going.length = 0
      else if (this.stack.length > index && frame.kind.isFormatting) going.push(frame)
    }
    for (const frame of going.reverse()) this.#goOn(frame)
    return true
  }

  #goOn(frame: Frame) {
    const same = this.again.filter(({ tag }) => tag === frame.tag)
    if (same.length >= 3) this.again.splice(this.again.indexOf(same[0] as Frame), 1)
    if (this.again.length >= mostAgain) this.again.shift()
    this.again.push(frame)
  }

  #endParagraph() {
    if (this.has("p")) this.#endInScope("p", buttonScope)
  }

  /** The index of the innermost element that is wanted, or 0 if one that bounds the search comes before it. */
  #find(isWanted: (frame: Frame) => boolean, isBound: (frame: Frame) => boolean): number {
    for (let index = this.stack.length - 1; index > 0; index--) {
      this.#budget.steps--
      const frame = this.stack[index] as Frame // The index is within bounds.
      if (isWanted(frame)) return index
      if (isBound(frame)) return 0
    }
    return 0
  }

  #endAt(index: number): boolean {
    return index > 0 && this.#popTo(index)
  }

  #endInScope(name: string, limits: ReadonlySet<string>): boolean {
    return this.#endAt(
      this.#find(
        (frame) => frame.name === name,
        (frame) => limits.has(frame.name)
      )
    )
  }

  #endHeading(): boolean {
    return this.#endAt(this.#find(({ kind }) => kind.heading > 0, isScope))
  }

  #endItem(one: string, other: string) {
    if (!this.has(one) && !this.has(other)) return
    const isItem = ({ name }: Frame) => name === one || name === other
    this.#endAt(
      this.#find(isItem, ({ kind, name }) => kind.isSpecial && name !== "address" && name !== "div" && name !== "p")
    )
  }

  /** Closes elements in the innermost table up to a part that may contain the tag. */
  #endUpTo(mayHold: (frame: Frame) => boolean) {
    if (!this.has("table")) return
    const index = this.#find(
      (frame) => frame.name === "table" || frame.name === "template" || (frame.kind.isFramework && mayHold(frame)),
      () => false
    )
    if (index > 0 && index + 1 < this.stack.length) this.#popTo(index + 1)
  }

  /** Closes a formatting element. A block that was opened inside it stays open. */
  #endFormatting(name: string): boolean {
    const { stack } = this
    const index = this.#find((frame) => frame.name === name, isScope)
    if (index === 0 || !stack.some(({ kind }, at) => at > index && kind.isSpecial)) return this.#endAt(index)
    const [frame, ...above] = stack.splice(index)
    if (frame !== undefined) this.#count(frame)
    let parent = this.top
    for (const old of above) {
      parent = this.#restyle(old, parent)
      stack.push(parent)
    }
    return true
  }
}

const isScope = ({ name }: Frame) => scope.has(name)

const noScope = new Set(["template", "html"])
const tableScope = new Set(["table", "template", "html"])
const buttonScope = new Set([...scope, "button"])
const listScope = new Set([...scope, "ul", "ol"])
