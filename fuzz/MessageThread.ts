import { isUtf8 } from "node:buffer"
import * as Effect from "effect/Effect"
import * as CarriedMessage from "../src/delivery/formats/CarriedMessage.ts"
import * as TextMessage from "../src/delivery/formats/TextMessage.ts"
import * as Mime from "../src/mime/Mime.ts"
import { DomainId, DomainName } from "../src/model/Domain.ts"
import { InboundEmailId, rawRef } from "../src/model/InboundEmail.ts"
import { EventId } from "../src/model/InboundEvent.ts"
import { WebhookId } from "../src/model/Webhook.ts"
import * as DamagedParts from "../src/reading/DamagedParts.ts"
import * as EventPayload from "../src/reading/EventPayload.ts"
import * as Insight from "../src/reading/Insight.ts"
import * as PayloadSize from "../src/reading/PayloadSize.ts"
import * as SenderCheck from "../src/sender/SenderCheck.ts"
import * as Serving from "../src/threads/Serving.ts"

const id = "01981c9e-4f00-7000-8000-000000000001"
const domainId = DomainId.make(id)
const inboundEmailId = InboundEmailId.make(id)
const authservId = "mx.inlet.test"
const receivedAt = "2026-01-01T00:00:00.000Z"
const envelope = { from: "a@a.example", helo: "a.example", remoteAddress: "192.0.2.1" }
// A DNS server that does not exist.
const check = SenderCheck.make({ nameServers: ["127.0.0.1:9"], authservId })

const forbidden = /[\0-\x08\x0b-\x1f\x7f-\x9f]/

/** Does the work of the reader for a message. Returns the fault of the outcome, or undefined. */
const read = (message: Uint8Array): Promise<string | undefined> =>
  Effect.runPromise(
    Effect.gen(function* () {
      Mime.headersOnly(message)
      const opened = Mime.open(message)
      const mended = yield* Effect.promise(() => DamagedParts.mend(opened.damaged))
      const contents = opened.read(mended)
      opened.attachments(mended)
      const carried = CarriedMessage.of({
        message,
        traceBytes: 0,
        recipient: "someone@known.example",
        authenticationResults: null,
        authservId,
        spam: undefined
      })
      if (!isUtf8(TextMessage.of(carried))) return "the message for webhooks is not UTF-8"
      const checked = yield* Effect.promise(() => check({ envelope, bytes: message, receivedAt }))
      const { payload } = EventPayload.render({
        eventId: EventId.make(id),
        inboundEmailId,
        domain: DomainName.make("known.example"),
        recipient: "someone@known.example",
        route: { id: WebhookId.make(id), pattern: "*" },
        envelope,
        receivedAt,
        rawRef: rawRef(domainId, inboundEmailId),
        sha256: new Uint8Array(32),
        contents,
        insight: Insight.of(contents, envelope.from),
        authentication: SenderCheck.verdictsFor(checked, contents.from),
        trust: { aligned: false, rule: null, reasons: ["not_checked"] },
        authservId,
        messageBytes: message.byteLength
      })
      const bytes = Buffer.byteLength(payload)
      if (bytes > PayloadSize.most(message.byteLength)) return `a payload of ${bytes} bytes`
      if (!payload.isWellFormed()) return "a lone surrogate in the payload"
      const { html, subject, text } = JSON.parse(payload)
      if ([html ?? "", subject, text].some((value) => forbidden.test(value))) return "a control character in the event"
      return undefined
    })
  )

/** The outcome of a message and its CPU time, which excludes waiting for DNS or the processor. */
export interface Outcome {
  readonly fault: string | undefined
  readonly busyMillis: number
}

Serving.serve<Uint8Array, Outcome>((message) => {
  const before = process.threadCpuUsage()
  return read(message).then((fault) => {
    const { system, user } = process.threadCpuUsage(before)
    return { fault, busyMillis: Math.round((system + user) / 1_000) }
  })
})
