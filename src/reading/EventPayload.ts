import { createHash } from "node:crypto"
import * as HeaderText from "../mime/HeaderText.ts"
import type { Contents } from "../mime/Mime.ts"
import type { DomainName } from "../model/Domain.ts"
import type { Envelope, InboundEmailId, RawRef } from "../model/InboundEmail.ts"
import type { Authentication, EventId, InboundEvent } from "../model/InboundEvent.ts"
import * as AuthenticationResults from "./AuthenticationResults.ts"

/**
 * The text of an event as it is signed, sent and listed.
 * Made once: the bytes are the same on every attempt.
 */
export const render = (options: {
  readonly eventId: EventId
  readonly inboundEmailId: InboundEmailId
  readonly domain: DomainName
  readonly recipient: string
  readonly envelope: Envelope
  /** ISO 8601. */
  readonly receivedAt: string
  readonly rawRef: RawRef
  /** SHA-256 of the bytes as received. */
  readonly sha256: Uint8Array
  readonly contents: Contents
  readonly authentication: Authentication
  /** The name we check senders under: a sender's field that claims it is left out. */
  readonly authservId: string
}): string => {
  const {
    authentication,
    authservId,
    contents,
    domain,
    envelope,
    eventId,
    inboundEmailId,
    rawRef,
    receivedAt,
    recipient,
    sha256
  } = options
  const { attachments, cc, from, headers, html, inReplyTo, message_id, parse, references, replyTo, subject, text, to } =
    contents
  const event: InboundEvent = {
    event: "inbound.email.received",
    event_id: eventId,
    inbound_email_id: inboundEmailId,
    idempotency_key: createHash("sha256")
      .update(`${domain}\n${message_id ?? Buffer.from(sha256).toString("hex")}`)
      .digest("hex"),
    message_id,
    domain,
    recipient: HeaderText.oneLine(recipient),
    from: from ?? HeaderText.oneLine(envelope.from),
    subject,
    text,
    html,
    attachments,
    receivedAt,
    rawRef,
    authentication,
    envelope: {
      from: HeaderText.oneLine(envelope.from),
      helo: HeaderText.oneLine(envelope.helo),
      remoteAddress: envelope.remoteAddress
    },
    headers: headers.filter(({ name, value }) => !AuthenticationResults.isOurs(name, value, authservId)),
    to,
    cc,
    replyTo,
    inReplyTo,
    references,
    parse
  }
  return JSON.stringify(event)
}
