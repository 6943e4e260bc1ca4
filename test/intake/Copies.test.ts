import { createHash, randomBytes } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Copies from "../../src/intake/Copies.ts"
import type { Recipient } from "../../src/intake/Recipient.ts"
import { DomainId, DomainName } from "../../src/model/Domain.ts"
import { InboundEvent } from "../../src/model/InboundEvent.ts"
import * as Uuid7 from "../../src/model/Uuid7.ts"
import { catchAll, catchAllOf } from "../../src/model/Webhook.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"

const message = [
  "Received: from origin.example by relay.example;",
  "\tThu, 1 Jan 2026 00:00:00 +0000",
  "Return-Path: <forged@elsewhere.example>",
  "From: Ada <ada@sender.example>",
  "To: hidden-list:;",
  "Subject: to several",
  "Message-ID: <several@sender.example>",
  "",
  "body",
  ""
].join("\r\n")

const hundredDomains = 100

/** The copies of a message of so many bytes, with a recipient at each of so many domains. */
const copiesOf = (domains: number, bytes: number) => {
  const newId = Uuid7.make((length) => randomBytes(length))
  const recipients = Array.from({ length: domains }, (_, index): Recipient => {
    const domainId = DomainId.make(newId(1_770_000_000_000))
    const route = { id: catchAllOf(domainId), pattern: catchAll, action: "hold" } as const
    const domain = DomainName.make(`d${index}.example`)
    return { address: `to@${domain}`, domain, domainId, workspaceId: null, route, rules: [], spamAction: "tag" }
  })
  return Copies.make({ mxHost: "mx.inlet.test", newId, now: () => 1_770_000_000_000 })({
    envelope: { from: "", helo: "client.example", remoteAddress: "192.0.2.1" },
    recipients,
    transmission: "HTTP",
    message: { byteLength: bytes, copyInto: (target, offset) => void target.fill(0x61, offset, offset + bytes) }
  })
}

layer(TestInlet.layer({ SENDER_CHECKS: "false" }), { excludeTestServices: true })("An accepted message", (it) => {
  it.effect("is stored once for two addresses of a domain, with an event for each", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const to = [`one@${inbox.domain}`, `two@${inbox.domain}`]
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, to, message), /^250 /)
      const [first, second, ...rest] = yield* Mailbox.accepted(inbox)
      assert.deepStrictEqual(rest, [])
      assert.deepStrictEqual([first.recipient, second.recipient], to)
      assert.strictEqual(first.inbound_email_id, second.inbound_email_id)
      assert.strictEqual(first.idempotency_key, second.idempotency_key)
      assert.strictEqual(first.rawRef, second.rawRef)
      assert.notStrictEqual(first.event_id, second.event_id)
      for (const event of [first, second]) {
        assert.strictEqual(Uuid7.timeOf(event.event_id), Uuid7.timeOf(event.inbound_email_id))
      }
      assert.strictEqual(first.rawRef, `inbound/${inbox.domainId}/${first.inbound_email_id}.eml`)
      assert.deepStrictEqual(yield* Mailbox.stored(inbox.domainId), [first.inbound_email_id])
    })
  )

  it.effect("shows each of two workspaces only its own recipient", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const ada = yield* inlet.inbox()
      const bob = yield* inlet.inbox()
      const to = [`ada@${ada.domain}`, "someone@unknown.example", `bob@${bob.domain}`]
      const dialog = yield* Mailbox.begin(inlet.smtpPort, to)
      assert.deepStrictEqual(
        dialog.replies.map((reply) => reply.slice(0, 3)),
        ["250", "550", "250"]
      )
      assert.match(yield* Mailbox.data(dialog, message), /^250 /)
      for (const [own, other, name] of [
        [ada, bob, "ada"],
        [bob, ada, "bob"]
      ] as const) {
        const events = yield* Mailbox.accepted(own)
        assert.strictEqual(events.length, 1)
        assert.strictEqual(events[0].recipient, `${name}@${own.domain}`)
        assert.strictEqual(events[0].domain, own.domain)
        const raw = yield* Mailbox.raw(own, events[0].event_id)
        assert.include(raw, `for <${name}@${own.domain}>`)
        for (const shown of [JSON.stringify(events), raw]) {
          assert.notInclude(shown, other.domain)
          assert.notInclude(shown, other.domainId)
        }
      }
    })
  )

  it.effect("starts with Return-Path and Received, followed by the original bytes", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const options = { from: "bounce@sender.example", hello: "EHLO client.example" }
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message, options)
      const [event] = yield* Mailbox.accepted(inbox)
      const raw = yield* Mailbox.raw(inbox, event.event_id)
      assert.strictEqual(raw.slice(-message.length), message)
      const [returnPath, from, by, to, date, ...rest] = raw.slice(0, -message.length).split("\r\n")
      assert.strictEqual(returnPath, "Return-Path: <bounce@sender.example>")
      assert.strictEqual(from, "Received: from client.example ([127.0.0.1])")
      assert.strictEqual(by, `\tby mx.inlet.test with ESMTP id ${event.inbound_email_id}`)
      assert.strictEqual(to, `\tfor <${inbox.address}>;`)
      assert.match(date ?? "", /^\t\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} \+0000$/)
      assert.deepStrictEqual(rest, [""])
    })
  )

  it.effect("names no recipient in Received if there are several", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const to = [`one@${inbox.domain}`, `two@${inbox.domain}`]
      yield* Mailbox.deliver(inlet.smtpPort, to, message)
      const [event] = yield* Mailbox.accepted(inbox)
      const raw = yield* Mailbox.raw(inbox, event.event_id)
      assert.notInclude(raw, `@${inbox.domain}`)
      assert.notMatch(raw.slice(0, -message.length), /\bfor\b/)
    })
  )

  it.effect("has SMTP in Received after HELO, and shows the null sender as empty", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message, { from: "", hello: "HELO old.example" })
      const [event] = yield* Mailbox.accepted(inbox)
      const raw = yield* Mailbox.raw(inbox, event.event_id)
      assert.match(
        raw,
        /^Return-Path: <>\r\nReceived: from old\.example \(\[127\.0\.0\.1\]\)\r\n\tby mx\.inlet\.test with SMTP id /
      )
      assert.deepStrictEqual(event.envelope, { from: "", helo: "old.example", remoteAddress: "127.0.0.1" })
    })
  )

  it.effect("lists both trace fields before the original headers", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message)
      const [event] = yield* Mailbox.accepted(inbox)
      assert.deepStrictEqual(
        (event.headers as ReadonlyArray<{ readonly name: string }>).map(({ name }) => name),
        ["Return-Path", "Received", "Received", "Return-Path", "From", "To", "Subject", "Message-ID"]
      )
    })
  )

  it.effect("becomes the event of the specification", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message)
      const [{ delivery, ...event }] = yield* Mailbox.accepted(inbox)
      assert.strictEqual(delivery.status, "held")
      yield* Schema.decodeUnknownEffect(InboundEvent)(event, { onExcessProperty: "error" })
      const { event_id, headers, inbound_email_id, receivedAt, threadId, ...rest } = event
      assert.match(threadId, /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
      assert.match(event_id, /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
      assert.match(inbound_email_id, /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
      assert.match(receivedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.strictEqual(headers.length, 8)
      assert.deepStrictEqual(rest, {
        event: "inbound.email.received",
        idempotency_key: createHash("sha256").update(`${inbox.domain}\n<several@sender.example>`).digest("hex"),
        message_id: "<several@sender.example>",
        domain: inbox.domain,
        recipient: inbox.address,
        from: "ada@sender.example",
        subject: "to several",
        text: "body\n",
        html: null,
        attachments: [],
        rawRef: `inbound/${inbox.domainId}/${inbound_email_id}.eml`,
        authentication: { spf: "none", dkim: "none", dmarc: "none", arc: "none" },
        envelope: { from: "sender@sender.example", helo: "client.example", remoteAddress: "127.0.0.1" },
        to: [],
        cc: [],
        replyTo: [],
        inReplyTo: null,
        references: [],
        parse: "full",
        fromName: "Ada",
        reply: null,
        sender: "person",
        tag: null,
        kind: { type: "person" },
        hiddenText: false,
        extracted: { code: null, links: [], unsubscribe: null },
        webhook_id: inbox.domainId,
        pattern: "*",
        hiddenTextVerdict: "none",
        textMatchesHtml: null,
        invisibleCharacters: 0,
        trust: { aligned: false, rule: null, reasons: ["not_checked"] }
      })
    })
  )

  it("is in memory once for any number of domains, until it is parsed", () => {
    const bytes = 1024 * 1024
    const copies = copiesOf(hundredDomains, bytes)
    const memories = () => {
      const views = copies.flatMap(({ mail, pieces, received }) => [received, ...pieces, mail.message ?? received])
      return [...new Set(views.map(({ buffer }) => buffer))].reduce((sum, { byteLength }) => sum + byteLength, 0)
    }
    assert.isBelow(memories(), 2 * bytes)
    Copies.separate(
      copies,
      copies.map(({ mail }) => mail)
    )
    const stored = copies.map(({ mail }) => Buffer.from(mail.message ?? []).toString("latin1"))
    assert.deepStrictEqual(
      stored,
      copies.map(({ pieces }) => Buffer.concat(pieces).toString("latin1"))
    )
    assert.strictEqual(new Set(copies.map(({ mail }) => mail.message?.buffer)).size, hundredDomains)
    for (const { mail } of copies) assert.strictEqual(mail.message?.byteLength, mail.message?.buffer.byteLength)
  })

  it("has no time until its commit if the clock was set meanwhile", () => {
    const receivedAt = 1_770_000_000_000
    const after = (millis: number) => Copies.storedMs({ receivedAt }, receivedAt + millis)
    assert.deepStrictEqual([0, 6, 600_000, 600_001, 10 ** 10, -1].map(after), [0, 6, 600_000, null, null, null])
  })
})
