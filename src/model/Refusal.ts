import { Schema } from "effect"

export const RefusalId = Schema.String.check(Schema.isUUID()).pipe(Schema.brand("RefusalId"))
export type RefusalId = typeof RefusalId.Type

/** Why mail was refused, as a fixed word. `migrations/0007_refusals.ts` lists the same. */
export const RefusalReason = Schema.Literals([
  "unknown",
  "not_verified",
  "disabled",
  "held_elsewhere",
  "rejected_route",
  "sender_blocked",
  "quota",
  "sender_quota",
  "other_recipient",
  "too_large",
  "recipients",
  "relay",
  "loop",
  "rate",
  "timeout",
  "tls",
  "protocol",
  "storage",
  "shutdown"
])
export type RefusalReason = typeof RefusalReason.Type

/** What to do about each reason, for the holder of the domain. */
const remedies: { readonly [Reason in RefusalReason]: string } = {
  unknown: "No workspace had this domain. Add it with POST /api/domains, then verify it",
  not_verified:
    "The domain was not verified. Unless it is now, publish its TXT record, then call POST /api/domains/{id}/verify",
  disabled:
    "The domain was disabled. GET /api/domains/{id} says whether it still is, and why. The operator can enable it",
  held_elsewhere: "Another workspace holds this name. Remove the domain there, or ask the operator",
  rejected_route:
    "A webhook of the domain rejects this address. GET /api/domains/{id}/webhooks/match?recipient=… names it. Change that webhook if this is wrong",
  sender_blocked:
    "A sender rule of the domain rejects this envelope or network. GET /api/domains/{id}/sender-rules lists them. Remove the rule if this is wrong",
  quota: "The workspace reached its messages for the UTC day. Senders retry. Ask the operator for a higher limit",
  sender_quota:
    "The IP address of the sender reached its messages for the UTC day. The sender retries by itself. The operator can raise MAX_EMAILS_PER_SENDER_PER_DAY",
  other_recipient: "Another recipient of the same message could not take it. The sender retries by itself",
  too_large:
    "The message exceeds the size limit of this service. Ask for a smaller one, or for a link to its attachments. The operator can raise MAX_MESSAGE_BYTES",
  recipients: "The message has more recipients than a message may have here. The sender retries with the others",
  relay: "The address asks for relaying or is malformed. Correct the recipient at the sender",
  loop: "The message passed too many servers, or this one twice. Look for a forward that leads back here",
  rate: "Too much mail, too many connections or too many errors came at once. The sender retries by itself",
  timeout: "The sender took too long. It retries by itself. Look at its network if this repeats",
  tls: "TLS failed. Look at the certificate with inlet doctor, or at the TLS versions of the sender",
  protocol: "The sender broke the SMTP protocol. Its operator finds the reply in its log",
  storage: "The message could not be stored. The sender retries by itself. The operator finds the cause in the log",
  shutdown: "The service was restarted. The sender retries by itself"
}

/** What to do about a refusal, with the id of its domain if that is known. */
export const remedyOf = (reason: RefusalReason, domainId: string | null): string =>
  domainId === null ? remedies[reason] : remedies[reason].replaceAll("{id}", domainId)
