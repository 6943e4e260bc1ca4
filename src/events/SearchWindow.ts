import type * as EventQuery from "./EventQuery.ts"
import type * as Mark from "./Mark.ts"

/** Maximum positions one request searches for filters without an index. */
export const positions = 5_000n

export interface SearchWindow {
  /** The end of this request's window. */
  readonly bound: EventQuery.Bound
  /** The start of the next window. */
  readonly next: Mark.Mark
}

/** The window of a search within bounds, or undefined if it covers them. */
export const of = (
  bounds: ReadonlyArray<EventQuery.Bound>,
  { first, last, order }: { readonly first: bigint; readonly last: bigint; readonly order: Mark.Order }
): SearchWindow | undefined => {
  let above = first - 1n
  let below = last + 1n
  for (const bound of bounds) {
    if ("above" in bound) above = bound.above > above ? bound.above : above
    else below = bound.below < below ? bound.below : below
  }
  if (below - above - 1n <= positions) return undefined
  if (order === "asc") {
    const end = above + positions
    return { bound: { below: end + 1n }, next: { kind: "asc", position: end } }
  }
  const end = below - positions
  return { bound: { above: end - 1n }, next: { kind: "desc", position: end } }
}
