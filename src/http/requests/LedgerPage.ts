import { Schema } from "effect"
import { LedgerEntry, OperationalEventType } from "../../model/OperationalEvent.ts"
import type { Page } from "../../model/Page.ts"
import * as PageQuery from "./PageQuery.ts"

/** The query of a list of operational events. */
export const query = {
  type: Schema.optionalKey(OperationalEventType.annotate({ description: "only events of this type" })),
  limit: PageQuery.Limit,
  cursor: PageQuery.Cursor
}

/** The page size without a limit. */
export const limitByDefault = 50

/** A page of operational events. */
export const answer = Schema.Struct({
  operational_events: Schema.Array(LedgerEntry),
  next_cursor: PageQuery.NextCursor
})

export const of = ({ items, nextCursor }: Page<LedgerEntry>): typeof answer.Type => ({
  operational_events: items,
  next_cursor: nextCursor
})
