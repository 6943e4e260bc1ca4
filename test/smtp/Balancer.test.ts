import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Ref } from "effect"
import { eventually } from "../Eventually.ts"
import * as InletProcess from "../InletProcess.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import * as Ports from "../Ports.ts"
import * as SmtpDialog from "../SmtpDialog.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

/** A session as a balancer forwards it. */
const through = (port: number, header: string) => SmtpDialog.open(port, { first: `${header}\r\n` })

const send = Effect.fnUntraced(function* (dialog: SmtpDialog.SmtpDialog, to: string) {
  yield* dialog.say("EHLO client.example")
  yield* dialog.say("MAIL FROM:<a@sender.example>")
  yield* dialog.say(`RCPT TO:<${to}>`)
  assert.match(yield* Mailbox.data(dialog, "Subject: through a balancer\r\n\r\n"), /^250 /)
})

layer(TestInlet.layer({ SMTP_PROXY_FROM: "127.0.0.0/30,::1", SMTP_MAX_CONNECTIONS_PER_IP: "2" }), {
  excludeTestServices: true
})("A trusted balancer", (it) => {
  it.effect("passes the client's address on to the event", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* send(yield* through(inlet.smtpPort, "PROXY TCP4 203.0.113.7 192.0.2.1 40000 25"), inbox.address)
      yield* send(yield* through(inlet.smtpPort, "PROXY TCP6 2001:db8::7 2001:db8::1 40000 25"), inbox.address)
      const events = yield* Mailbox.accepted(inbox)
      assert.deepStrictEqual(events.map(({ envelope }) => envelope.remoteAddress).toSorted(), [
        "2001:db8::7",
        "203.0.113.7"
      ])
    })
  )

  it.effect("has its clients counted separately", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const from = (client: string) => through(inlet.smtpPort, `PROXY TCP4 ${client} 192.0.2.1 40000 25`)
      assert.match((yield* from("203.0.113.8")).greeting, /^220 /)
      assert.match((yield* from("203.0.113.8")).greeting, /^220 /)
      assert.match((yield* from("203.0.113.8")).greeting, /^421 /)
      assert.match((yield* from("203.0.113.9")).greeting, /^220 /)
    })
  )

  it.effect("that sends a header of version 2, or none, is counted", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const series = 'inlet_smtp_dismissals_total{reason="proxy_header"} '
      for (const header of ["\r\n\r\n\0\r\nQUIT\n!", "EHLO client.example"]) {
        assert.notMatch((yield* through(inlet.smtpPort, header)).greeting, /^220 /)
      }
      yield* eventually(inlet.call("GET", "/metrics"), ({ text }) => text.includes(`${series}2\n`))
    })
  )

  it.effect("is the only one that is trusted: from others the PROXY header is an unknown command", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const dialog = yield* SmtpDialog.open(inlet.smtpPort, { localAddress: "127.0.0.9" })
      assert.match(dialog.greeting, /^220 /)
      assert.match(yield* dialog.say("PROXY TCP4 203.0.113.7 192.0.2.1 40000 25"), /^5/)
    })
  )
})

describe("Two processes on one machine", () => {
  it.live("share the SMTP port if configured", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver
      const port = `${yield* Ports.free}`
      const one = yield* InletProcess.installation
      // Without a PostgreSQL server, the second process has a separate database.
      const two = one.DATABASE_URL === undefined ? yield* InletProcess.installation : one
      const shared = { SMTP_PORT: port, SMTP_REUSE_PORT: "true" }
      const [first, second] = yield* Effect.all(
        [InletProcess.start({ ...one, ...shared }), InletProcess.start({ ...two, ...shared })],
        { concurrency: 2 }
      )
      const inboxes = [yield* first.inbox(receiver.url), yield* second.inbox(receiver.url)]
      const taken = yield* Ref.make(0)
      // The kernel distributes the connections, and with separate databases each process knows only its own
      // inboxes.
      yield* Effect.forEach(
        Array.from({ length: 60 }, (_, number) => number),
        (number) =>
          Mail.send(Number(port), { to: inboxes[number % 2]?.address ?? "" }).pipe(
            Effect.andThen(Ref.update(taken, (count) => count + 1)),
            Effect.ignore
          ),
        { concurrency: 6, discard: true }
      )
      const count = yield* Ref.get(taken)
      assert.isAbove(count, one === two ? 59 : 5)
      yield* first.signal("SIGTERM")
      yield* first.ending
      // The other process continues alone.
      assert.match(yield* Mail.send(Number(port), { to: inboxes[1]?.address ?? "" }), /^250/)
    }).pipe(Effect.provide(WebhookReceiver.layer))
  )
})
