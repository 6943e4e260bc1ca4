import { Cause, Option, Schema } from "effect"
import type { RefusalReason } from "../model/Refusal.ts"
import type { IntakeError } from "./Intake.ts"

/** The bytes of incoming messages exceed their limit. */
export class DataMemoryFull extends Schema.TaggedError<DataMemoryFull>()("DataMemoryFull", {}) {}

/**
 * The reply to the sending server: 4xx for a retry, 5xx for a permanent failure. The enhanced code is defined in RFC
 * 3463.
 */
export interface Reply {
  readonly code: number
  readonly enhanced: string
  readonly text: string
  /** For the ledger, the log and the metrics. */
  readonly reason: RefusalReason
}

// Keyed by tag, so an error without a reply does not compile.
const replies: { readonly [Tag in (IntakeError | DataMemoryFull)["_tag"]]: Reply } = {
  UnknownDomain: { code: 550, enhanced: "5.1.2", text: "This domain does not receive mail here", reason: "unknown" },
  DisabledDomain: { code: 550, enhanced: "5.1.2", text: "This domain does not receive mail here", reason: "disabled" },
  RejectedRoute: { code: 550, enhanced: "5.1.1", text: "This address does not receive mail", reason: "rejected_route" },
  SenderRejected: {
    code: 550,
    enhanced: "5.7.1",
    text: "This domain takes no mail from this sender",
    reason: "sender_blocked"
  },
  QuotaReached: {
    code: 452,
    enhanced: "4.2.2",
    text: "The recipient has reached its limit of messages for today; try again tomorrow (UTC)",
    reason: "quota"
  },
  SenderQuotaReached: {
    code: 452,
    enhanced: "4.2.2",
    text: "Your IP address has sent the messages it may send here today; try again tomorrow (UTC)",
    reason: "sender_quota"
  },
  DemoFull: { code: 452, enhanced: "4.2.2", text: "This demo inbox has reached its limit of mails", reason: "quota" },
  DataMemoryFull: {
    code: 452,
    enhanced: "4.3.1",
    text: "Too much mail is coming in at once; please try again",
    reason: "rate"
  },
  MailLoop: {
    code: 554,
    enhanced: "5.4.6",
    text: "Too many Received fields: the message is in a mail loop",
    reason: "loop"
  },
  NotStored: {
    code: 451,
    enhanced: "4.3.0",
    text: "The message could not be stored; please try again",
    reason: "storage"
  }
}

export const fromError = (error: IntakeError | DataMemoryFull): Reply => replies[error._tag]

/** The reply to a bug. Temporary, so that no mail bounces while we fix it. */
export const bug: Reply = {
  code: 451,
  enhanced: "4.3.0",
  text: "Something went wrong; please try again",
  reason: "storage"
}

/** The reply to a failure. A defect is a bug. */
export const fromCause = (cause: Cause.Cause<IntakeError | DataMemoryFull>): Reply =>
  Option.match(Cause.findErrorOption(cause), { onNone: () => bug, onSome: fromError })

/** The replies to an invalid envelope address, the same that smtp-server gives by itself. */
export const badSender: Reply = {
  code: 501,
  enhanced: "5.1.7",
  text: "Error: Bad sender address syntax",
  reason: "protocol"
}
export const badRecipient: Reply = {
  code: 501,
  enhanced: "5.1.3",
  text: "Error: Bad recipient address syntax",
  reason: "relay"
}

/** The reply to a message over the size limit, which smtp-server gives by itself. */
export const tooLarge = (limit: number): Reply => ({
  code: 552,
  enhanced: "5.3.4",
  text: `Error: message exceeds fixed maximum message size ${limit}`,
  reason: "too_large"
})
