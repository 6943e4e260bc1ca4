import { hash } from "node:crypto"
import type { SeenHtml } from "../content/html/SeenHtml.ts"
import * as Tag from "../content/Tag.ts"
import * as ThreadId from "../content/ThreadId.ts"
import * as HeaderText from "../mime/HeaderText.ts"
import type { Contents } from "../mime/Mime.ts"
import type { DomainName } from "../model/Domain.ts"
import type { Envelope, InboundEmailId, RawRef } from "../model/InboundEmail.ts"
import type { Authentication, EventId, InboundEvent } from "../model/InboundEvent.ts"
import * as MessageKey from "../model/MessageKey.ts"
import * as Traits from "../model/Traits.ts"
import type { Trust } from "../model/Trust.ts"
import type { Route } from "../model/Webhook.ts"
import * as AuthenticationResults from "../sender/AuthenticationResults.ts"
import type { Insight } from "./Insight.ts"
import * as PayloadSize from "./PayloadSize.ts"
import * as Scanned from "./Scanned.ts"

/** The payload of an event, and the columns of its row for lists. */
export interface Rendered {
  readonly payload: string
  readonly traits: number
  readonly threadId: string
  readonly messageKey: bigint | null
}

interface About {
  readonly eventId: EventId
  readonly inboundEmailId: InboundEmailId
  readonly domain: DomainName
  readonly recipient: string
  readonly route: Pick<Route, "id" | "pattern">
  readonly envelope: Envelope
  /** ISO 8601. */
  readonly receivedAt: string
  readonly rawRef: RawRef
  /** SHA-256 of the bytes as received. */
  readonly sha256: Uint8Array
  readonly contents: Contents
  readonly insight: Insight
  readonly authentication: Authentication
  readonly trust: Trust
  /** The authserv-id of this service. Forged fields in its name are left out. */
  readonly authservId: string
  /** Size of the received message, which limits the size of the event. */
  readonly messageBytes: number
}

/**
 * The text of an event as it is signed, sent and listed.
 * Made once: the bytes are the same on every attempt.
 */
export const render = (options: About): Rendered => {
  const {
    authentication,
    authservId,
    contents,
    domain,
    envelope,
    eventId,
    inboundEmailId,
    insight,
    messageBytes,
    rawRef,
    receivedAt,
    recipient,
    route,
    sha256,
    trust
  } = options
  const { attachments, cc, from, fromName, headers, html, inReplyTo, message_id } = contents
  const { parse, references, replyTo, subject, text, to } = contents
  const seen = contents.seen()
  const event: Required<Omit<InboundEvent, "spam">> = {
    event: "inbound.email.received",
    event_id: eventId,
    inbound_email_id: inboundEmailId,
    idempotency_key: hash("sha256", `${domain}\n${message_id ?? Buffer.from(sha256).toString("hex")}`),
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
      remoteAddress: envelope.remoteAddress,
      ...(envelope.relayed === true ? { relayed: true } : {})
    },
    headers: headers.filter(({ name, value }) => !AuthenticationResults.isOurs(name, value, authservId)),
    to,
    cc,
    replyTo,
    inReplyTo,
    references,
    parse,
    fromName,
    ...insight,
    tag: Tag.of(recipient),
    threadId: ThreadId.of({ domain, references, inReplyTo, messageId: message_id, sha256 }),
    hiddenText: seen.some(({ hidden }) => hidden),
    extracted: contents.extracted(),
    webhook_id: route.id,
    pattern: route.pattern,
    hiddenTextVerdict: verdict(seen),
    textMatchesHtml: contents.match()?.matches ?? null,
    invisibleCharacters: contents.visible().invisibleCharacters,
    trust
  }
  const fitted = PayloadSize.fitted(event, PayloadSize.most(messageBytes) - Scanned.mostBytes)
  return {
    payload: fitted.payload,
    traits: Traits.of({ ...event, parse: fitted.parse }),
    threadId: event.threadId,
    messageKey: MessageKey.of(message_id)
  }
}

const verdict = (seen: ReadonlyArray<SeenHtml>): NonNullable<InboundEvent["hiddenTextVerdict"]> => {
  if (seen.some(({ uncertain }) => uncertain)) return "uncertain"
  return seen.some(({ hidden }) => hidden) ? "removed" : "none"
}
