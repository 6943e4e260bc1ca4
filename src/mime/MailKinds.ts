import type { HeaderValues } from "../content/HeaderValues.ts"
import * as SenderKind from "../content/SenderKind.ts"
import type { MailKind } from "../model/MailKind.ts"
import type { Attached } from "./Body.ts"
import * as Bounce from "./Bounce.ts"
import * as Calendar from "./Calendar.ts"
import * as PolicyReport from "./PolicyReport.ts"

/** What decides the kind of a mail. */
export interface Facts {
  readonly envelopeFrom: string
  readonly headers: HeaderValues
  readonly subject: string
  readonly attachments: ReadonlyArray<Attached>
}

/**
 * Decides the kind of a mail by its header and its parts. The first match counts: delivery status, policy report,
 * calendar, empty return path, automatic reply, list, other automatic or bulk mail, person.
 */
export const of = (facts: Facts): MailKind => {
  const { attachments, envelopeFrom, headers } = facts
  const first = (name: string) => headers.get(name)
  const reportType = /;\s*report-type\s*=\s*"?([\w-]+)/i.exec(first("content-type") ?? "")?.[1]?.toLowerCase()
  if (reportType === "delivery-status" || attachments.some(({ contentType }) => Bounce.isStatus(contentType)))
    return Bounce.of(attachments)
  const report = PolicyReport.of(facts, reportType)
  if (report !== undefined) return report
  const calendar = Calendar.of(attachments)
  if (calendar !== undefined) return calendar
  if (isReply(first)) return { type: "auto_reply" }
  if (envelopeFrom === "") return Bounce.of(attachments)
  if (isDiscussion(first)) return { type: "list", listId: listIdOf(first("list-id")) }
  const sender = SenderKind.of(envelopeFrom, headers)
  // Exchange calls an automatic reply auto-generated.
  const isAnswer = sender === "auto" && first("in-reply-to") !== undefined && !SenderKind.isList(headers)
  if (isAnswer) return { type: "auto_reply" }
  return sender === "person" ? { type: "person" } : { type: "bulk" }
}

type First = (name: string) => string | undefined

/** An answer that nobody wrote (RFC 3834), read receipts included (RFC 8098). */
const isReply = (first: First): boolean =>
  /^\s*auto-replied\b/i.test(first("auto-submitted") ?? "") ||
  /^\s*auto_reply\b/i.test(first("precedence") ?? "") ||
  /;\s*report-type\s*=\s*"?disposition-notification/i.test(first("content-type") ?? "") ||
  first("x-autoreply") !== undefined ||
  first("x-autorespond") !== undefined

/** A mailing list to which readers can post (RFC 2369, section 3.4). Others are bulk mail. */
const isDiscussion = (first: First): boolean => {
  const post = first("list-post")
  if (post !== undefined) return !/^\s*NO\b/i.test(post)
  return first("list-id") !== undefined && /^\s*list\b/i.test(first("precedence") ?? "")
}

const longestListId = 255

/** The identifier between angle brackets (RFC 2919). */
const listIdOf = (field: string | undefined): string | null =>
  /<([^<>\s]+)>\s*$/.exec(field?.slice(-2 * longestListId) ?? "")?.[1]?.slice(0, longestListId) ?? null
