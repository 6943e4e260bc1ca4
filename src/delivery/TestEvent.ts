import { DateTime, Schema } from "effect"
import type { DomainId, DomainName } from "../model/Domain.ts"
import { InboundEmailId, rawRef, simulatedAddress } from "../model/InboundEmail.ts"
import { type EventId, InboundEvent } from "../model/InboundEvent.ts"
import type { WebhookId } from "../model/Webhook.ts"

const encode = Schema.encodeSync(Schema.fromJsonString(InboundEvent))

const from = { name: "Inlet", address: "test@inlet.example" }
const subject = "482913 is your test code"
const text = "This is a test of your webhook. Your verification code is 482913.\n"

/** The payload of a webhook test: a whole event that is stored nowhere. Its `envelope.remoteAddress` is `simulate`. */
export const payload = (options: {
  readonly id: EventId
  readonly domainId: DomainId
  readonly domain: DomainName
  readonly webhookId: WebhookId
  readonly pattern: string
  readonly now: DateTime.Utc
}): string => {
  const { domain, domainId, id, now, pattern, webhookId } = options
  const recipient = `test@${domain}`
  const messageId = `<${id}@inlet.example>`
  return encode({
    event: "inbound.email.received",
    event_id: id,
    inbound_email_id: InboundEmailId.make(id),
    idempotency_key: `test-${id}`,
    message_id: messageId,
    domain,
    recipient,
    from: from.address,
    subject,
    text,
    html: null,
    attachments: [],
    receivedAt: DateTime.formatIso(now),
    rawRef: rawRef(domainId, InboundEmailId.make(id)),
    authentication: { spf: "none", dkim: "none", dmarc: "none", arc: "none" },
    envelope: { from: from.address, helo: "inlet.example", remoteAddress: simulatedAddress },
    headers: [
      { name: "From", value: `${from.name} <${from.address}>` },
      { name: "To", value: recipient },
      { name: "Subject", value: subject },
      { name: "Message-ID", value: messageId }
    ],
    to: [{ name: "", address: recipient }],
    cc: [],
    replyTo: [],
    inReplyTo: null,
    references: [],
    parse: "full",
    fromName: from.name,
    reply: null,
    sender: "auto",
    kind: { type: "bulk" },
    tag: null,
    threadId: id,
    hiddenText: false,
    extracted: {
      code: { value: "482913", shown: "482913", source: "subject", confidence: "high" },
      links: [],
      unsubscribe: null
    },
    webhook_id: webhookId,
    pattern,
    hiddenTextVerdict: "none",
    textMatchesHtml: null,
    invisibleCharacters: 0,
    trust: { aligned: false, rule: null, reasons: ["not_checked"] }
  })
}
