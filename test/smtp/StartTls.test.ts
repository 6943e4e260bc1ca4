import { spawnSync } from "node:child_process"
import { connect as connectPlain, type Socket } from "node:net"
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from "node:tls"
import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Context, Effect, FileSystem, Layer, Logger } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { generate } from "selfsigned"
import { Intake } from "../../src/intake/Intake.ts"
import * as SmtpServer from "../../src/smtp/SmtpServer.ts"
import * as Tls from "../../src/smtp/Tls.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import * as Ports from "../Ports.ts"
import * as SmtpDialog from "../SmtpDialog.ts"
import { TestInlet } from "../TestInlet.ts"

/** What comes next over a socket: one reply, if one is due; the error or the end otherwise. */
const heard = (socket: Socket) =>
  Effect.callback<string>((resume) => {
    const settle = (text: string) => {
      socket.off("data", onData).off("close", onClose)
      resume(Effect.succeed(text.trimEnd()))
    }
    const onData = (chunk: Buffer) => settle(chunk.toString())
    const onClose = () => settle("closed")
    if (socket.destroyed) resume(Effect.succeed("closed"))
    else socket.on("data", onData).on("close", onClose)
  }).pipe(Effect.timeoutOrElse({ duration: "10 seconds", orElse: () => Effect.succeed("nothing within 10 s") }))

const say = (socket: Socket, line: string) =>
  Effect.andThen(
    Effect.sync(() => void socket.write(`${line}\r\n`)),
    heard(socket)
  )

/** A session up to the 220 of STARTTLS; `behind` is sent in the packet of the command. */
const askForTls = Effect.fnUntraced(function* (port: number, before: ReadonlyArray<string>, behind = "") {
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => connectPlain(port, "127.0.0.1").on("error", () => {})),
    (socket) => Effect.sync(() => socket.destroy())
  )
  yield* heard(socket)
  yield* say(socket, "EHLO client.example")
  for (const line of before) yield* say(socket, line)
  assert.match(yield* say(socket, `STARTTLS\r\n${behind}`.trimEnd()), /^220 /)
  return socket
})

/** The handshake; null when it fails. */
const handshake = (socket: Socket, options: ConnectionOptions = { rejectUnauthorized: false }) =>
  Effect.callback<TLSSocket | null>((resume) => {
    const secure = connectTls({ socket, ...options }, () => resume(Effect.succeed(secure)))
    secure.on("error", () => resume(Effect.succeed(null)))
    secure.on("close", () => resume(Effect.succeed(null)))
  })

const secured = (socket: Socket, options?: ConnectionOptions) =>
  handshake(socket, options).pipe(Effect.flatMap(Effect.fromNullishOr), Effect.orDie)

const hasPython = spawnSync("python3", ["--version"]).status === 0

layer(TestInlet.layer(), { excludeTestServices: true, timeout: "60 seconds" })("STARTTLS", (it) => {
  it.effect("encrypts the session, whose mail is then received with ESMTPS", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const secure = yield* secured(yield* askForTls(inlet.smtpPort, []))
      assert.match(yield* say(secure, "EHLO client.example"), /^250-mx\.inlet\.test (?!.*STARTTLS)/s)
      assert.match(yield* say(secure, "MAIL FROM:<sender@sender.example>"), /^250 /)
      assert.match(yield* say(secure, `RCPT TO:<${inbox.address}>`), /^250 /)
      assert.match(yield* say(secure, "DATA"), /^354 /)
      assert.match(yield* say(secure, "Subject: encrypted\r\n\r\nbody\r\n."), /^250 /)
      const [event] = yield* Mailbox.events(inbox)
      assert.match(yield* Mailbox.raw(inbox, event.event_id), /\r\nReceived: [^;]* with ESMTPS id /)
    })
  )

  it.effect("is what nodemailer does by itself, and mail without it is received with ESMTP", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* Mail.send(inlet.smtpPort, { to: inbox.address })
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, "Subject: plain\r\n\r\n")
      const [encrypted, plain] = yield* Mailbox.events(inbox)
      assert.match(yield* Mailbox.raw(inbox, encrypted.event_id), /\r\nReceived: [^;]* with ESMTPS id /)
      assert.match(yield* Mailbox.raw(inbox, plain.event_id), /\r\nReceived: [^;]* with ESMTP id /)
    })
  )

  it.effect("forgets what was said before it, and everything that was sent behind it in plain text", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const before = ["MAIL FROM:<sender@sender.example>", `RCPT TO:<${inbox.address}>`]
      const injected = `VRFY injected\r\nEHLO injected.example\r\n${before.join("\r\n")}\r\n${"VRFY injected\r\n".repeat(300)}`
      const secure = yield* secured(yield* askForTls(inlet.smtpPort, before, injected))
      // The first thing heard inside is the answer to this.
      assert.match(yield* say(secure, "NOOP"), /^250 2\.0\.0 OK$/)
      assert.match(yield* say(secure, "DATA"), /^503 /)
      assert.match(yield* say(secure, "MAIL FROM:<sender@sender.example>"), /^503 /)
      yield* say(secure, "EHLO client.example")
      assert.match(yield* say(secure, `RCPT TO:<${inbox.address}>`), /^503 /)
    })
  )

  it.effect("takes no argument, and no second time", () =>
    Effect.gen(function* () {
      const { smtpPort } = yield* TestInlet
      const dialog = yield* SmtpDialog.open(smtpPort)
      yield* dialog.say("EHLO client.example")
      assert.match(yield* dialog.say("STARTTLS now"), /^501 /)
      const secure = yield* secured(yield* askForTls(smtpPort, []))
      yield* say(secure, "EHLO client.example")
      assert.match(yield* say(secure, "STARTTLS"), /^503 /)
    })
  )

  it.effect("closes on garbage in the place of a handshake, and the server lives", () =>
    Effect.gen(function* () {
      const { smtpPort } = yield* TestInlet
      const socket = yield* askForTls(smtpPort, [])
      const closed = yield* say(socket, "MAIL FROM:<sender@sender.example>".repeat(10)).pipe(
        // An alert may come first.
        Effect.repeat({ until: (text) => text === "closed", times: 3 })
      )
      assert.strictEqual(closed, "closed")
      assert.match((yield* SmtpDialog.open(smtpPort)).greeting, /^220 /)
    })
  )

  it.effect("speaks TLS 1.2 and later", () =>
    Effect.gen(function* () {
      const { smtpPort } = yield* TestInlet
      const old = { rejectUnauthorized: false, ciphers: "DEFAULT@SECLEVEL=0", minVersion: "TLSv1" } as const
      assert.isNull(yield* handshake(yield* askForTls(smtpPort, []), { ...old, maxVersion: "TLSv1.1" }))
      const secure = yield* secured(yield* askForTls(smtpPort, []), { ...old, maxVersion: "TLSv1.2" })
      assert.strictEqual(secure.getProtocol(), "TLSv1.2")
    })
  )

  it.effect("shows a certificate for the name of the mail host where none is configured", () =>
    Effect.gen(function* () {
      const { smtpPort } = yield* TestInlet
      const secure = yield* secured(yield* askForTls(smtpPort, []))
      assert.strictEqual(secure.getPeerCertificate().subject.CN, "mx.inlet.test")
    })
  )

  it.effect.runIf(hasPython)("takes what Python's smtplib sends over it", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
      const script = `
import smtplib, ssl, sys
from email.message import EmailMessage
message = EmailMessage()
message["From"] = "Ada <ada@sender.example>"
message["To"] = sys.argv[2]
message["Subject"] = "Schöne Grüße"
message.set_content("Hällo\\n.\\n..two\\n")
message.add_attachment(bytes(range(256)), maintype="application", subtype="octet-stream", filename="bytes.bin")
with smtplib.SMTP("127.0.0.1", int(sys.argv[1]), timeout=10) as smtp:
    smtp.starttls(context=ssl._create_unverified_context())
    print(smtp.send_message(message))
`
      const output = yield* spawner.string(
        ChildProcess.make("python3", ["-c", script, `${inlet.smtpPort}`, inbox.address], {
          env: { PYTHONIOENCODING: "utf-8", PYTHONUTF8: "1" },
          extendEnv: true
        })
      )
      assert.strictEqual(output.trim(), "{}")
      const [event] = yield* Mailbox.events(inbox)
      assert.deepInclude(event, { from: "ada@sender.example", subject: "Schöne Grüße", text: "Hällo\n.\n..two\n" })
      assert.deepInclude(event.attachments[0], {
        filename: "bytes.bin",
        contentType: "application/octet-stream",
        size: 256
      })
    }).pipe(Effect.provide(NodeServices.layer))
  )
})

const files = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-tls-" })
  const made = yield* Effect.promise(() =>
    generate([{ name: "commonName", value: "mail.customer.example" }], {
      keyType: "ec",
      algorithm: "sha256",
      extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: "mail.customer.example" }] }]
    })
  )
  const write = (name: string, text: string) =>
    Effect.as(fs.writeFileString(`${folder}/${name}`, text), `${folder}/${name}`)
  return {
    SMTP_TLS_CERT: yield* write("chain.pem", made.cert),
    SMTP_TLS_KEY: yield* write("key.pem", made.private)
  }
}).pipe(Effect.provide(NodeServices.layer))

class SmtpPort extends Context.Service<SmtpPort, number>()("inlet/test/SmtpPort") {}

const Certified = Layer.unwrap(
  Effect.gen(function* () {
    const settings = yield* files
    const port = yield* Ports.free
    return Layer.succeed(SmtpPort, port).pipe(
      Layer.provideMerge(SmtpServer.layer),
      Layer.provide([Layer.mock(Intake, {}), Logger.layer([])]),
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { SMTP_PORT: `${port}`, ...settings } })))
    )
  })
)

layer(Certified, { excludeTestServices: true })("STARTTLS with a certificate of one's own", (it) => {
  it.effect("shows that certificate", () =>
    Effect.gen(function* () {
      const secure = yield* secured(yield* askForTls(yield* SmtpPort, []))
      assert.strictEqual(secure.getPeerCertificate().subject.CN, "mail.customer.example")
    })
  )

  it.effect.each([
    ["SMTP_TLS_KEY", { SMTP_TLS_CERT: "/dev/null" }],
    ["SMTP_TLS_CERT", { SMTP_TLS_KEY: "/dev/null" }],
    ["SMTP_TLS_KEY", { SMTP_TLS_CERT: "/dev/null", SMTP_TLS_KEY: "/nowhere/key.pem" }],
    ["SMTP_TLS_CERT", { SMTP_TLS_CERT: import.meta.filename, SMTP_TLS_KEY: import.meta.filename }]
  ] as const)("can't start without a usable %s, and names it", ([setting, env]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Tls.keyPair)
      assert.strictEqual(error._tag, "TlsUnusable")
      assert.include(error.message, setting)
    }).pipe(Effect.provide([NodeServices.layer, ConfigProvider.layer(ConfigProvider.fromEnv({ env }))]))
  )
})
