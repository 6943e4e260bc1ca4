import * as Content from "../src/content/html/Content.ts"
import * as Mime from "../src/mime/Mime.ts"
import { DomainId, DomainName } from "../src/model/Domain.ts"
import { InboundEmailId, rawRef } from "../src/model/InboundEmail.ts"
import { EventId } from "../src/model/InboundEvent.ts"
import { WebhookId } from "../src/model/Webhook.ts"
import * as DamagedParts from "../src/reading/DamagedParts.ts"
import * as EventPayload from "../src/reading/EventPayload.ts"
import * as Insight from "../src/reading/Insight.ts"
import * as SenderCheck from "../src/sender/SenderCheck.ts"
import * as Serving from "../src/threads/Serving.ts"

const id = "01981c9e-4f00-7000-8000-000000000001"
const inboundEmailId = InboundEmailId.make(id)
const authservId = "mx.inlet.test"
const receivedAt = "2026-01-01T00:00:00.000Z"
const envelope = { from: "a@a.example", helo: "a.example", remoteAddress: "192.0.2.1" }
// A DNS server that does not exist.
const check = SenderCheck.make({ nameServers: ["127.0.0.1:9"], authservId })

/** CPU time of this thread in ms: for the event of a mail, and for its content as Markdown. */
export interface Cost {
  readonly read: number
  readonly content: number
}

const millisSince = (before: NodeJS.CpuUsage): number => {
  const { system, user } = process.threadCpuUsage(before)
  return (system + user) / 1_000
}

/** The same work that `ParserThread` does for a mail. */
const read = (message: Uint8Array): Promise<string> =>
  check({ envelope, bytes: message, receivedAt }).then((checked) => {
    const opened = Mime.open(message)
    return DamagedParts.mend(opened.damaged).then((mended) => {
      const contents = opened.read(mended)
      return EventPayload.render({
        eventId: EventId.make(id),
        inboundEmailId,
        domain: DomainName.make("known.example"),
        recipient: "someone@known.example",
        route: { id: WebhookId.make(id), pattern: "*" },
        envelope,
        receivedAt,
        rawRef: rawRef(DomainId.make(id), inboundEmailId),
        sha256: new Uint8Array(32),
        contents,
        insight: Insight.of(contents, envelope.from),
        authentication: SenderCheck.verdictsFor(checked, contents.from),
        trust: { aligned: false, rule: null, reasons: ["not_checked"] },
        authservId,
        messageBytes: message.byteLength
      }).payload
    })
  })

const whole = { part: "full", format: "markdown", maxChars: 100_000, offset: 0 } as const

Serving.serve<Uint8Array, Cost>((message) => {
  const before = process.threadCpuUsage()
  return read(message).then((payload) => {
    const own = millisSince(before)
    const said = JSON.parse(payload)
    const beforeContent = process.threadCpuUsage()
    Content.read(said, whole)
    return { read: own, content: millisSince(beforeContent) }
  })
})
