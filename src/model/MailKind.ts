import { Schema } from "effect"
import { kinds } from "./KindNames.ts"

export const KindName = Schema.Literals(kinds)
export type KindName = typeof KindName.Type

const textOrNull = Schema.NullOr(Schema.String)

const FailedRecipient = Schema.Struct({
  address: Schema.String,
  action: textOrNull.annotate({ description: "`failed`, `delayed`, `delivered`, `relayed` or `expanded`" }),
  status: textOrNull.annotate({ description: "the enhanced status code, such as `5.1.1`" }),
  diagnostic: textOrNull.annotate({ description: "the reply of the other server" })
})
export type FailedRecipient = typeof FailedRecipient.Type

const Report = {
  submitter: textOrNull.annotate({ description: "the organisation that reports, by its name for itself" }),
  domain: textOrNull.annotate({ description: "the domain of the report" }),
  begin: textOrNull.annotate({ description: "ISO 8601" }),
  end: textOrNull.annotate({ description: "ISO 8601" }),
  attachment: Schema.NullOr(Schema.Int).annotate({ description: "index of the attachment with the report" })
}

/** A time of a calendar event. */
export const CalendarTime = Schema.Struct({
  local: Schema.String.annotate({ description: "as written: `2026-03-01T10:00:00`, or `2026-03-01` for a whole day" }),
  zone: textOrNull.annotate({ description: "the name of the time zone of `local`, or null" }),
  utc: textOrNull.annotate({ description: "ISO 8601, or null for a whole day and where the zone is unknown" })
})
export type CalendarTime = typeof CalendarTime.Type

/**
 * What a mail is, and what its kind tells. All of it is what the sender claims. RFC 3464 describes bounces, RFC 9990
 * and RFC 8460 reports, RFC 5545 and RFC 6047 calendars.
 */
export const MailKind = Schema.Union([
  Schema.Struct({ type: Schema.Literal("person") }),
  Schema.Struct({ type: Schema.Literal("auto_reply") }),
  Schema.Struct({
    type: Schema.Literal("bounce"),
    recipients: Schema.Array(FailedRecipient).annotate({
      description: "up to 20 recipients. Empty if the bounce has no delivery status"
    }),
    originalMessageId: textOrNull.annotate({ description: "the Message-ID of the mail that bounced" })
  }),
  Schema.Struct({ type: Schema.Literal("dmarc_report"), ...Report }),
  Schema.Struct({ type: Schema.Literal("tls_report"), ...Report }),
  Schema.Struct({
    type: Schema.Literal("list"),
    listId: textOrNull.annotate({ description: "the identifier of List-Id, such as `announce.example.org`" })
  }),
  Schema.Struct({ type: Schema.Literal("bulk") }),
  Schema.Struct({
    type: Schema.Literal("calendar"),
    method: Schema.String.annotate({ description: "`request`, `reply`, `cancel`, `publish` or another method" }),
    uid: textOrNull,
    sequence: Schema.NullOr(Schema.Int),
    summary: textOrNull,
    location: textOrNull,
    start: Schema.NullOr(CalendarTime),
    end: Schema.NullOr(CalendarTime),
    recurrence: textOrNull.annotate({ description: "the recurrence rule, such as `FREQ=WEEKLY;COUNT=4`" }),
    organizer: Schema.NullOr(Schema.Struct({ name: textOrNull, address: Schema.String })),
    reply: textOrNull.annotate({ description: "of a reply: `accepted`, `declined`, `tentative` or another state" }),
    attachment: Schema.NullOr(Schema.Int).annotate({ description: "index of the attachment with the calendar" })
  })
]).annotate({ identifier: "MailKind" })
export type MailKind = typeof MailKind.Type
