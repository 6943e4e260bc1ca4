import { Schema } from "effect"
import { NotFound } from "./ApiError.ts"
import { DomainId } from "./Domain.ts"
import { WebhookId } from "./Webhook.ts"

export const SenderRuleId = Schema.String.check(Schema.isUUID()).pipe(Schema.brand("SenderRuleId"))
export type SenderRuleId = typeof SenderRuleId.Type

/** The domain has no such rule. */
export const noSuchRule = new NotFound({
  message: "No sender rule with this id in this domain. GET /api/domains/{id}/sender-rules lists them"
})

/** Maximum number of rules of a domain, those of its webhooks included, because each message is compared with all. */
export const mostRules = 200

/** Maximum length of a rule's value: an address (RFC 5321, section 4.5.3.1.3). */
export const longestValue = 254

/** What a rule says about the senders that it matches. */
export const SenderList = Schema.Literals(["allow", "block"])
export type SenderList = typeof SenderList.Type

/** What a rule compares: the author in the From field, the envelope sender, or the address of the SMTP client. */
export const SenderMatch = Schema.Literals(["author", "envelope", "network"])
export type SenderMatch = typeof SenderMatch.Type

/** What becomes of blocked mail. Only what is known in the session can be rejected there. */
export const SenderAction = Schema.Literals(["hold", "reject"])
export type SenderAction = typeof SenderAction.Type

const fields = {
  id: SenderRuleId,
  list: SenderList,
  match: SenderMatch,
  /** In canonical form. */
  value: Schema.String,
  action: SenderAction
}

/** A rule as mail is compared with it. */
export const RuleInForce = Schema.Struct({ ...fields, webhookId: Schema.NullOr(WebhookId) })
export type RuleInForce = typeof RuleInForce.Type

/** A rule about who may write to a domain, or to the addresses of one of its webhooks. */
export class SenderRule extends Schema.Class<SenderRule>("SenderRule")({
  ...fields,
  webhook_id: Schema.NullOr(WebhookId).annotate({
    description: "the webhook whose addresses it is about, or null for all addresses of the domain"
  }),
  list: SenderList.annotate({
    description:
      "`allow`: once there is one, only senders that an allow rule matches pass. `block`: these do not pass, whatever is allowed"
  }),
  match: SenderMatch.annotate({
    description:
      "`author`: the From address, which counts for `allow` only where it is confirmed. `envelope`: the address of MAIL, which counts for `allow` only where SPF passes. `network`: the address of the client"
  }),
  value: Schema.String.annotate({
    description:
      "an address, a domain (`example.com`), its subdomains (`*.example.com`), or a network (`192.0.2.0/24`), in lower case"
  }),
  action: SenderAction.annotate({
    description:
      "`hold` stores the mail and delivers it after a release. `reject`, for blocked envelopes and networks, answers 550 to RCPT"
  }),
  domain_id: DomainId,
  note: Schema.NullOr(Schema.String),
  created_at: Schema.DateTimeUtcFromString
}) {}
