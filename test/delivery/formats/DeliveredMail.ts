import { Redacted } from "effect"
import * as CarriedMessage from "../../../src/delivery/formats/CarriedMessage.ts"
import * as TextMessage from "../../../src/delivery/formats/TextMessage.ts"
import type { DeliveredParts, Recipe, Stamp, WebhookFormat } from "../../../src/delivery/formats/WebhookFormat.ts"
import * as Mime from "../../../src/mime/Mime.ts"
import { DomainId, DomainName } from "../../../src/model/Domain.ts"
import { type Envelope, InboundEmailId, rawRef } from "../../../src/model/InboundEmail.ts"
import { type Authentication, EventId, type InboundEvent, unauthenticated } from "../../../src/model/InboundEvent.ts"
import type { Spam } from "../../../src/model/Spam.ts"
import { catchAll, catchAllOf } from "../../../src/model/Webhook.ts"
import * as EventPayload from "../../../src/reading/EventPayload.ts"
import * as Insight from "../../../src/reading/Insight.ts"

export const authservId = "mx.inlet.test"
export const signingKey = "key-of-a-mailgun-receiver"
export const eventId = EventId.make("01981c9e-2222-7000-8000-000000000001")
const inboundEmailId = InboundEmailId.make("01981c9e-1111-7000-8000-000000000001")
const domainId = DomainId.make("01981c9e-0000-7000-8000-000000000001")

export interface Options {
  readonly recipient?: string
  readonly envelope?: Partial<Envelope>
  readonly authentication?: Partial<Authentication>
  readonly authenticationResults?: string
  readonly spam?: Spam
}

/** Inlet's trace fields, as in front of every stored message. */
export const trace = (from: string) =>
  Buffer.from(
    `Return-Path: <${from}>\r\nReceived: from client.example ([203.0.113.9])\r\n\tby ${authservId} with ESMTP id ${inboundEmailId};\r\n\tSat, 31 Jan 2026 12:00:00 +0000\r\n`
  )

/** A received message as it is stored and carried for one recipient. */
export const carried = (received: Uint8Array, options: Options = {}) => {
  const own = trace(options.envelope?.from ?? "bounce@sender.example")
  return CarriedMessage.of({
    message: Buffer.concat([own, received]),
    traceBytes: own.byteLength,
    recipient: options.recipient ?? "team@shop.example",
    authenticationResults: options.authenticationResults ?? null,
    authservId,
    spam: options.spam
  })
}

/** A received message with all that a format can need, made as the service makes it. */
export const of = (received: Uint8Array, options: Options = {}): DeliveredParts => {
  const envelope = {
    from: "bounce@sender.example",
    helo: "client.example",
    remoteAddress: "203.0.113.9",
    ...options.envelope
  }
  const stored = Buffer.concat([trace(envelope.from), received])
  const opened = Mime.open(stored)
  const contents = opened.read()
  const { payload } = EventPayload.render({
    eventId,
    inboundEmailId,
    domain: DomainName.make("shop.example"),
    recipient: options.recipient ?? "team@shop.example",
    route: { id: catchAllOf(domainId), pattern: catchAll },
    envelope,
    receivedAt: "2026-01-31T12:00:00.007Z",
    rawRef: rawRef(domainId, inboundEmailId),
    sha256: new Uint8Array(32),
    contents,
    insight: Insight.of(contents, envelope.from),
    authentication: { ...unauthenticated, ...options.authentication },
    trust: { aligned: false, rule: null, reasons: ["not_checked"] },
    authservId,
    messageBytes: received.byteLength
  })
  const rendered: InboundEvent = JSON.parse(payload)
  const event = options.spam === undefined ? rendered : { ...rendered, spam: options.spam }
  return {
    eventId,
    payload: Buffer.from(payload),
    event,
    message: TextMessage.of(carried(received, options)),
    text: Mime.open(stored, { keepsBlanks: true }).withoutReports(),
    parts: opened.attachments()
  }
}

export const stamp: Stamp = {
  seconds: 1_780_000_000,
  attempt: 1,
  random: Uint8Array.from({ length: 32 }, (_, at) => at * 7),
  credentials: { signingKey: Redacted.make(signingKey) },
  secrets: { current: Redacted.make("whsec_none"), previous: undefined }
}

/** The request of a format for a mail. */
export const request = (
  format: WebhookFormat["Service"],
  mail: DeliveredParts,
  { given = stamp, url = "https://app.example/hook" }: { readonly given?: Stamp; readonly url?: string } = {}
) => {
  const recipe: Recipe = format.recipe(new URL(url), given.credentials)
  return recipe.make(mail, given)
}
