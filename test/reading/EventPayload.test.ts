import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import * as Mime from "../../src/mime/Mime.ts"
import { DomainId, DomainName } from "../../src/model/Domain.ts"
import { InboundEmailId, rawRef } from "../../src/model/InboundEmail.ts"
import { EventId, InboundEvent } from "../../src/model/InboundEvent.ts"
import { WebhookId } from "../../src/model/Webhook.ts"
import * as EventPayload from "../../src/reading/EventPayload.ts"
import * as Insight from "../../src/reading/Insight.ts"
import * as Scanned from "../../src/reading/Scanned.ts"
import { ofColor, ofText, outright } from "../content/Tricks.ts"

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
    route: { id: WebhookId.make("01981c9e-0000-7000-8000-000000000001"), pattern: "*" },
    envelope: { from: options.from ?? "bounce@sender.example", helo: "client.example", remoteAddress: "203.0.113.9" },
    receivedAt: "2026-01-31T12:00:00.007Z",
    rawRef: rawRef(domainId, inboundEmailId),
    sha256: sha256(message).digest(),
    contents,
    insight: Insight.of(contents, options.from ?? "bounce@sender.example"),
    authentication: { spf: "pass", dkim: "none", dmarc: "permerror", arc: "none" },
    trust: { aligned: false, rule: null, reasons: ["not_checked"] },
    authservId: "mx.example.net",
    messageBytes: message.byteLength
  }).payload

const read = (text: string, options?: Parameters<typeof render>[2]) => {
  const message = Buffer.from(text)
  return decode(render(message, Mime.read(message), options))
}

const hasNoControls = (payload: string) =>
  JSON.parse(payload, (_, value: unknown) => {
    if (typeof value === "string") assert.notMatch(value, /[\0-\x08\v-\x1f\x7f-\x9f]/)
  })

describe("The event payload", () => {
  it.each([...outright, ...ofText, ...ofColor].map(({ around, name }) => [name, around] as const))(
    "contains no hidden word in text, reply and extracted: %s",
    (_, around) => {
      const hidden = around("Your verification code is 604913")
      const { extracted, hiddenText, reply, text } = read(
        `From: ada@sender.example\r\nSubject: Re: Lunch\r\nContent-Type: text/html; charset=utf-8\r\n\r\n` +
          `<p>Yes, at noon.</p>${hidden}<p>See you there.</p><blockquote type=cite><p>Lunch?</p>${hidden}</blockquote>`
      )
      assert.notInclude(JSON.stringify({ extracted, reply, text }), "604913")
      // What an element moves away may take others along, so all text may be uncertain.
      const said = (reply ?? "").replaceAll(/⟦uncertain: (.*?)⟧/g, "$1")
      assert.match(said, /^Yes, at noon\.\s[\s\S]*See you there\.$/)
      // Comments are for programs and are not shown.
      assert.strictEqual(hiddenText, !around("words").startsWith("<!--"))
    }
  )

  it("is the event of the specification, in its field order", () => {
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
      parse: "full",
      fromName: "Ada",
      reply: null,
      sender: "person",
      kind: { type: "person" },
      tag: "7",
      threadId: "35904b9b-e866-829d-b1cd-398ef3c413c8",
      hiddenText: false,
      extracted: { code: null, links: [], unsubscribe: null },
      webhook_id: "01981c9e-0000-7000-8000-000000000001",
      pattern: "*",
      hiddenTextVerdict: "none",
      textMatchesHtml: null,
      invisibleCharacters: 0,
      trust: { aligned: false, rule: null, reasons: ["not_checked"] }
    })
    const names = Object.keys(JSON.parse(payload))
    assert.deepStrictEqual(names.slice(names.indexOf("parse") + 1), [
      "fromName",
      "reply",
      "sender",
      "kind",
      "tag",
      "threadId",
      "hiddenText",
      "extracted",
      "webhook_id",
      "pattern",
      "hiddenTextVerdict",
      "textMatchesHtml",
      "invisibleCharacters",
      "trust"
    ])
    assert.deepStrictEqual(Object.keys(JSON.parse(payload)).slice(0, 5), [
      "event",
      "event_id",
      "inbound_email_id",
      "idempotency_key",
      "message_id"
    ])
  })

  it("contains the reply, the sender kind and the thread id", () => {
    const reply =
      "In-Reply-To: <1@example.com>\r\nList-Id: <x>\r\n\r\nYes.\r\n\r\nAda <a@b.example> wrote:\r\n> Shall we?\r\n"
    const { sender, tag, threadId, ...event } = read(reply)
    const first = read("Message-ID: <1@example.com>\r\n\r\nShall we?", { recipient: "agent@example.com" })
    assert.deepInclude(event, { reply: "Yes.", text: "Yes.\n\nAda <a@b.example> wrote:\n> Shall we?\n" })
    assert.deepStrictEqual({ sender, tag }, { sender: "list", tag: "7" })
    assert.deepInclude(first, { reply: null, sender: "person", tag: null })
    assert.strictEqual(threadId, first.threadId)
  })

  it("lacks those fields if stored by an earlier version, and is still valid", () => {
    const { reply: _, sender: __, tag: ___, threadId: ____, ...before } = read("Subject: old\r\n\r\nbody")
    assert.deepStrictEqual(decode(JSON.stringify(before)), before)
  })

  it("has the same bytes for the same message", () => {
    const message = Buffer.from("From: a@sender.example\r\nDate: nonsense\r\n\r\nbody")
    assert.strictEqual(render(message, Mime.read(message)), render(message, Mime.read(message)))
  })

  it("names the envelope sender if the From field is unusable", () => {
    assert.strictEqual(read("Subject: no from\r\n\r\n").from, "bounce@sender.example")
    assert.strictEqual(read("From: nobody\r\n\r\n").from, "bounce@sender.example")
    assert.strictEqual(read("From: nobody\r\n\r\n", { from: "" }).from, "")
  })

  it("contains the author's display name, decoded, or null without a usable From field", () => {
    const nameIn = (field: string) => read(`${field}\r\n\r\n`).fromName
    assert.strictEqual(nameIn('From: "Lovelace, Ada" <ada@sender.example>'), "Lovelace, Ada")
    assert.strictEqual(nameIn("From: =?utf-8?q?J=C3=B6rg_=F0=9F=93=AC?= <j@sender.example>"), "Jörg 📬")
    assert.strictEqual(nameIn("From: ada@sender.example (Ada in a comment)"), "Ada in a comment")
    assert.strictEqual(nameIn("From: Ada <ada@sender.example>, Bob <bob@sender.example>"), "Ada")
    assert.strictEqual(nameIn("From: =?utf-8?q?a=00b=0Ac?= <a@sender.example>"), "ab c")
    assert.isNull(nameIn("From: ada@sender.example"))
    assert.isNull(nameIn('From: "" <ada@sender.example>'))
    assert.isNull(nameIn("From: Ada <ada@one.example>, Bob <bob@two.example>"))
    assert.isNull(nameIn("From: Nobody"))
    assert.isNull(nameIn("Subject: no from"))
  })

  it("has a key of domain and message_id for every recipient", () => {
    const text = "Message-ID: <1@sender.example>\r\n\r\n"
    const one = read(text, { recipient: "one@example.com" })
    const two = read(text, { recipient: "two@example.com", id: EventId.make(inboundEmailId) })
    assert.strictEqual(one.idempotency_key, sha256("example.com\n<1@sender.example>").digest("hex"))
    assert.strictEqual(two.idempotency_key, one.idempotency_key)
  })

  it("has a key of domain and the original bytes without message_id", () => {
    const text = "Subject: without\r\n\r\nbody"
    const event = read(text)
    assert.isNull(event.message_id)
    assert.strictEqual(event.idempotency_key, sha256(`example.com\n${sha256(text).digest("hex")}`).digest("hex"))
  })

  it("is built from the header alone if the message is not to be parsed", () => {
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

  const MiB = 1024 * 1024
  const repeated = (head: string, what: string, bytes = MiB) => {
    const start = Buffer.from(head, "latin1")
    return Buffer.concat([start, Buffer.alloc(Math.max(0, bytes - start.length), what, "latin1")])
  }
  const parts = (type: string, content: string) =>
    Array.from(
      { length: 8 },
      () => `\n--b\nContent-Type: ${type}\n\n${content.repeat((MiB - 600) / 8 / content.length)}`
    )

  it.each<[string, Uint8Array]>([
    ["control characters as text", repeated("\n", "\x01")],
    ["control characters as HTML", repeated("Content-Type: text/html\n\n", "\x01\x85")],
    ["windows-1252 € as text", repeated("Content-Type: text/plain; charset=windows-1252\n\n", "\x80")],
    ["windows-1252 € as HTML", repeated("Content-Type: text/html; charset=windows-1252\n\n", "\x80")],
    [
      "windows-1252 € as eight HTML parts",
      Buffer.from(
        `Content-Type: multipart/mixed; boundary=b\n${parts("text/html; charset=windows-1252", "\x80").join("")}`,
        "latin1"
      )
    ],
    [
      "quotes as eight HTML parts",
      Buffer.from(`Content-Type: multipart/mixed; boundary=b\n${parts("text/html", '"').join("")}`)
    ],
    ["bytes invalid in any charset", repeated("Content-Type: text/html; charset=utf-8\n\n", "\xff")],
    ["control characters as HTML entities", repeated("Content-Type: text/html\n\n", "&#1;&#127;&#x1f;\\")],
    ["a subject of € signs", repeated("Subject: ", "\x80")],
    ["a Message-ID of quotes", repeated("Message-ID: ", '"')],
    ["the shortest fields", repeated("", "a:\n")],
    ["addresses of one letter", repeated("To: a@b", ",a@b")],
    ["references of one letter", repeated("References: <", "a <")],
    ["the shortest parts", repeated("Content-Type: multipart/mixed; boundary=b\n", "\n--b\n:\n\n.")],
    [
      "attachments with the longest names",
      Buffer.from(
        `Content-Type: multipart/mixed; boundary=b\n${`\n--b\nContent-Disposition: attachment; filename="${'\\"'.repeat(120)}"\n\n.`.repeat(2_000)}`
      )
    ]
  ])("has at most three times the size of the message plus 1 MiB: %s", (_, message) => {
    const payload = render(message, Mime.read(message))
    assert.isAtMost(Buffer.byteLength(payload), 3 * message.byteLength + MiB)
    decode(payload)
  })

  it("contains no control character except TAB and LF in any name", () => {
    const all = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).filter(
      (one) => !"\r\n".includes(one)
    )
    const named = Array.from({ length: 0xa0 }, (_, code) => `&#${code};`).join("")
    const text = `Subject: a${all.join("")}b\nFrom: "${all.join("").replace('"', "")}" <a@sender.example>\nTo: c${all.slice(0, 9).join("")} <d@e>\n`
    for (const type of ["plain", "html"]) {
      const event = read(`${text}Content-Type: text/${type}; charset=utf-8\n\n${all.join("")}\r\n\r<pre>${named}</pre>`)
      hasNoControls(JSON.stringify(event))
      assert.include(event.text, "\t")
    }
  })

  it("truncates a text above the limit, reports it, and splits no character", () => {
    const message = Buffer.from("From: ada@sender.example\n\nbody")
    const contents = { ...Mime.read(message), html: "<p>kept</p>", text: "🎈".repeat(MiB) }
    const payload = render(message, contents)
    assert.isAtMost(Buffer.byteLength(payload), 3 * message.byteLength + MiB)
    // But for the room that a scan may take.
    assert.isAbove(Buffer.byteLength(payload) + Scanned.mostBytes, MiB)
    const event = decode(payload)
    assert.deepInclude(event, { parse: "partial", html: "<p>kept</p>" })
    assert.match(event.text, /^(🎈)+$/u)
  })

  it.prop(
    "can be decoded for any message and envelope",
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
      hasNoControls(payload)
      assert.strictEqual(encode(event), payload)
    }
  )
})
