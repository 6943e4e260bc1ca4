import { Schema } from "effect"
import { TraceEntry } from "../../trace/TraceEntry.ts"
import { mostCompared } from "../../trace/TraceSearch.ts"
import * as AddressQuery from "../requests/AddressQuery.ts"
import * as PageQuery from "../requests/PageQuery.ts"
import { text } from "../requests/TextQuery.ts"
import * as TimeQuery from "../requests/TimeQuery.ts"

/** The parameters of a trace. All of them must match. */
export const query = {
  message_id: text(1_000, "the Message-ID, with or without angle brackets; case is ignored"),
  from: text(320, "address or domain of the envelope sender or the author; case is ignored"),
  to: text(320, "address or domain of the envelope recipient; case is ignored"),
  subject: text(200, "contained in the subject; case is ignored"),
  since: TimeQuery.time("received at this time or later"),
  until: TimeQuery.time("received at this time or earlier"),
  limit: Schema.optionalKey(PageQuery.between(1, 50, "page size, 20 by default")),
  cursor: PageQuery.Cursor
}

export const page = Schema.Struct({
  entries: Schema.Array(TraceEntry),
  next_cursor: Schema.NullOr(Schema.String).annotate({
    description: "pass it as `cursor` to search older mail, null at the end"
  }),
  hint: Schema.NullOr(Schema.String).annotate({
    description: "why nothing was found, or which domains were not searched, and where to look next"
  })
})

export const description = `Every step of each mail: session, recipient, storage, parsing, event, every delivery attempt, and what happens next. Refused mail has its reason. A mail to several recipients has an entry for each. Every step that went wrong has a remedy. A search compares up to ${mostCompared.toLocaleString("en")} mails a page, so an empty page may have a next_cursor. Message-IDs and authors are found by index.`

const entriesOnAPage = 20

type Query = {
  readonly message_id?: string
  readonly from?: string
  readonly to?: string
  readonly subject?: string
  readonly limit?: number
  readonly cursor?: string
}

/** The search of a query. */
export const toSearch = <Q extends Query>({ cursor, from, limit = entriesOnAPage, message_id, to, ...asked }: Q) => ({
  asked: {
    ...asked,
    messageId: message_id,
    from: from === undefined ? undefined : AddressQuery.withPlus(from),
    to: to === undefined ? undefined : AddressQuery.withPlus(to)
  },
  page: { cursor, limit }
})
