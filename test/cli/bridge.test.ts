import { mkdtempSync, readFileSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Miniflare } from "miniflare"
import { run } from "../CommandLine.ts"
import * as Mailbox from "../Mailbox.ts"
import * as Ports from "../Ports.ts"
import { TestInlet } from "../TestInlet.ts"

/** The worker that the command writes for a new inbox, and its configuration. */
const written = Effect.gen(function* () {
  const inlet = yield* TestInlet
  const inbox = yield* inlet.inbox()
  const folder = join(mkdtempSync(join(tmpdir(), "bridge-")), "worker")
  const env = { INLET_URL: inlet.url, INLET_API_KEY: inbox.key }
  const bridge = run(
    ["bridge", "cloudflare", "--domain", inbox.domain, "--folder", folder, "--public-url", inlet.url],
    env
  )
  const answer = yield* bridge
  assert.strictEqual(answer.code, 0, answer.stderr)
  const created = yield* inlet.call("POST", "/api/workspaces/keys", { key: inbox.key, body: { scope: "ingest" } })
  const script = readFileSync(join(folder, "worker.js"), "utf8")
  const text = readFileSync(join(folder, "wrangler.jsonc"), "utf8")
  // A configuration of the service in this process.
  const configuration: { compatibility_date: string; vars: Record<string, string> } = JSON.parse(text)
  const local = run(["bridge", "cloudflare", "--domain", inbox.domain], env)
  return {
    ...inbox,
    answer,
    bridge,
    local,
    script,
    text,
    configuration,
    key: inbox.key,
    relayKey: `${created.json.api_key}`
  }
})

const message = (id: string, ...more: ReadonlyArray<string>) =>
  [
    "Received: from mail.sender.example (203.0.113.9)",
    "        by cloudflare-email.net (cloudflare) id AbC123",
    "        for <someone@example.com>; Thu, 1 Jan 2026 00:00:00 +0000",
    "Received: from forged.example (198.51.100.1) by cloudflare-email.net",
    ...more,
    "From: Ada <ada@sender.example>",
    "To: someone@example.com",
    `Subject: ${id}`,
    `Message-ID: <${id}@sender.example>`,
    "",
    "Can you read this?",
    ""
  ].join("\r\n")

type Written = Effect.Success<typeof written>

/** What became of a mail in workerd: whether the worker threw, and the text with which it rejected. */
const mail = Effect.fnUntraced(function* (
  { address, configuration, relayKey, script }: Written,
  raw: string,
  { key = relayKey, to = address, url = "" } = {}
) {
  const bindings = {
    ...configuration.vars,
    INLET_INGEST_KEY: key,
    ...(url === "" ? {} : { INLET_URL: url, INLET_PATIENCE_MILLIS: "1000" })
  }
  const workerd = yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new Miniflare({
          modules: true,
          script,
          bindings,
          compatibilityDate: configuration.compatibility_date,
          unsafeTriggerHandlers: true
        })
    ),
    (workerd) => Effect.promise(() => workerd.dispose())
  )
  const query = new URLSearchParams({ from: "ada@sender.example", to, format: "json" })
  return yield* Effect.promise(() =>
    workerd
      .dispatchFetch(`http://localhost/cdn-cgi/handler/email?${query}`, { method: "POST", body: raw })
      .then((response) => response.json())
      .then((told) => {
        // Miniflare's answer in JSON.
        const { outcome, rejectReason = null } = told as { outcome: string; rejectReason?: string }
        return [outcome, rejectReason]
      })
  )
}, Effect.scoped)

/** A server that answers in this way. */
const server = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const made = createServer(listener)
      made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
    }),
    (made) =>
      Effect.sync(() => {
        made.closeAllConnections()
        made.close()
      })
    // Listening on a port.
  ).pipe(Effect.map((made) => `http://127.0.0.1:${(made.address() as AddressInfo).port}`))

const retried = ["exception", null]

layer(TestInlet.layer({ SENDER_CHECKS: "false", MAX_MESSAGE_BYTES: "65536" }), {
  excludeTestServices: true
})("The bridge for Cloudflare in workerd", (it) => {
  it.effect("is written without a key, and not over other files", () =>
    Effect.gen(function* () {
      const { answer, bridge, configuration, domainId, key, local, script, text } = yield* written
      const { url } = yield* TestInlet
      assert.deepStrictEqual(configuration.vars, { INLET_URL: url, INLET_DOMAIN_ID: domainId })
      assert.notInclude(`${answer.stdout}${script}${text}`, key)
      assert.match(answer.stdout, /npx wrangler secret put INLET_INGEST_KEY/)
      assert.match((yield* local).stderr, /^--public-url: http:\S+ is a URL of this machine\. /)
      const again = yield* bridge
      assert.match(again.stderr, /worker\.js exists\. Name another --folder/)
      assert.notStrictEqual(again.code, 0)
    })
  )

  it.effect("accepts a mail that Inlet has stored, with the client of the topmost Received field", () =>
    Effect.gen(function* () {
      const box = yield* written
      assert.deepStrictEqual(yield* mail(box, message("accepted")), ["ok", null])
      const [event] = yield* Mailbox.events(box)
      assert.deepStrictEqual(event.envelope, {
        from: "ada@sender.example",
        helo: "mail.sender.example",
        remoteAddress: "203.0.113.9",
        relayed: true
      })
      assert.deepStrictEqual([event.recipient, event.subject], [box.address, "accepted"])
      assert.isTrue((yield* Mailbox.raw(box, event.event_id)).endsWith(message("accepted")))
    })
  )

  it.effect("rejects what Inlet refuses for good, with its text", () =>
    Effect.gen(function* () {
      const box = yield* written
      const elsewhere = yield* mail(box, message("elsewhere"), { to: "someone@elsewhere.example" })
      assert.deepStrictEqual(elsewhere, ["ok", "5.1.2 This domain does not receive mail here"])
      const [outcome, reason] = yield* mail(box, `${message("large")}${"x".repeat(70_000)}\r\n`)
      assert.strictEqual(outcome, "ok")
      assert.match(`${reason}`, /^5\.3\.4 /)
    })
  )

  it.effect("throws over the quota of the day, so that the sender retries", () =>
    Effect.gen(function* () {
      const box = yield* written
      yield* Mailbox.acceptToday(box.domainId, 100)
      assert.deepStrictEqual(yield* mail(box, message("full")), retried)
    })
  )

  it.effect("throws with a wrong key, and rejects nothing", () =>
    Effect.gen(function* () {
      const box = yield* written
      assert.deepStrictEqual(yield* mail(box, message("wrong-key"), { key: `ak_ingest_${"x".repeat(43)}` }), retried)
    })
  )

  it.effect("throws on any other answer, also one of another server", () =>
    Effect.gen(function* () {
      const box = yield* written
      const smtp = { code: 550, enhanced: "5.1.2", text: "no" }
      for (const [status, body] of [
        [503, JSON.stringify({ error: "451 4.3.0", smtp: { ...smtp, code: 451 } })],
        [503, JSON.stringify({ error: "no", smtp })],
        [429, JSON.stringify({ error: "no" })],
        [422, JSON.stringify({ error: "Idempotency-Key: …" })],
        [404, JSON.stringify({ error: "no" })],
        [500, "<html>"],
        [404, "<html>"],
        [200, "<html>"],
        [202, "<html>"],
        [302, ""]
      ] as const) {
        const url = yield* server((request, response) => {
          request.resume()
          response.writeHead(status, status === 302 ? { location: "/elsewhere" } : {}).end(body)
        })
        assert.deepStrictEqual(yield* mail(box, message("other"), { url }), retried, `${status} ${body}`)
      }
    })
  )

  it.effect("throws if the service is away, hangs, or tears its answer", () =>
    Effect.gen(function* () {
      const box = yield* written
      const away = `http://127.0.0.1:${yield* Ports.free}`
      assert.deepStrictEqual(yield* mail(box, message("away"), { url: away }), retried)
      const hung = yield* server((request) => request.resume())
      assert.deepStrictEqual(yield* mail(box, message("hung"), { url: hung }), retried)
      const torn = yield* server((request, response) => {
        request.resume().on("end", () => {
          response.writeHead(202, { "content-length": "100" })
          response.write('{"inbound_email_id":')
          setImmediate(() => response.destroy())
        })
      })
      assert.deepStrictEqual(yield* mail(box, message("torn"), { url: torn }), retried)
      const cut = yield* server((request) => request.socket.destroy())
      assert.deepStrictEqual(yield* mail(box, message("cut"), { url: cut }), retried)
    })
  )

  it.effect("makes one event of a mail whose answer was lost, though Cloudflare writes new fields for the retry", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const box = yield* written
      const raw = (attempt: number) => message("lost").replace("AbC123", `attempt${attempt}`)
      // Stores the mail, and loses the answer.
      const lossy = yield* server((request, response) => {
        const chunks: Array<Buffer> = []
        request
          .on("data", (chunk) => chunks.push(chunk))
          .on("end", () => {
            Effect.runFork(
              Effect.ensuring(
                inlet.call("POST", request.url ?? "", {
                  key: box.relayKey,
                  body: Buffer.concat(chunks).toString(),
                  headers: { "content-type": "message/rfc822" }
                }),
                Effect.sync(() => response.destroy())
              )
            )
          })
      })
      assert.deepStrictEqual(yield* mail(box, raw(1), { url: lossy }), retried)
      assert.deepStrictEqual(yield* mail(box, raw(2)), ["ok", null])
      assert.lengthOf(yield* Mailbox.events(box), 1)
    })
  )
})
