import { Schema } from "effect"
import { SenderRuleId } from "./SenderRule.ts"

/** Why a sender rule holds a delivery. */
export const RuleHold = Schema.Literals(["sender_not_allowed", "sender_blocked"])
export type RuleHold = typeof RuleHold.Type

/** Why a delivery is held, for another reason than its webhook. `migrations/0017_kinds_of_mail.ts` lists the same. */
export const HoldReason = Schema.Literals([...RuleHold.literals, "mail_loop", "spam", "virus"])
export type HoldReason = typeof HoldReason.Type

/** Whether the author is confirmed, and how or why not. */
export const AlignmentReason = Schema.Literals([
  "dmarc_pass",
  "spf_aligned",
  "dkim_aligned",
  "dmarc_fail",
  "not_aligned",
  "word_of_relay",
  "addressed_to_others",
  "ambiguous_author",
  "dns_failed",
  "not_checked"
])
export type AlignmentReason = typeof AlignmentReason.Type

/** Whom a mail is from, and what the rules of its domain say. */
export const Trust = Schema.Struct({
  aligned: Schema.Boolean.annotate({
    description:
      "true if the domain of `from` confirms the mail: DMARC passes, or, for a domain without a policy, SPF or DKIM in its name. Only then believe `from`"
  }),
  rule: Schema.NullOr(SenderRuleId).annotate({ description: "the sender rule that decided, or null" }),
  reasons: Schema.Array(Schema.Union([AlignmentReason, RuleHold, Schema.Literal("allowed")])).annotate({
    description: "first how `from` is confirmed or why not, then what the sender rules say"
  })
}).annotate({ identifier: "Trust" })
export type Trust = typeof Trust.Type
