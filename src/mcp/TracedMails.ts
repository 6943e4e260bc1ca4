import { DateTime } from "effect"
import type { TracePage } from "../trace/Traces.ts"
import * as BriefMail from "./BriefMail.ts"

/** Maximum characters of a subject for a model. */
const mostOfSubject = 80

/** A trace in about 80 tokens a mail: what became of it, and what to do. */
export const of = ({ entries, hint, nextCursor }: TracePage) => ({
  mails: entries.map(({ at, author, event_id, from, outcome, recipient, remedy, subject, summary }) => ({
    event_id: event_id ?? undefined,
    received: DateTime.formatIso(at),
    to: recipient === null ? undefined : BriefMail.shortAddress(recipient),
    from: BriefMail.shortAddress(author ?? from ?? ""),
    subject: subject?.slice(0, mostOfSubject).toWellFormed(),
    outcome,
    summary,
    remedy: remedy ?? undefined
  })),
  next_cursor: nextCursor,
  hint: hint ?? undefined
})
