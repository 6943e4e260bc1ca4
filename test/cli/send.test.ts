import { createServer } from "node:net"
import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import * as CommandLine from "../CommandLine.ts"
import * as Ports from "../Ports.ts"
import type * as Program from "../Program.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

/** Runs `inlet send …` until it exits. */
const send = (args: ReadonlyArray<string>, env: Program.Options["env"] = {}) => CommandLine.run(["send", ...args], env)

layer(Layer.mergeAll(TestInlet.layer(), WebhookReceiver.layer, NodeServices.layer), {
  excludeTestServices: true
})("inlet send", (it) => {
  it.effect("sends a mail with sender, subject, text and a file, and prints the server's reply", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const inbox = yield* inlet.inbox(receiver.url)
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* fs.makeTempDirectoryScoped()}/invoice.csv`
      yield* fs.writeFileString(file, "id,amount\n1,12.50\n")

      const { code, stderr, stdout } = yield* send(
        ["--from", "ada@sender.example", "--to", inbox.address, "--subject", "Grüße", "--text", "Hi", "--attach", file],
        { SMTP_PORT: `${inlet.smtpPort}` }
      )
      assert.match(stdout, /^250 .* {2}<[^>]+>\n$/)
      assert.strictEqual(stderr, "")
      assert.strictEqual(code, 0)

      const { event } = yield* receiver.next
      assert.strictEqual(event.from, "ada@sender.example")
      assert.strictEqual(event.subject, "Grüße")
      assert.strictEqual(event.text, "Hi")
      assert.strictEqual(event.attachments.length, 1)
      assert.strictEqual(event.attachments[0].filename, "invoice.csv")
      assert.strictEqual(event.attachments[0].contentType, "text/csv")
      assert.strictEqual(event.attachments[0].size, 18)
    }).pipe(Effect.scoped)
  )

  it.effect("connects to the server of --host and --port", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { address } = yield* inlet.inbox()
      const { code, stdout } = yield* send(["--to", address, "--host", "127.0.0.1", "--port", `${inlet.smtpPort}`], {
        SMTP_PORT: "1"
      })
      assert.match(stdout, /^250 /)
      assert.strictEqual(code, 0)
    })
  )

  it.effect("prints the server's refusal of the recipient in one line and exits with 1", () =>
    Effect.gen(function* () {
      const { smtpPort } = yield* TestInlet
      const { code, stderr, stdout } = yield* send(["--to", "who@unknown.example", "--port", `${smtpPort}`])
      assert.strictEqual(stdout, "")
      assert.match(stderr, /^127\.0\.0\.1:\d+ refused the mail: 550 5\.1\.2 [^\n]+\n$/)
      assert.strictEqual(code, 1)
    })
  )

  it.effect("lists the refused recipients after the reply for the accepted ones", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { address } = yield* inlet.inbox()
      const { code, stderr, stdout } = yield* send(["--to", `${address}, who@unknown.example`], {
        SMTP_PORT: `${inlet.smtpPort}`
      })
      assert.match(stdout, /^250 /)
      assert.match(stderr, /^[^\n]*550 5\.1\.2 [^\n]+\n$/)
      assert.strictEqual(code, 1)
    })
  )

  it.effect("reports an unreachable server in one line", () =>
    Effect.gen(function* () {
      const port = yield* Ports.free
      const { code, stderr } = yield* send(["--to", "ada@unknown.example", "--port", `${port}`])
      assert.strictEqual(
        stderr,
        `No mail server answers at 127.0.0.1:${port} (connect ECONNREFUSED 127.0.0.1:${port}). Start Inlet, or name another one with --host and --port\n`
      )
      assert.strictEqual(code, 1)
    })
  )

  it.effect("says that no mail server answers where one closes the connection without a reply", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const port = yield* Ports.free
        const closing = createServer((socket) => socket.end())
        yield* Effect.acquireRelease(
          Effect.callback<void>((resume) => void closing.listen(port, "127.0.0.1", () => resume(Effect.void))),
          () => Effect.sync(() => closing.close())
        )
        const { code, stderr } = yield* send(["--to", "ada@unknown.example", "--port", `${port}`])
        assert.strictEqual(
          stderr,
          `No mail server answers at 127.0.0.1:${port} (Connection closed unexpectedly). Start Inlet, or name another one with --host and --port\n`
        )
        assert.strictEqual(code, 1)
      })
    )
  )

  it.effect("rejects an invalid flag", () =>
    Effect.gen(function* () {
      const missing = yield* send([])
      assert.include(missing.stderr, "Missing required flag: --to")
      assert.strictEqual(missing.code, 1)

      const noAddress = yield* send(["--to", "ada"])
      assert.include(noAddress.stderr, "Expected an address such as inbox@example.com")
      assert.strictEqual(noAddress.code, 1)

      const noSender = yield* send(["--to", "ada@unknown.example", "--from", "bad"])
      assert.include(noSender.stderr, "Expected an address such as ada@example.com")
      assert.strictEqual(noSender.code, 1)

      const noFile = yield* send(["--to", "ada@unknown.example", "--attach", "/no/such/file"])
      assert.include(noFile.stderr, "Path does not exist: /no/such/file")
      assert.strictEqual(noFile.code, 1)

      const setting = yield* send(["--to", "ada@unknown.example"], { SMTP_PORT: "abc" })
      assert.strictEqual(setting.stderr, "SMTP_PORT: Expected a port number from 0 to 65535\n")
      assert.strictEqual(setting.code, 1)
    })
  )
})
