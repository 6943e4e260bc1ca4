import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import * as Mime from "../../src/mime/Mime.ts"
import { DomainId, DomainName } from "../../src/model/Domain.ts"
import { InboundEmailId, rawRef } from "../../src/model/InboundEmail.ts"
import { EventId, InboundEvent } from "../../src/model/InboundEvent.ts"
import * as EventPayload from "../../src/reading/EventPayload.ts"

const domainId = DomainId.make("01981c9e-0000-7000-8000-000000000001")
const inboundEmailId = InboundEmailId.make("01981c9e-1111-7000-8000-000000000001")
const eventId = EventId.make("01981c9e-2222-7000-8000-000000000001")
const sha256 = (bytes: string | Uint8Array) => createHash("sha256").update(bytes)

const decode = Schema.decodeSync(Schema.fromJsonString(InboundEvent))
const encode = Schema.encodeSync(Schema.fromJsonString(InboundEvent))

const render = (
  message: Uint8Array,
  contents: Mime.Contents,
  options: { from?: string; recipient?: string; id?: EventId } = {}
) =>
  EventPayload.render({
    eventId: options.id ?? eventId,
    inboundEmailId,
    domain: DomainName.make("example.com"),
    recipient: options.recipient ?? "Agent+7@example.com",
    envelope: { from: options.from ?? "bounce@sender.example", helo: "client.example", remoteAddress: "203.0.113.9" },
    receivedAt: "2026-01-31T12:00:00.007Z",
    rawRef: rawRef(domainId, inboundEmailId),
    sha256: sha256(message).digest(),
    contents,
    authentication: { spf: "pass", dkim: "none", dmarc: "permerror", arc: "none" },
    authservId: "mx.example.net"
  })

const read = (text: string, options?: Parameters<typeof render>[2]) => {
  const message = Buffer.from(text)
  return decode(render(message, Mime.read(message), options))
}

describe("The payload of an event", () => {
  it("is the event of the specification, in its order", () => {
    const message = Buffer.from("From: Ada <ada@sender.example>\r\nMessage-ID: <1@sender.example>\r\n\r\nbody\r\n")
    const payload = render(message, Mime.read(message))
    assert.deepStrictEqual(JSON.parse(payload), {
      event: "inbound.email.received",
      event_id: eventId,
      inbound_email_id: inboundEmailId,
      idempotency_key: sha256("example.com\n<1@sender.example>").digest("hex"),
      message_id: "<1@sender.example>",
      domain: "example.com",
      recipient: "Agent+7@example.com",
      from: "ada@sender.example",
      subject: "",
      text: "body\n",
      html: null,
      attachments: [],
      receivedAt: "2026-01-31T12:00:00.007Z",
      rawRef: `inbound/${domainId}/${inboundEmailId}.eml`,
      authentication: { spf: "pass", dkim: "none", dmarc: "permerror", arc: "none" },
      envelope: { from: "bounce@sender.example", helo: "client.example", remoteAddress: "203.0.113.9" },
      headers: [
        { name: "From", value: "Ada <ada@sender.example>" },
        { name: "Message-ID", value: "<1@sender.example>" }
      ],
      to: [],
      cc: [],
      replyTo: [],
      inReplyTo: null,
      references: [],
      parse: "full"
    })
    assert.deepStrictEqual(Object.keys(JSON.parse(payload)).slice(0, 5), [
      "event",
      "event_id",
      "inbound_email_id",
      "idempotency_key",
      "message_id"
    ])
  })

  it("is the same bytes for the same bytes", () => {
    const message = Buffer.from("From: a@sender.example\r\nDate: nonsense\r\n\r\nbody")
    assert.strictEqual(render(message, Mime.read(message)), render(message, Mime.read(message)))
  })

  it("names the envelope sender where the From field is of no use", () => {
    assert.strictEqual(read("Subject: no from\r\n\r\n").from, "bounce@sender.example")
    assert.strictEqual(read("From: nobody\r\n\r\n").from, "bounce@sender.example")
    assert.strictEqual(read("From: nobody\r\n\r\n", { from: "" }).from, "")
  })

  it("has the key of domain and message_id, whoever the recipient is", () => {
    const text = "Message-ID: <1@sender.example>\r\n\r\n"
    const one = read(text, { recipient: "one@example.com" })
    const two = read(text, { recipient: "two@example.com", id: EventId.make(inboundEmailId) })
    assert.strictEqual(one.idempotency_key, sha256("example.com\n<1@sender.example>").digest("hex"))
    assert.strictEqual(two.idempotency_key, one.idempotency_key)
  })

  it("has the key of domain and the bytes as received where there is no message_id", () => {
    const text = "Subject: without\r\n\r\nbody"
    const event = read(text)
    assert.isNull(event.message_id)
    assert.strictEqual(event.idempotency_key, sha256(`example.com\n${sha256(text).digest("hex")}`).digest("hex"))
  })

  it("is made of the header alone when the message is not to be parsed", () => {
    const message = Buffer.from("From: ada@sender.example\r\nSubject: poison\r\nMessage-ID: <1@a>\r\n\r\nbody")
    const event = decode(render(message, Mime.headersOnly(message)))
    assert.deepInclude(event, {
      parse: "headers",
      subject: "poison",
      message_id: "<1@a>",
      from: "ada@sender.example",
      text: "",
      html: null,
      attachments: []
    })
  })

  it.prop(
    "can be read back whatever the message and the envelope are",
    {
      body: Arbitrary.schema(Schema.Uint8Array),
      header: Schema.String,
      recipient: Schema.String,
      from: Schema.String
    },
    ({ body, from, header, recipient }) => {
      const message = Buffer.concat([Buffer.from(`Subject: ${header}\r\nFrom: ${header}\r\n`), body])
      const payload = render(message, Mime.read(message), { from, recipient })
      const event = decode(payload)
      assert.isTrue(payload.isWellFormed())
      assert.notMatch(payload, /\\u0000|\\ud[89a-f]/i)
      assert.strictEqual(encode(event), payload)
    }
  )
})
