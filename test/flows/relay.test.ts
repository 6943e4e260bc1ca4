import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { createTransport } from "nodemailer"
import { verify } from "../../src/effect.ts"
import * as Needs from "../Needs.ts"
import * as Postfix from "../Postfix.ts"
import * as Program from "../Program.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

interface Sending {
  readonly port: number
  readonly to: string
  readonly subject: string
  readonly isEncrypted: boolean
}

const text = "Grüße von weit her\n.dots at the beginning\n"

const program = Effect.fnUntraced(function* (command: string, args: ReadonlyArray<string>) {
  const { code, stderr, stdout } = yield* Program.run(command, args)
  assert.strictEqual(code, 0, `${stdout}${stderr}`)
}, Effect.provide(NodeServices.layer))

const nodemailer = ({ isEncrypted, port, subject, to }: Sending) =>
  Effect.acquireUseRelease(
    Effect.sync(() =>
      createTransport({
        host: "127.0.0.1",
        port,
        ignoreTLS: !isEncrypted,
        requireTLS: isEncrypted,
        tls: { rejectUnauthorized: false }
      })
    ),
    (transport) => Effect.promise(() => transport.sendMail({ from: "a@sender.example", to, subject, text })),
    (transport) => Effect.sync(() => transport.close())
  )

const swaks = ({ isEncrypted, port, subject, to }: Sending) =>
  program("swaks", [
    ...["--server", "127.0.0.1", "--port", `${port}`, "--helo", "client.example"],
    ...["--from", "a@sender.example", "--to", to, "--header", `Subject: ${subject}`],
    ...["--add-header", "Content-Type: text/plain; charset=utf-8", "--body", text],
    ...(isEncrypted ? ["--tls"] : [])
  ])

const smtplib = ({ isEncrypted, port, subject, to }: Sending) =>
  program("python3", [
    "-c",
    `
import smtplib, sys
from email.message import EmailMessage
port, to, subject, text, tls = sys.argv[1:]
message = EmailMessage()
message["From"], message["To"], message["Subject"] = "a@sender.example", to, subject
message["Message-ID"] = "<%s@sender.example>" % subject.replace(" ", ".")
message.set_content(text)
with smtplib.SMTP("127.0.0.1", int(port)) as server:
    if tls:
        server.starttls()
    server.send_message(message)
`,
    ...[`${port}`, to, subject, text, isEncrypted ? "tls" : ""]
  ])

/** Handed to Postfix in plain text. Its configuration for the address decides about TLS. */
const postfix = (sending: Sending) =>
  Effect.flatMap(Postfix.relay(sending.port, { [sending.to]: sending.isEncrypted ? "encrypt" : "none" }), (port) =>
    nodemailer({ ...sending, port, isEncrypted: false })
  )

const clients = [
  ["nodemailer", nodemailer, []],
  ["swaks", swaks, [Needs.swaks]],
  ["Python's smtplib", smtplib, [Needs.python]],
  ["Postfix as a relay", postfix, [Needs.postfix]]
] as const

layer(Layer.merge(TestInlet.layer(), WebhookReceiver.layer), { excludeTestServices: true })(
  "The mail of a foreign sender arrives as sent:",
  (it) => {
    for (const [name, send, needs] of clients) {
      for (const isEncrypted of [false, true]) {
        const title = `${name}, ${isEncrypted ? "over TLS" : "without TLS"}`
        const test = Effect.fnUntraced(function* () {
          yield* Needs.demand(...needs)
          const inlet = yield* TestInlet
          const receiver = yield* WebhookReceiver
          const { address, domainId, key, secret } = yield* inlet.inbox(receiver.url)
          const subject = `from ${name}`

          yield* send({ port: inlet.smtpPort, to: address, subject, isEncrypted })
          const { body, headers } = yield* receiver.next
          const event = yield* verify({ headers, rawBody: body, secret })
          assert.strictEqual(event.subject, subject)
          assert.strictEqual(event.text.trimEnd(), text.trimEnd())
          assert.strictEqual(event.recipient, address)
          const raw = yield* inlet.call("GET", `/api/domains/${domainId}/events/${event.event_id}/raw`, { key })
          const [, how] = /^Received: [^;]*?\bwith (\S+)/m.exec(raw.text) ?? []
          assert.strictEqual(how, isEncrypted ? "ESMTPS" : "ESMTP")
        })
        it.effect(title, test, Needs.options(...needs))
      }
    }
  }
)
