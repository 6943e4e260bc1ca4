/** A page of a list. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  /** Pass it as `cursor` for the next page. Null at the end. */
  readonly nextCursor: string | null
}
