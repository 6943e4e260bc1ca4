import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import * as SmtpDialog from "../SmtpDialog.ts"
import { TestInlet } from "../TestInlet.ts"

const limit = 65_536

/** A message of exactly this many bytes. */
const ofSize = (bytes: number) => {
  const header = "Subject: large\r\n\r\n"
  const line = `${"x".repeat(76)}\r\n`
  const body = line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes - header.length - 2)
  return `${header}${body}\r\n`
}

/** Sequences that end a message for some servers and must not end it here (RFC 5321, section 4.1.1.4). */
const falseEnds: ReadonlyArray<readonly [string, string]> = [
  ["LF . LF", "\n.\n"],
  ["LF . CRLF", "\n.\r\n"],
  ["CRLF . LF", "\r\n.\n"],
  ["CR . CR", "\r.\r"],
  ["CR . CRLF", "\r.\r\n"],
  ["CRLF . CR", "\r\n.\r"],
  ["CR . LF", "\r.\n"],
  ["LF . CR", "\n.\r"],
  ["LF . CR LF LF", "\n.\r\n\n"],
  ["CRLF NUL . CRLF", "\r\n\u0000.\r\n"],
  ["CRLF . NUL CRLF", "\r\n.\u0000\r\n"],
  ["CR NUL LF . CRLF", "\r\u0000\n.\r\n"],
  ["VT . VT", "\u000b.\u000b"],
  ["FF . FF", "\f.\f"],
  ["NEL . NEL", "\u0085.\u0085"],
  ["LS . LS", "\u2028.\u2028"],
  ["CRLF space . CRLF", "\r\n .\r\n"],
  ["CRLF . space CRLF", "\r\n. \r\n"],
  ["CRLF . . CRLF", "\r\n..\r\n"]
]

layer(TestInlet.layer({ MAX_MESSAGE_BYTES: `${limit}`, MAX_EMAILS_PER_DAY: "0", SENDER_CHECKS: "false" }), {
  excludeTestServices: true
})("DATA", (it) => {
  it.effect("ends at CRLF . CRLF only, in one packet or byte by byte", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const dialog = yield* Mailbox.begin(inlet.smtpPort, inbox.address)
      const forms = falseEnds.flatMap(([name, end]) => [
        [`${name} at once`, end, false] as const,
        [`${name} byte by byte`, end, true] as const
      ])
      for (const [name, end, split] of forms) {
        yield* dialog.say("RSET")
        yield* dialog.say("MAIL FROM:<sender@sender.example>")
        yield* dialog.say(`RCPT TO:<${inbox.address}>`)
        yield* dialog.say("DATA")
        const smuggled = `MAIL FROM:<admin@${inbox.domain}>\r\nRCPT TO:<smuggled@${inbox.domain}>\r\nDATA\r\nSubject: smuggled\r\n\r\n`
        if (split) {
          yield* dialog.write(`Subject: ${name}\r\n\r\nbody`)
          yield* Effect.forEach(Buffer.from(end), (byte) =>
            // Sends each byte in a packet of its own.
            Effect.andThen(Effect.sleep("1 millis"), dialog.write(Uint8Array.of(byte)))
          )
          yield* Effect.sleep("1 millis")
          yield* dialog.write(`${smuggled}rest`)
        } else yield* dialog.write(`Subject: ${name}\r\n\r\nbody${end}${smuggled}rest`)
        yield* dialog.write("\r\n.\r\nNOOP\r\n")
        const reply = yield* dialog.reply
        assert.match(reply, /^(250 2\.6\.0|5\d\d) /, name)
        assert.strictEqual(yield* dialog.reply, "250 2.0.0 OK", name)
        // Any command smuggled in the message would be answered first.
        assert.match(yield* dialog.say("VRFY nobody"), /^252 /, name)
      }
      const events = yield* Mailbox.accepted(inbox)
      assert.deepStrictEqual(
        events.map(({ subject }) => subject),
        forms.map(([name]) => name)
      )
      assert.isTrue(events.every(({ recipient }) => recipient === inbox.address))
    })
  )

  it.effect("removes dot stuffing at any packet split and keeps every other byte", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const dialog = yield* Mailbox.begin(inlet.smtpPort, inbox.address)
      const message = ".\r\n\r\n.\r\n..\r\nx.\r\n.x\r\n\r\n.\r\n"
      const sent = Mailbox.wire(message)
      for (let cut = 1; cut < sent.length; cut++) {
        yield* dialog.say("MAIL FROM:<sender@sender.example>")
        yield* dialog.say(`RCPT TO:<${inbox.address}>`)
        yield* dialog.say("DATA")
        yield* dialog.write(sent.subarray(0, cut))
        // Sends the rest in another packet.
        yield* Effect.sleep("1 millis")
        yield* dialog.write(sent.subarray(cut))
        assert.match(yield* dialog.reply, /^250 /, `cut at ${cut}`)
      }
      const [event] = yield* Mailbox.accepted(inbox)
      const raw = yield* Mailbox.raw(inbox, event.event_id)
      assert.strictEqual(raw.slice(-message.length), message)
      const sql = yield* SqlClient.SqlClient
      const different = yield* sql`SELECT DISTINCT sha256 FROM inbound_emails WHERE domain_id = ${inbox.domainId}`
      assert.strictEqual(different.length, 1)
    })
  )

  it.effect("keeps bare CR and LF, and the dots after them", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const message = "Subject: bare\r\n\r\n..a\n..b\n.\n.c\r..d\r.\n\r\n"
      const dialog = yield* Mailbox.begin(inlet.smtpPort, inbox.address)
      assert.match(yield* Mailbox.data(dialog, message), /^250 /)
      const [event] = yield* Mailbox.accepted(inbox)
      const raw = yield* Mailbox.raw(inbox, event.event_id)
      assert.strictEqual(raw.slice(-message.length), message)
    })
  )

  it.effect("stores an empty message", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const dialog = yield* Mailbox.begin(inlet.smtpPort, inbox.address)
      yield* dialog.say("DATA")
      assert.match(yield* dialog.say("."), /^250 /)
      const [event] = yield* Mailbox.accepted(inbox)
      assert.deepInclude(event, { subject: "", text: "", html: null, message_id: null, from: "sender@sender.example" })
    })
  )

  it.effect("accepts a message at the size limit, and answers 552 5.3.4 to one byte more", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const dialog = yield* Mailbox.begin(inlet.smtpPort, inbox.address)
      assert.match(yield* Mailbox.data(dialog, ofSize(limit + 1)), /^552 5\.3\.4 /)
      assert.deepStrictEqual(yield* Mailbox.stored(inbox.domainId), [])

      yield* dialog.say("MAIL FROM:<sender@sender.example>")
      yield* dialog.say(`RCPT TO:<${inbox.address}>`)
      assert.match(yield* Mailbox.data(dialog, ofSize(limit)), /^250 /)
      const events = yield* Mailbox.accepted(inbox)
      assert.strictEqual(events.length, 1)
      const raw = yield* Mailbox.raw(inbox, events[0].event_id)
      assert.strictEqual(raw.slice(-limit), ofSize(limit))
    })
  )

  it.effect("is refused at MAIL with 552 5.3.4 for an announced size above the limit", () =>
    Effect.gen(function* () {
      const { smtpPort } = yield* TestInlet
      const dialog = yield* SmtpDialog.open(smtpPort)
      yield* dialog.say("EHLO client.example")
      assert.match(yield* dialog.say(`MAIL FROM:<sender@sender.example> SIZE=${limit + 1}`), /^552 5\.3\.4 /)
      assert.match(yield* dialog.say(`MAIL FROM:<sender@sender.example> SIZE=${limit}`), /^250 /)
    })
  )

  it.effect("closes the connection 2 MiB beyond the limit", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const dialog = yield* Mailbox.begin(inlet.smtpPort, inbox.address)
      yield* dialog.say("DATA")
      yield* dialog.write(ofSize(limit + 2 * 1_024 * 1_024 + 1_024))
      assert.match(yield* dialog.reply, /^421 /)
      assert.strictEqual(yield* dialog.reply, "")
      assert.deepStrictEqual(yield* Mailbox.stored(inbox.domainId), [])
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, "Subject: next\r\n\r\n"), /^250 /)
    })
  )

  it.effect("answers 552 5.3.4 after the dot up to 2 MiB beyond the limit", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const dialog = yield* Mailbox.begin(inlet.smtpPort, inbox.address)
      assert.match(yield* Mailbox.data(dialog, ofSize(limit + 2 * 1_024 * 1_024)), /^552 5\.3\.4 /)
      assert.match(yield* dialog.say("NOOP"), /^250 /)
      assert.deepStrictEqual(yield* Mailbox.accepted(inbox), [])
    })
  )

  it.effect("answers 554 5.4.6 to a message with 50 Received fields", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const hops = (count: number) =>
        `${"Received: from a.example by b.example;\r\n\tThu, 1 Jan 2026 00:00:00 +0000\r\n".repeat(count)}Subject: ${count} hops\r\n\r\n`
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, hops(50)), /^554 5\.4\.6 /)
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, hops(51)), /^554 5\.4\.6 /)
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, hops(49)), /^250 /)
      const events = yield* Mailbox.accepted(inbox)
      assert.deepStrictEqual(
        events.map(({ subject }) => subject),
        ["49 hops"]
      )
      assert.strictEqual((yield* Mailbox.stored(inbox.domainId)).length, 1)
    })
  )

  it.effect("answers 554 5.4.6 to a message with two of our Received fields, and 250 with one", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, "Subject: round\r\n\r\n"), /^250 /)
      const rawOf = (at: number) =>
        Effect.flatMap(Mailbox.accepted(inbox), (events) => Mailbox.raw(inbox, events[at].event_id))
      const once = yield* rawOf(0)
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, once), /^250 /)
      const twice = yield* rawOf(1)
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, twice), /^554 5\.4\.6 /)
      // As some relays write it.
      const folded = twice.replaceAll(/\r\n\tby mx\.inlet\.test with/g, " by MX.Inlet.Test\r\n    with")
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, folded), /^554 5\.4\.6 /)
      assert.strictEqual((yield* Mailbox.accepted(inbox)).length, 2)
    })
  )

  it.effect("does not count Received fields in the body", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const message = `Subject: quoted\r\n\r\n${"Received: from a.example by b.example\r\n".repeat(60)}`
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message), /^250 /)
    })
  )

  it.effect("accepts 8BITMIME mail and decodes it", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const message = "Subject: eight\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nGrüße, 世界\r\n"
      const reply = yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message, { parameters: " BODY=8BITMIME" })
      assert.match(reply, /^250 /)
      const [event] = yield* Mailbox.accepted(inbox)
      assert.strictEqual(event.text, "Grüße, 世界\n")
      assert.include(yield* Mailbox.raw(inbox, event.event_id), message)
    })
  )

  it.effect("accepts SMTPUTF8 mail with UTF-8 addresses and headers", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const reply = yield* Mailbox.deliver(
        inlet.smtpPort,
        `用户@${inbox.domain}`,
        `From: Jörg <jörg@sender.example>\r\nTo: 用户@${inbox.domain}\r\nSubject: Größe\r\n\r\n`,
        { from: "jörg@sender.example", parameters: " SMTPUTF8 BODY=8BITMIME" }
      )
      assert.match(reply, /^250 /)
      const [event] = yield* Mailbox.accepted(inbox)
      assert.deepInclude(event, {
        recipient: `用户@${inbox.domain}`,
        from: "jörg@sender.example",
        subject: "Größe",
        to: [{ name: "", address: `用户@${inbox.domain}` }]
      })
      assert.strictEqual(event.envelope.from, "jörg@sender.example")
      const raw = yield* Mailbox.raw(inbox, event.event_id)
      assert.match(raw, /^Return-Path: <jörg@sender\.example>\r\nReceived: [^;]* with UTF8SMTP /)
    })
  )

  it.effect("accepts a UTF-8 address without SMTPUTF8, each time", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      for (let times = 0; times < 3; times++) {
        const to = `用户@${inbox.domain}`
        assert.match(yield* Mailbox.deliver(inlet.smtpPort, to, `Subject: ${times}\r\n\r\n`), /^250 /)
      }
      const events = yield* Mailbox.accepted(inbox)
      assert.isTrue(events.every(({ recipient }) => recipient === `用户@${inbox.domain}`))
    })
  )

  it.effect("is stored once when the connection breaks after the dot and the sender retries", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const message = "Message-ID: <unheard@sender.example>\r\nSubject: unheard\r\n\r\n"
      yield* Effect.scoped(
        Effect.gen(function* () {
          const dialog = yield* Mailbox.begin(inlet.smtpPort, inbox.address)
          yield* dialog.say("DATA")
          yield* dialog.write(Mailbox.wire(message))
          // The dot must be sent before the reset, which would overtake it.
          yield* Effect.sleep("5 millis")
          yield* dialog.hangUp(true)
        })
      )
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message), /^250 /)
      assert.strictEqual((yield* Mailbox.accepted(inbox)).length, 1)
      assert.strictEqual((yield* Mailbox.stored(inbox.domainId)).length, 1)
    })
  )

  it.effect("stores a line of several MB and an endless header unchanged", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const line = `Subject: long\r\n\r\n${"y".repeat(60_000)}\r\n`
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, line), /^250 /)
      const header = `Subject: long header\r\nX-Long: ${"z".repeat(60_000)}\r\n\r\n`
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, header), /^250 /)
      const events = yield* Mailbox.accepted(inbox)
      assert.include(yield* Mailbox.raw(inbox, events[0].event_id), line)
      assert.include(yield* Mailbox.raw(inbox, events[1].event_id), header)
    })
  )

  it.effect("is accepted any number of times a day with MAX_EMAILS_PER_DAY=0", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* Mailbox.acceptToday(inbox.domainId, 1_000_000)
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, "Subject: one more\r\n\r\n"), /^250 /)
    })
  )

  it.effect("accepts mail from nodemailer", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const response = yield* Mail.send(inlet.smtpPort, {
        to: inbox.address,
        subject: "From a library",
        html: "<p>Hello</p>",
        attachments: [{ filename: "a.bin", content: Buffer.from([0, 1, 2]) }]
      })
      assert.match(response, /^250 2\.6\.0 /)
      const [event] = yield* Mailbox.accepted(inbox)
      assert.strictEqual(event.attachments[0].size, 3)
    })
  )
})

layer(TestInlet.layer(), { excludeTestServices: true })("A large header", (it) => {
  it.effect("is searched for Received fields in its first 256 KiB only", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const hops = "Received: from a.example by b.example\r\n".repeat(60)
      const fields = "X-A: b\r\n".repeat(40_000)
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, `${hops}${fields}\r\n`), /^554 5\.4\.6 /)
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, `${fields}${hops}\r\n`), /^250 /)
    })
  )
})
