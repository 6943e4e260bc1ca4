import type * as EventQuery from "./EventQuery.ts"
import type * as Mark from "./Mark.ts"

/** Maximum positions one request searches for filters without an index. */
export const positions = 5_000n

export interface SearchWindow {
  /** Where this request ends. */
  readonly bound: EventQuery.Bound
  /** Where the next one begins. */
  readonly next: Mark.Mark
}

/** The window of a search within bounds; undefined where there is no more than that. */
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
