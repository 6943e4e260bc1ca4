import { connect as connectPlain, type Socket } from "node:net"
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from "node:tls"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, Context, DateTime, Effect, FileSystem, Layer } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { generate } from "selfsigned"
import * as Tls from "../../src/smtp/Tls.ts"
import { eventually } from "../Eventually.ts"
import * as InletProcess from "../InletProcess.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import * as Needs from "../Needs.ts"
import * as SmtpDialog from "../SmtpDialog.ts"
import { TestInlet } from "../TestInlet.ts"
import { SmtpAlone } from "./SmtpAlone.ts"

/** The next reply on a socket, or its error or end. */
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

/** A session up to the 220 of STARTTLS. `behind` is sent in the packet of the command. */
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

/** The TLS handshake, or null on failure. */
const handshake = (socket: Socket, options: ConnectionOptions = { rejectUnauthorized: false }) =>
  Effect.callback<TLSSocket | null>((resume) => {
    const secure = connectTls({ socket, ...options }, () => resume(Effect.succeed(secure)))
    secure.on("error", () => resume(Effect.succeed(null)))
    secure.on("close", () => resume(Effect.succeed(null)))
  })

const secured = (socket: Socket, options?: ConnectionOptions) =>
  handshake(socket, options).pipe(Effect.flatMap(Effect.fromNullishOr), Effect.orDie)

layer(TestInlet.layer(), { excludeTestServices: true })("STARTTLS", (it) => {
  it.effect("encrypts the session, and its mail has ESMTPS in Received", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const secure = yield* secured(yield* askForTls(inlet.smtpPort, []))
      assert.match(yield* say(secure, "EHLO client.example"), /^250-mx\.inlet\.test (?!.*STARTTLS)/s)
      assert.match(yield* say(secure, "MAIL FROM:<sender@sender.example>"), /^250 /)
      assert.match(yield* say(secure, `RCPT TO:<${inbox.address}>`), /^250 /)
      assert.match(yield* say(secure, "DATA"), /^354 /)
      assert.match(yield* say(secure, "Subject: encrypted\r\n\r\nbody\n..\r\n..\r\n."), /^250 /)
      const [event] = yield* Mailbox.accepted(inbox)
      const raw = yield* Mailbox.raw(inbox, event.event_id)
      assert.match(raw, /\r\nReceived: [^;]* with ESMTPS id /)
      // The dots of a message in plain text.
      assert.isTrue(raw.endsWith("\r\n\r\nbody\n..\r\n.\r\n"))
    })
  )

  it.effect("is used by nodemailer, and mail without it has ESMTP in Received", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* Mail.send(inlet.smtpPort, { to: inbox.address })
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, "Subject: plain\r\n\r\n")
      const [encrypted, plain] = yield* Mailbox.accepted(inbox)
      assert.match(yield* Mailbox.raw(inbox, encrypted.event_id), /\r\nReceived: [^;]* with ESMTPS id /)
      assert.match(yield* Mailbox.raw(inbox, plain.event_id), /\r\nReceived: [^;]* with ESMTP id /)
    })
  )

  it.effect("discards the earlier session and everything pipelined in plain text", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const before = ["MAIL FROM:<sender@sender.example>", `RCPT TO:<${inbox.address}>`]
      const injected = `VRFY injected\r\nEHLO injected.example\r\n${before.join("\r\n")}\r\n${"VRFY injected\r\n".repeat(300)}`
      const secure = yield* secured(yield* askForTls(inlet.smtpPort, before, injected))
      // The first reply inside TLS answers this command.
      assert.match(yield* say(secure, "NOOP"), /^250 2\.0\.0 OK$/)
      assert.match(yield* say(secure, "DATA"), /^503 /)
      assert.match(yield* say(secure, "MAIL FROM:<sender@sender.example>"), /^503 /)
      yield* say(secure, "EHLO client.example")
      assert.match(yield* say(secure, `RCPT TO:<${inbox.address}>`), /^503 /)
    })
  )

  it.effect("accepts no argument and no repetition", () =>
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

  it.effect("disconnects after garbage instead of a handshake, and the server continues", () =>
    Effect.gen(function* () {
      const { smtpPort } = yield* TestInlet
      const socket = yield* askForTls(smtpPort, [])
      const closed = yield* say(socket, "MAIL FROM:<sender@sender.example>".repeat(10)).pipe(
        // An alert may arrive first.
        Effect.repeat({ until: (text) => text === "closed", times: 3 })
      )
      assert.strictEqual(closed, "closed")
      assert.match((yield* SmtpDialog.open(smtpPort)).greeting, /^220 /)
    })
  )

  it.effect("supports TLS 1.2 and later", () =>
    Effect.gen(function* () {
      const { smtpPort } = yield* TestInlet
      const old = { rejectUnauthorized: false, ciphers: "DEFAULT@SECLEVEL=0", minVersion: "TLSv1" } as const
      assert.isNull(yield* handshake(yield* askForTls(smtpPort, []), { ...old, maxVersion: "TLSv1.1" }))
      const secure = yield* secured(yield* askForTls(smtpPort, []), { ...old, maxVersion: "TLSv1.2" })
      assert.strictEqual(secure.getProtocol(), "TLSv1.2")
    })
  )

  it.effect("presents a self-signed certificate for the mail host by default", () =>
    Effect.gen(function* () {
      const { smtpPort } = yield* TestInlet
      const secure = yield* secured(yield* askForTls(smtpPort, []))
      assert.strictEqual(secure.getPeerCertificate().subject.CN, "mx.inlet.test")
    })
  )

  it.effect(
    "works with smtplib of Python",
    () =>
      Effect.gen(function* () {
        yield* Needs.demand(Needs.python)
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
        const [event] = yield* Mailbox.accepted(inbox)
        assert.deepInclude(event, { from: "ada@sender.example", subject: "Schöne Grüße", text: "Hällo\n.\n..two\n" })
        assert.deepInclude(event.attachments[0], {
          filename: "bytes.bin",
          contentType: "application/octet-stream",
          size: 256
        })
      }).pipe(Effect.provide(NodeServices.layer)),
    Needs.options(Needs.python)
  )
})

const dateOf = (text: string) => DateTime.toDateUtc(DateTime.makeUnsafe(text))

const certificateFor = (name: string, days?: { readonly from: string; readonly to: string }) =>
  Effect.promise(() =>
    generate([{ name: "commonName", value: name }], {
      keyType: "ec",
      algorithm: "sha256",
      ...(days === undefined ? {} : { notBeforeDate: dateOf(days.from), notAfterDate: dateOf(days.to) }),
      extensions: [{ name: "subjectAltName", altNames: [{ type: 2, value: name }] }]
    })
  )

/** A certificate and key in files that can be replaced. */
const files = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-tls-" })
  const settings = { SMTP_TLS_CERT: `${folder}/chain.pem`, SMTP_TLS_KEY: `${folder}/key.pem` }
  const write = (setting: keyof typeof settings, text: string) =>
    Effect.orDie(fs.writeFileString(settings[setting], text))
  const writeFor = Effect.fnUntraced(function* (...options: Parameters<typeof certificateFor>) {
    const made = yield* certificateFor(...options)
    yield* write("SMTP_TLS_CERT", made.cert)
    yield* write("SMTP_TLS_KEY", made.private)
    return made
  })
  return { settings, write, writeFor }
}).pipe(Effect.provide(NodeServices.layer))

class Certificate extends Context.Service<Certificate, Effect.Success<typeof files>>()("inlet/test/Certificate") {}

const Certified = Layer.unwrap(
  Effect.gen(function* () {
    const certificate = yield* files
    yield* certificate.writeFor("mail.customer.example")
    return SmtpAlone.layer({ settings: certificate.settings }).pipe(
      Layer.provide(Layer.succeed(Tls.CertificateLooks, { milliseconds: 20 })),
      Layer.provideMerge(Layer.succeed(Certificate, certificate))
    )
  })
)

/** The name in the certificate that a client receives now. */
const shown = Effect.scoped(
  Effect.gen(function* () {
    const secure = yield* secured(yield* askForTls((yield* SmtpAlone).port, []))
    return secure.getPeerCertificate().subject.CN
  })
)

layer(Certified, { excludeTestServices: true })("STARTTLS with a configured certificate", (it) => {
  it.effect("presents it, and a new one soon after its files change, also to connected clients", () =>
    Effect.gen(function* () {
      const { writeFor } = yield* Certificate
      const { logged, port } = yield* SmtpAlone
      assert.strictEqual(yield* shown, "mail.customer.example")
      const early = yield* Effect.acquireRelease(
        Effect.sync(() => connectPlain(port, "127.0.0.1").on("error", () => {})),
        (socket) => Effect.sync(() => socket.destroy())
      )
      yield* heard(early)
      yield* writeFor("renewed.customer.example")
      yield* eventually(shown, (name) => name === "renewed.customer.example")
      yield* say(early, "EHLO client.example")
      yield* say(early, "STARTTLS")
      assert.strictEqual((yield* secured(early)).getPeerCertificate().subject.CN, "renewed.customer.example")
      assert.strictEqual(logged.filter((line) => line.includes("was renewed")).length, 1)
    })
  )

  it.effect("keeps its certificate while the files are empty, incomplete or mismatched, and logs it once each", () =>
    Effect.gen(function* () {
      const { write, writeFor } = yield* Certificate
      const { logged } = yield* SmtpAlone
      yield* writeFor("good.customer.example")
      yield* eventually(shown, (name) => name === "good.customer.example")
      const complaints = () =>
        logged.filter((line) => line.includes("The new certificate for STARTTLS is invalid")).length
      const other = yield* certificateFor("other.customer.example")
      for (const broken of ["", other.cert.slice(0, 200), other.cert]) {
        const before = complaints()
        yield* write("SMTP_TLS_CERT", broken)
        yield* eventually(Effect.sync(complaints), (now) => now > before)
        // After several polls.
        yield* Effect.sleep("100 millis")
        // A file may be read while it is written.
        assert.isAtMost(complaints() - before, 2)
        assert.strictEqual(yield* shown, "good.customer.example")
      }
      yield* write("SMTP_TLS_KEY", other.private)
      yield* eventually(shown, (name) => name === "other.customer.example")
    })
  )

  it.effect("continues with an expired certificate", () =>
    Effect.gen(function* () {
      const { writeFor } = yield* Certificate
      const { logged } = yield* SmtpAlone
      yield* writeFor("old.customer.example", { from: "2020-01-01", to: "2020-02-01" })
      yield* eventually(shown, (name) => name === "old.customer.example")
      assert.isTrue(logged.some((line) => line.includes("The certificate expired on")))
    })
  )
})

const keyOnly = Effect.map(certificateFor("key.example"), (made) => made.private)

layer(Layer.empty, { excludeTestServices: true })("A start", (it) => {
  it.effect.each([
    ["SMTP_TLS_KEY", { SMTP_TLS_CERT: "/dev/null" }],
    ["SMTP_TLS_CERT", { SMTP_TLS_KEY: "/dev/null" }],
    ["SMTP_TLS_KEY", { SMTP_TLS_CERT: "/dev/null", SMTP_TLS_KEY: "/nowhere/key.pem" }],
    ["SMTP_TLS_CERT", { SMTP_TLS_CERT: import.meta.filename, SMTP_TLS_KEY: import.meta.filename }],
    ["SMTP_TLS_CERT", { SMTP_TLS_CERT: "/dev/null", SMTP_TLS_KEY: "/dev/null" }]
  ] as const)("is refused without a valid %s, with the name of the setting", ([setting, env]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Tls.keyPair)
      assert.strictEqual(error._tag, "TlsUnusable")
      assert.include(error.message, setting)
    }).pipe(Effect.provide([NodeServices.layer, ConfigProvider.layer(ConfigProvider.fromEnv({ env }))]))
  )

  it.effect.each(["SMTP_TLS_CERT", "SMTP_TLS_KEY"] as const)(
    "is refused if %s is invalid beside a valid one",
    (setting) =>
      Effect.gen(function* () {
        const { settings, write, writeFor } = yield* files
        yield* writeFor("mail.customer.example")
        // A key in place of the certificate, and the reverse.
        yield* write(setting, setting === "SMTP_TLS_CERT" ? yield* keyOnly : "")
        const error = yield* Tls.keyPair.pipe(
          Effect.flip,
          Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: settings })))
        )
        assert.match(error.message, new RegExp(`^${setting}: Expected`))
      }).pipe(Effect.provide(NodeServices.layer))
  )
})

describe("SIGHUP", () => {
  it.live("makes a process present its new certificate at once", () =>
    Effect.gen(function* () {
      const { settings, writeFor } = yield* files
      yield* writeFor("mail.customer.example")
      const inlet = yield* InletProcess.start({ ...(yield* InletProcess.installation), ...settings })
      yield* writeFor("renewed.customer.example")
      yield* inlet.signal("SIGHUP")
      const named = Effect.scoped(
        Effect.map(
          Effect.flatMap(askForTls(inlet.smtpPort, []), (socket) => secured(socket)),
          (secure) => secure.getPeerCertificate().subject.CN
        )
      )
      yield* eventually(named, (name) => name === "renewed.customer.example")
    })
  )
})
