import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Mailbox from "../Mailbox.ts"
import * as SmtpDialog from "../SmtpDialog.ts"
import { TestInlet } from "../TestInlet.ts"

const inFront = "127.0.0.1"

/** A session of a mail server, after EHLO. */
const session = Effect.fnUntraced(function* (localAddress = inFront) {
  const { smtpPort } = yield* TestInlet
  const dialog = yield* SmtpDialog.open(smtpPort, { localAddress })
  return { dialog, features: yield* dialog.say("EHLO front.example") }
})

const send = Effect.fnUntraced(function* (dialog: SmtpDialog.SmtpDialog, to: string, subject: string) {
  assert.match(yield* dialog.say("MAIL FROM:<a@sender.example>"), /^250 /)
  assert.match(yield* dialog.say(`RCPT TO:<${to}>`), /^250 /)
  assert.match(yield* Mailbox.data(dialog, `Subject: ${subject}\r\n\r\n`), /^250 /)
})

/** Clients of the mails to an inbox, by subject. */
const clients = (inbox: Mailbox.Inbox) =>
  Effect.map(Mailbox.accepted(inbox), (events) =>
    Object.fromEntries(
      events.map(({ envelope: { helo, remoteAddress }, subject }) => [subject, `${helo} [${remoteAddress}]`])
    )
  )

layer(TestInlet.layer({ SMTP_XFORWARD_FROM: `${inFront}/32`, SENDER_CHECKS: "false" }), {
  excludeTestServices: true
})("A mail server in front", (it) => {
  it.effect("names the client of each message, in one command or two, as IPv4 or IPv6", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const { dialog, features } = yield* session()
      assert.match(features, /^250.XFORWARD NAME ADDR PORT PROTO HELO IDENT SOURCE/m)
      yield* dialog.say(
        "XFORWARD NAME=one.example ADDR=203.0.113.1 PORT=4711 PROTO=ESMTP HELO=one.example SOURCE=REMOTE"
      )
      yield* send(dialog, inbox.address, "one")
      yield* dialog.say("XFORWARD NAME=[UNAVAILABLE] ADDR=IPv6:2001:db8::2 PORT=4712")
      assert.match(yield* dialog.say("XFORWARD PROTO=ESMTP HELO=two.example SOURCE=REMOTE"), /^250 /)
      yield* send(dialog, inbox.address, "two")
      assert.deepStrictEqual(yield* clients(inbox), {
        one: "one.example [203.0.113.1]",
        two: "two.example [2001:db8::2]"
      })
    })
  )

  it.effect("is the client itself of a message without one, whoever sent the message before", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const { dialog } = yield* session()
      const name = dialog.say("XFORWARD ADDR=203.0.113.1 HELO=one.example")
      yield* name
      yield* send(dialog, inbox.address, "named")
      yield* send(dialog, inbox.address, "behind it")
      yield* name
      yield* dialog.say("RSET")
      yield* send(dialog, inbox.address, "after RSET")
      yield* name
      yield* dialog.say("EHLO other.example")
      yield* send(dialog, inbox.address, "after EHLO")
      yield* name
      yield* dialog.say("XFORWARD ADDR=[UNAVAILABLE] HELO=[UNAVAILABLE] SOURCE=LOCAL")
      yield* send(dialog, inbox.address, "again named")
      yield* dialog.say("XFORWARD NAME=localhost ADDR=[UNAVAILABLE] HELO=[UNAVAILABLE] SOURCE=LOCAL")
      yield* send(dialog, inbox.address, "its own")
      yield* dialog.say("XFORWARD ADDR=203.0.113.3 HELO=[UNAVAILABLE]")
      yield* send(dialog, inbox.address, "without a name")
      assert.deepStrictEqual(yield* clients(inbox), {
        named: "one.example [203.0.113.1]",
        "behind it": `front.example [${inFront}]`,
        "after RSET": `front.example [${inFront}]`,
        "after EHLO": `other.example [${inFront}]`,
        "again named": `other.example [${inFront}]`,
        "its own": `other.example [${inFront}]`,
        "without a name": "unknown [203.0.113.3]"
      })
    })
  )

  it.effect("names the client of a session by XCLIENT, which may name no other", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const { dialog, features } = yield* session()
      assert.match(features, /^250.XCLIENT NAME ADDR/m)
      assert.match(yield* dialog.say("XCLIENT ADDR=203.0.113.5 NAME=[UNAVAILABLE] HELO=five.example"), /^220 /)
      assert.match(yield* dialog.say("MAIL FROM:<a@sender.example>"), /^503 /)
      assert.notMatch(yield* dialog.say("EHLO five.example"), /XCLIENT|XFORWARD/)
      assert.match(yield* dialog.say("XFORWARD ADDR=203.0.113.6"), /^550 /)
      assert.match(yield* dialog.say("XCLIENT ADDR=203.0.113.6"), /^550 /)
      yield* send(dialog, inbox.address, "one")
      yield* send(dialog, inbox.address, "two")
      assert.deepStrictEqual(yield* clients(inbox), {
        one: "five.example [203.0.113.5]",
        two: "five.example [203.0.113.5]"
      })
    })
  )

  it.effect("is refused a client with control characters or without an address, and one during a message", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const { dialog } = yield* session()
      assert.match(yield* dialog.say("XFORWARD ADDR=203.0.113.1 HELO=a+0D+0Ab"), /^501 /)
      assert.match(yield* dialog.say("XFORWARD ADDR=example.com"), /^501 /)
      yield* dialog.say("MAIL FROM:<a@sender.example>")
      assert.match(yield* dialog.say("XFORWARD ADDR=203.0.113.1"), /^503 /)
      yield* dialog.say("RSET")
      yield* send(dialog, inbox.address, "its own")
      assert.deepStrictEqual(yield* clients(inbox), { "its own": `front.example [${inFront}]` })
    })
  )

  it.effect("leaves the sender rules to the client that it names", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* inlet.call("POST", `/api/domains/${inbox.domainId}/sender-rules`, {
        key: inbox.key,
        body: { list: "block", match: "network", value: "203.0.113.0/24", action: "reject" }
      })
      const { dialog } = yield* session()
      const rcpt = Effect.fnUntraced(function* (client: string) {
        yield* dialog.say(`XFORWARD ADDR=${client} HELO=client.example`)
        yield* dialog.say("MAIL FROM:<a@sender.example>")
        const reply = yield* dialog.say(`RCPT TO:<${inbox.address}>`)
        yield* dialog.say("RSET")
        return reply.slice(0, 3)
      })
      assert.deepStrictEqual([yield* rcpt("203.0.113.7"), yield* rcpt("198.51.100.7")], ["550", "250"])
    })
  )

  it.effect("is the only one that may: others see no such command", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const { dialog, features } = yield* session("127.0.0.9")
      assert.notMatch(features, /XFORWARD|XCLIENT/)
      assert.match(yield* dialog.say("XFORWARD ADDR=203.0.113.1 HELO=one.example"), /^550 /)
      assert.match(yield* dialog.say("XCLIENT ADDR=203.0.113.1"), /^550 /)
      yield* send(dialog, inbox.address, "from others")
      assert.deepStrictEqual(yield* clients(inbox), { "from others": "front.example [127.0.0.9]" })
    })
  )

  it.effect("is said in the trace, which tells nothing about TLS then", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const { dialog } = yield* session()
      yield* dialog.say("XFORWARD ADDR=203.0.113.1 HELO=one.example")
      yield* send(dialog, inbox.address, "traced")
      yield* Mailbox.accepted(inbox)
      const { json } = yield* inlet.call("GET", `/api/trace?to=${inbox.address}`, { key: inbox.key })
      assert.include(
        JSON.stringify(json),
        "203.0.113.1 connected as one.example, through a mail server in front. Envelope sender: a@sender.example"
      )
    })
  )
})
