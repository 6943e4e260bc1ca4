/** A part of a list. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  /** Give it back as `cursor` for what comes next; null at the end. */
  readonly nextCursor: string | null
}
