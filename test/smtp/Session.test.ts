import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../Eventually.ts"
import * as Mailbox from "../Mailbox.ts"
import * as SmtpDialog from "../SmtpDialog.ts"
import { TestInlet } from "../TestInlet.ts"

layer(TestInlet.layer({ MAX_MESSAGE_BYTES: "65536" }), { excludeTestServices: true })("An SMTP session", (it) => {
  it.effect("is greeted with the host name of the MX records", () =>
    Effect.gen(function* () {
      const { smtpPort } = yield* TestInlet
      const { greeting } = yield* SmtpDialog.open(smtpPort)
      assert.strictEqual(greeting, "220 mx.inlet.test ESMTP Inlet")
    })
  )

  it.effect("offers only the supported extensions, with the size limit", () =>
    Effect.gen(function* () {
      const { smtpPort } = yield* TestInlet
      const dialog = yield* SmtpDialog.open(smtpPort)
      const [first, ...extensions] = (yield* dialog.say("EHLO client.example")).split("\r\n")
      assert.match(first ?? "", /^250-mx\.inlet\.test /)
      assert.deepStrictEqual(extensions.map((line) => line.slice(4)).sort(), [
        "8BITMIME",
        "ENHANCEDSTATUSCODES",
        "PIPELINING",
        "SIZE 65536",
        "SMTPUTF8",
        "STARTTLS"
      ])
    })
  )

  it.effect("answers HELO in one line", () =>
    Effect.gen(function* () {
      const { smtpPort } = yield* TestInlet
      const dialog = yield* SmtpDialog.open(smtpPort)
      assert.match(yield* dialog.say("HELO client.example"), /^250 mx\.inlet\.test [^\r\n]*$/)
    })
  )

  it.effect("requires a greeting with a name before a transaction", () =>
    Effect.gen(function* () {
      const { smtpPort } = yield* TestInlet
      const dialog = yield* SmtpDialog.open(smtpPort)
      assert.match(yield* dialog.say("MAIL FROM:<sender@sender.example>"), /^503 5\.5\.1 /)
      assert.match(yield* dialog.say("EHLO"), /^501 /)
      assert.match(yield* dialog.say("EHLO client\u0001.example"), /^501 /)
    })
  )

  it.effect.each([
    ["AUTH PLAIN AGEAYg==", /^50[0-4] /],
    ["BDAT 10 LAST", /^50[0-4] /],
    ["EXPN staff", /^50[0-4] /],
    ["ETRN example.com", /^50[0-4] /],
    ["TURN", /^50[0-4] /],
    ["WIZ please", /^50[0-4] /],
    ["SHELL", /^50[0-4] /],
    ["KILL", /^50[0-4] /],
    ["XCLIENT ADDR=203.0.113.9", /^5\d\d /],
    ["XFORWARD ADDR=203.0.113.9", /^5\d\d /],
    ["PROXY TCP4 203.0.113.9 127.0.0.1 1 25", /^5\d\d /],
    ["VRFY postmaster", /^252 (?!.*postmaster)/],
    ["", /^500 /]
  ] as const)("does not execute %s and continues", ([command, reply]) =>
    Effect.gen(function* () {
      const { smtpPort } = yield* TestInlet
      const dialog = yield* SmtpDialog.open(smtpPort)
      yield* dialog.say("EHLO client.example")
      assert.match(yield* dialog.say(command), reply)
      assert.match(yield* dialog.say("NOOP"), /^250 /)
    })
  )

  it.effect("refuses a body type that it does not offer", () =>
    Effect.gen(function* () {
      const { smtpPort } = yield* TestInlet
      const dialog = yield* SmtpDialog.open(smtpPort)
      yield* dialog.say("EHLO client.example")
      assert.match(yield* dialog.say("MAIL FROM:<sender@sender.example> BODY=BINARYMIME"), /^501 /)
    })
  )

  it.effect("refuses parameters that it does not offer, notes it, and takes the others", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { address, domainId, key } = yield* inlet.inbox()
      const dialog = yield* SmtpDialog.open(inlet.smtpPort)
      yield* dialog.say("EHLO client.example")
      for (const parameter of ["FOO=BAR", "RET=HDRS", "AUTH=<>", "SIZE=10 ENVID=7", "toString"]) {
        assert.match(yield* dialog.say(`MAIL FROM:<sender@sender.example> ${parameter}`), /^555 5\.5\.4 /, parameter)
      }
      const offered = "size=1000 BODY=8BITMIME SMTPUTF8"
      assert.match(yield* dialog.say(`MAIL FROM:<sender@sender.example> ${offered}`), /^250 /)
      for (const parameter of ["NOTIFY=SUCCESS", "ORCPT=rfc822;a@b.example", "SIZE=5"]) {
        assert.match(yield* dialog.say(`RCPT TO:<${address}> ${parameter}`), /^555 5\.5\.4 /, parameter)
      }
      assert.match(yield* dialog.say(`RCPT TO:<${address}>`), /^250 /)
      const refused = inlet.call("GET", `/api/domains/${domainId}/refusals`, { key })
      yield* eventually(refused, ({ json }) => json.refusals.some((one: { code: number }) => one.code === 555))
    })
  )

  it.effect("disconnects a web browser", () =>
    Effect.gen(function* () {
      const { smtpPort } = yield* TestInlet
      const dialog = yield* SmtpDialog.open(smtpPort)
      assert.match(yield* dialog.say("POST /api/workspaces HTTP/1.1"), /^421 /)
      assert.strictEqual(yield* dialog.reply, "")
    })
  )

  it.effect("requires the order of commands", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { address } = yield* inlet.inbox()
      const dialog = yield* SmtpDialog.open(inlet.smtpPort)
      yield* dialog.say("EHLO client.example")
      assert.match(yield* dialog.say(`RCPT TO:<${address}>`), /^503 /)
      assert.match(yield* dialog.say("MAIL FROM:<one@sender.example>"), /^250 2\.1\.0 /)
      assert.match(yield* dialog.say("MAIL FROM:<two@sender.example>"), /^503 /)
      assert.match(yield* dialog.say("DATA"), /^503 /)
      assert.match(yield* dialog.say(`RCPT TO:<${address}>`), /^250 2\.1\.5 /)
      assert.match(yield* dialog.say("RSET"), /^250 /)
      assert.match(yield* dialog.say("DATA"), /^503 /)
    })
  )

  it.effect("keeps the envelopes of its messages apart", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const dialog = yield* Mailbox.begin(inlet.smtpPort, `one@${inbox.domain}`, { from: "one@sender.example" })
      assert.match(yield* Mailbox.data(dialog, "Subject: first\r\n\r\n"), /^250 /)

      yield* dialog.say("MAIL FROM:<forgotten@sender.example>")
      yield* dialog.say(`RCPT TO:<forgotten@${inbox.domain}>`)
      yield* dialog.say("RSET")
      yield* dialog.say("MAIL FROM:<two@sender.example>")
      yield* dialog.say(`RCPT TO:<two@${inbox.domain}>`)
      assert.match(yield* Mailbox.data(dialog, "Subject: second\r\n\r\n"), /^250 /)

      const events = yield* Mailbox.accepted(inbox)
      assert.deepStrictEqual(
        events.map(({ envelope, recipient, subject }) => [subject, envelope.from, recipient]),
        [
          ["first", "one@sender.example", `one@${inbox.domain}`],
          ["second", "two@sender.example", `two@${inbox.domain}`]
        ]
      )
    })
  )

  it.effect("accepts a whole transaction in one packet and answers each command in order", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const dialog = yield* SmtpDialog.open(inlet.smtpPort)
      yield* dialog.say("EHLO client.example")
      yield* dialog.write(
        [
          "MAIL FROM:<sender@sender.example>",
          `RCPT TO:<one@${inbox.domain}>`,
          "RCPT TO:<two@unknown.example>",
          `RCPT TO:<three@${inbox.domain}>`,
          "DATA",
          "Subject: in one packet",
          "",
          "body",
          ".",
          "NOOP",
          "QUIT",
          ""
        ].join("\r\n")
      )
      const replies = yield* Effect.replicateEffect(dialog.reply, 8)
      assert.deepStrictEqual(
        replies.map((reply) => reply.slice(0, 3)),
        ["250", "250", "550", "250", "354", "250", "250", "221"]
      )
      assert.strictEqual(yield* dialog.reply, "")
      const events = yield* Mailbox.accepted(inbox)
      assert.deepStrictEqual(events.map(({ recipient }) => recipient).sort(), [
        `one@${inbox.domain}`,
        `three@${inbox.domain}`
      ])
    })
  )

  it.effect("that ends during a message stores nothing and affects no other", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const half = "Subject: half\r\n\r\nhalf a mes"
      for (const [hard, bytes] of [
        [true, half],
        [false, half],
        [true, `${half}\r\n.`],
        [false, `${half}\r\n.\r`],
        [true, ""]
      ] as const) {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const dialog = yield* Mailbox.begin(inlet.smtpPort, inbox.address)
            assert.match(yield* dialog.say("DATA"), /^354 /)
            yield* dialog.write(bytes)
            yield* dialog.hangUp(hard)
            assert.strictEqual(yield* dialog.reply, "")
          })
        )
      }
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, "Subject: whole\r\n\r\n"), /^250 /)
      const events = yield* Mailbox.accepted(inbox)
      assert.deepStrictEqual(
        events.map(({ subject }) => subject),
        ["whole"]
      )
      assert.strictEqual((yield* Mailbox.stored(inbox.domainId)).length, 1)
      assert.strictEqual(yield* Mailbox.acceptedToday(inbox.domainId), 1)
    })
  )
})
