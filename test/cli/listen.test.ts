import { createHmac, randomUUID } from "node:crypto"
import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { call } from "../ApiCall.ts"
import * as CommandLine from "../CommandLine.ts"
import { eventually } from "../Eventually.ts"
import * as Ports from "../Ports.ts"
import * as Program from "../Program.ts"

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

const listen = Effect.fnUntraced(function* (args: ReadonlyArray<string> = [], env: Program.Options["env"] = {}) {
  const port = yield* Ports.free
  const program = yield* Program.inlet(["listen", "--port", `${port}`, ...args], {
    INLET_WEBHOOK_SECRET: secret,
    ...env
  })
  const line = `Listening for webhooks on http://127.0.0.1:${port}\n`
  yield* program.says(line)
  assert.strictEqual(yield* program.stderr, line)
  return { ...program, url: `http://127.0.0.1:${port}` }
})

const event = (changes: Readonly<Record<string, unknown>> = {}) => ({
  event: "inbound.email.received",
  event_id: randomUUID(),
  recipient: "agent@example.com",
  from: "ada@sender.example",
  subject: "Hello",
  text: "one\ntwo\n",
  attachments: [{ filename: "notes.txt", contentType: "text/plain", size: 13 }],
  ...changes
})

/** A webhook request signed with Node's HMAC, not with Inlet's signer. */
const post = Effect.fnUntraced(function* (
  url: string,
  payload: { readonly event_id: string },
  { changedTo, key = secret }: { readonly changedTo?: string; readonly key?: string } = {}
) {
  const body = JSON.stringify(payload)
  const seconds = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
  return yield* call(url, "POST", "/any/path", {
    body: changedTo ?? body,
    headers: {
      "X-Service-Event-Id": payload.event_id,
      "X-Service-Timestamp": `${seconds}`,
      "X-Service-Signature": `t=${seconds},v1=${createHmac("sha256", key).update(`${seconds}.${body}`).digest("hex")}`
    }
  })
})

layer(NodeServices.layer, { excludeTestServices: true })("inlet listen", (it) => {
  it.effect("prints a verified event for people and answers 200", () =>
    Effect.gen(function* () {
      const program = yield* listen()
      const sent = event()
      const { json, status } = yield* post(program.url, sent)
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(json, { ok: true })
      yield* program.says("two")
      assert.strictEqual(
        yield* program.stdout,
        `✓ ${sent.event_id}  verified\n` +
          "  to       agent@example.com\n" +
          "  from     ada@sender.example\n" +
          "  subject  Hello\n" +
          "  file     notes.txt, text/plain, 13 bytes\n" +
          "  │ one\n" +
          "  │ two\n\n"
      )
    }).pipe(Effect.scoped)
  )

  it.effect("prints type and message of an operational event", () =>
    Effect.gen(function* () {
      const program = yield* listen()
      const sent = {
        type: "webhook.paused",
        event: "operational",
        event_id: randomUUID(),
        workspace_id: randomUUID(),
        occurred_at: "2026-01-31T12:00:00.000Z",
        message: "The webhook of example.com is paused"
      }
      assert.strictEqual((yield* post(program.url, sent)).status, 200)
      yield* program.says("is paused")
      assert.strictEqual(
        yield* program.stdout,
        `✓ ${sent.event_id}  verified\n` +
          "  type     webhook.paused\n" +
          "  message  The webhook of example.com is paused\n\n"
      )
    }).pipe(Effect.scoped)
  )

  it.effect("marks a repeated event and prints it once", () =>
    Effect.gen(function* () {
      const program = yield* listen()
      const sent = event({ text: "" })
      yield* post(program.url, sent)
      assert.strictEqual((yield* post(program.url, sent)).status, 200)
      const printed = yield* program.says(`✓ ${sent.event_id}  verified, request 2: the same event again\n`)
      assert.strictEqual(printed.split("subject  Hello").length, 2)
    }).pipe(Effect.scoped)
  )

  it.effect("answers 401 to an invalid signature and prints the reason", () =>
    Effect.gen(function* () {
      const program = yield* listen()
      const otherKey = yield* post(program.url, event(), { key: "whsec_other" })
      assert.strictEqual(otherKey.status, 401)
      assert.match(otherKey.json.error, /^The signature does not match/)
      yield* program.says("refused: The signature does not match")

      const sent = event()
      const changed = yield* post(program.url, sent, { changedTo: JSON.stringify({ ...sent, subject: "Evil" }) })
      assert.strictEqual(changed.status, 401)

      const unsigned = yield* call(program.url, "POST", "/", { body: sent })
      assert.strictEqual(unsigned.status, 401)
      assert.strictEqual(unsigned.json.error, "The header x-service-event-id is missing, or there are several")
      assert.strictEqual(yield* program.stdout, "")
    }).pipe(Effect.scoped)
  )

  it.effect("answers with --status after --delay", () =>
    Effect.gen(function* () {
      const program = yield* listen(["--status", "500", "--delay", "700ms"])
      const before = yield* Clock.currentTimeMillis
      const { json, status } = yield* post(program.url, event())
      assert.strictEqual(status, 500)
      assert.deepStrictEqual(json, { ok: false })
      assert.isAtLeast((yield* Clock.currentTimeMillis) - before, 690)
    }).pipe(Effect.scoped)
  )

  it.effect("prints each event once as a line of JSON with --json", () =>
    Effect.gen(function* () {
      const program = yield* listen(["--json"])
      const first = event({ subject: "First" })
      const second = event({ subject: "Second" })
      yield* post(program.url, first)
      yield* post(program.url, first)
      yield* post(program.url, second)
      yield* program.says("Second")
      const lines = yield* eventually(program.stdout, (text) => text.endsWith("\n") && text.includes("Second"))
      assert.deepStrictEqual(
        lines
          .trimEnd()
          .split("\n")
          .map((line): unknown => JSON.parse(line)),
        [first, second]
      )
      assert.include(yield* program.stderr, `${first.event_id}  verified, request 2`)
    }).pipe(Effect.scoped)
  )

  it.effect("prints no terminal escape sequence from a mail", () =>
    Effect.gen(function* () {
      const program = yield* listen()
      yield* post(program.url, event({ subject: "a\u001b[2Jb\u0007", text: "c\u001b]0;title\u0007d\te\r\nf" }))
      yield* program.says("f\n")
      const printed = yield* program.stdout
      assert.notMatch(printed, /[^\P{Cc}\t\n]/u)
      assert.include(printed, "│ c�]0;title�d\te")
    }).pipe(Effect.scoped)
  )

  it.effect("warns of a secret in its arguments, and reports a port in use", () =>
    Effect.gen(function* () {
      const { url } = yield* listen()
      const port = new URL(url).port
      const { code, stderr, stdout } = yield* Program.inletRun(["listen", "--secret", secret, "--port", port])
      assert.strictEqual(
        stderr,
        `Warning: --secret shows the secret in the list of processes. Use INLET_WEBHOOK_SECRET, --secret-file or a profile\n--port: 127.0.0.1:${port} is in use. Stop the program that listens there, or choose another port\n`
      )
      assert.strictEqual(stdout, "")
      assert.strictEqual(code, 1)
    }).pipe(Effect.scoped)
  )

  it.effect("exits when the npm that started it is killed", () =>
    Effect.gen(function* () {
      const port = yield* Ports.free
      const program = yield* Program.start("npm", ["run", "-s", "inlet", "--", "listen", "--port", `${port}`], {
        env: { INLET_WEBHOOK_SECRET: secret }
      })
      yield* program.says("Listening for webhooks")
      assert.strictEqual((yield* call(`http://127.0.0.1:${port}`, "GET", "/")).status, 404)
      // Kills only npm, which cannot forward this signal.
      process.kill(program.pid, "SIGKILL")
      yield* eventually(
        Effect.exit(call(`http://127.0.0.1:${port}`, "GET", "/")),
        (answer) => answer._tag === "Failure"
      )
    }).pipe(Effect.scoped)
  )

  it.effect("rejects an invalid flag before it listens", () =>
    Effect.gen(function* () {
      const wrong = [
        [["--secret", secret, "--status", "99"], "an HTTP status from 200 to 599"],
        [["--secret", secret, "--delay", "soon"], "a time such as 500ms or 3s"],
        [["--secret", secret, "--port", "70000"], "a port number from 1 to 65535"],
        [["--secret-file", "/nowhere/secret"], "--secret-file: "],
        [["--secret", "nonsense"], "This is no signing secret: it does not begin with whsec_"],
        [[], "No signing secret. Set INLET_WEBHOOK_SECRET"],
        [["--secret", secret, "--from-start"], "--from-start: Expected --forward-to URL beside it"],
        [["--forward-to", "http://localhost:1", "--port", "1"], "--port: Expected no --forward-to beside it"],
        [
          ["--forward-to", "http://localhost:1", "--take", "--from-start"],
          "--from-start: Expected no --take beside it"
        ],
        [["--forward-to", "ftp://app"], "--forward-to: Expected the URL of your app"]
      ] as const
      for (const [args, expected] of wrong) {
        const { code, stderr } = yield* CommandLine.run(["listen", ...args])
        assert.include(stderr, expected)
        assert.strictEqual(code, 1)
      }
    })
  )
})
