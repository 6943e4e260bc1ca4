import { DateTime } from "effect"
import type { Refusal } from "../refusals/Refusals.ts"
import * as DeliverySteps from "./DeliverySteps.ts"
import * as MailSteps from "./MailSteps.ts"
import * as ScanStep from "./ScanStep.ts"
import * as SessionText from "./SessionText.ts"
import type { ReadMail, UnreadMail } from "./TracedMail.ts"
import { done, type TraceEntry, wrong } from "./TraceEntry.ts"

/** The step that decides, in words, and what to do. */
const concluded = (steps: TraceEntry["steps"]) => {
  const last = steps.at(-1)
  const fault = last?.ok === true ? undefined : last
  return { steps, summary: last?.text ?? "", remedy: fault?.remedy ?? null }
}

const ofMail = (mail: UnreadMail) => ({
  at: mail.receivedAt,
  domain_id: mail.domainId,
  domain: mail.domain,
  from: mail.mailFrom,
  bytes: mail.bytes,
  inbound_email_id: mail.inboundEmailId,
  refusal_id: null,
  reason: null
})

export const ofRead = (mail: ReadMail): TraceEntry => {
  const { outcome, steps } = DeliverySteps.of(mail)
  return {
    ...ofMail(mail),
    ...concluded([...MailSteps.received(mail), ...MailSteps.parsed(mail), ...ScanStep.of(mail), ...steps]),
    outcome,
    author: mail.author,
    recipient: mail.recipient,
    subject: mail.subject,
    message_id: MailSteps.messageIdOf(mail),
    event_id: mail.eventId
  }
}

export const ofUnread = (mail: UnreadMail): TraceEntry => ({
  ...ofMail(mail),
  ...concluded([...MailSteps.received(mail), MailSteps.unparsed(mail)]),
  outcome: "stored",
  author: null,
  recipient: mail.recipients.length === 1 ? (mail.recipients[0] ?? null) : null,
  subject: null,
  message_id: null,
  event_id: null
})

export const ofRefusal = (refusal: Refusal): TraceEntry => {
  const { client_address, count, first_at, helo, last_at, relayed, remedy, reply } = refusal
  const often = count === 1 ? "" : `, ${count} times until ${DateTime.formatIso(last_at)}`
  const session =
    client_address === null
      ? []
      : [done("session", first_at, SessionText.of({ address: client_address, helo, relayed }))]
  return {
    ...concluded([...session, wrong("refused", first_at, `Refused with ${reply}${often}`, remedy)]),
    at: first_at,
    outcome: "refused",
    domain_id: refusal.domain_id,
    domain: refusal.domain,
    from: refusal.from,
    author: null,
    recipient: refusal.recipient,
    subject: refusal.subject,
    message_id: refusal.message_id,
    bytes: refusal.bytes,
    event_id: null,
    inbound_email_id: null,
    refusal_id: refusal.id,
    reason: refusal.reason
  }
}
