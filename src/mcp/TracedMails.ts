import { DateTime } from "effect"
import type { TraceEntry } from "../trace/TraceEntry.ts"
import { cursorAfter, type TracePage } from "../trace/Traces.ts"
import * as BriefMail from "./BriefMail.ts"
import { mostBytes } from "./MailList.ts"

/** Maximum characters for a model of a subject, and of what became of a mail. */
const mostOfSubject = 80
const mostOfSentence = 400

const briefOf = ({ at, author, event_id, from, outcome, recipient, remedy, subject, summary }: TraceEntry) => ({
  event_id: event_id ?? undefined,
  received: DateTime.formatIso(at),
  to: recipient === null ? undefined : BriefMail.shortAddress(recipient),
  from: BriefMail.shortAddress(author ?? from ?? ""),
  subject: subject?.slice(0, mostOfSubject).toWellFormed(),
  outcome,
  summary: BriefMail.cut(summary, mostOfSentence),
  remedy: remedy === null ? undefined : BriefMail.cut(remedy, mostOfSentence)
})

/**
 * A trace in about 80 tokens a mail: what became of it, and what to do. The mails that fit into an answer, and the cursor
 * for the next, null at the end.
 */
export const of = ({ entries, hint, nextCursor }: TracePage) => {
  const mails: Array<ReturnType<typeof briefOf>> = []
  let bytes = 0
  for (const [index, entry] of entries.entries()) {
    const mail = briefOf(entry)
    bytes += Buffer.byteLength(JSON.stringify(mail))
    const last = entries[index - 1]
    if (bytes > mostBytes && last !== undefined) return { mails, next: cursorAfter(last), hint: undefined }
    mails.push(mail)
  }
  return { mails, next: nextCursor, hint: hint ?? undefined }
}
