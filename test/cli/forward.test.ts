import type { ServerResponse } from "node:http"
import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Array, Deferred, Effect, Fiber, FileSystem, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Webhook } from "standardwebhooks"
import { verify } from "../../src/effect.ts"
import type { Answer } from "../ApiCall.ts"
import * as CommandLine from "../CommandLine.ts"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import * as Ports from "../Ports.ts"
import * as Program from "../Program.ts"
import { TestInlet } from "../TestInlet.ts"
import { type ReceivedRequest, WebhookReceiver } from "../WebhookReceiver.ts"
import * as Listener from "./Listener.ts"

/** An inbox without a webhook, and an app on loopback. */
const developer = Effect.gen(function* () {
  const inlet = yield* TestInlet
  const fs = yield* FileSystem.FileSystem
  const inbox = yield* inlet.inbox()
  const app = yield* WebhookReceiver.make
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-test-" })
  const file = `${folder}/place.json`
  return {
    inbox,
    app,
    folder,
    file,
    /** Sends a mail and returns its event id. */
    send: Effect.fnUntraced(function* (subject: string) {
      yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject })
      const events = yield* Mailbox.events(inbox)
      return events.find((event) => event.subject === subject).event_id as string
    }),
    listen: (options: Partial<Parameters<typeof Listener.start>[1]> = {}) =>
      Listener.start(inbox, { url: app.url, file, ...options })
  }
})

const isTrusted = Effect.fnUntraced(function* ({ body, headers }: ReceivedRequest, secret: string) {
  yield* Effect.orDie(verify({ headers, rawBody: body, secret }))
  new Webhook(secret).verify(body, {
    "webhook-id": `${headers["webhook-id"]}`,
    "webhook-timestamp": `${headers["webhook-timestamp"]}`,
    "webhook-signature": `${headers["webhook-signature"]}`
  })
})

// A leftover stream would occupy a slot.
layer(
  Layer.mergeAll(
    TestInlet.layer({ HTTP_MAX_WAITS_PER_WORKSPACE: "2", WEBHOOK_RETRY_DELAYS: "50ms" }),
    NodeServices.layer
  ),
  {
    excludeTestServices: true
  }
)("inlet listen --forward-to", (it) => {
  it.effect("posts each new mail to the app as its webhook would, and saves the position", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const fs = yield* FileSystem.FileSystem
      const { app, folder, inbox, send } = yield* developer
      yield* send("before it listened")
      const env = {
        INLET_URL: inlet.url,
        INLET_API_KEY: inbox.key,
        INLET_PROFILE: undefined,
        INLET_WEBHOOK_SECRET: undefined,
        XDG_STATE_HOME: folder
      }
      const program = yield* Program.inlet(["listen", "--forward-to", app.url], env)
      yield* program.says("Copies go to")
      const eventId = yield* send("Grüße 📬")
      const request = yield* app.next
      assert.strictEqual(request.event.event_id, eventId)
      assert.strictEqual(request.headers["content-type"], "application/json")
      assert.notProperty(request.headers, "traceparent")
      yield* isTrusted(request, inbox.secret)
      const lines = yield* eventually(program.stdout, (text) => text.endsWith("\n"))
      assert.match(
        lines,
        new RegExp(`^[\\d-]+T[\\d:.]+Z {2}200 {2}\\d+ ms {2}${eventId} {2}${inbox.address} {2}Grüße 📬\n$`)
      )
      yield* program.kill("SIGKILL")
      const place = yield* fs.readFileString(`${folder}/inlet/listen/${inbox.domainId}.json`)
      assert.deepStrictEqual(JSON.parse(place), { domain_id: inbox.domainId, after: eventId })
      const events = yield* Mailbox.events(inbox)
      assert.deepStrictEqual(
        events.map(({ delivery }) => [delivery.status, delivery.attempts]),
        Array.replicate(["held", 0], 2)
      )
    }).pipe(Effect.scoped)
  )

  it.effect("retries a refused event before any later one and reports it", () =>
    Effect.gen(function* () {
      const { app, inbox, listen, send } = yield* developer
      const { lines } = yield* listen({ json: true })
      yield* app.answerWith(500, { status: 302, headers: { location: app.url } }, 200)
      yield* send("first")
      yield* send("second")
      const all = yield* eventually(app.all, (requests) => requests.length === 4)
      assert.deepStrictEqual(
        all.map(({ event }) => event.subject),
        ["first", "first", "first", "second"]
      )
      yield* Effect.forEach(all, (request) => isTrusted(request, inbox.secret))
      const printed = yield* eventually(lines, ({ length }) => length === 4)
      assert.deepStrictEqual(
        printed
          .map((line) => JSON.parse(line))
          .map(({ error, retryMs, statusCode, subject }) => [subject, statusCode, error, retryMs]),
        [
          ["first", 500, "the app answered 500", 250],
          ["first", 302, "the app answered 302", 500],
          ["first", 200, null, undefined],
          ["second", 200, null, undefined]
        ]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("waits for an app that is not up, and leaves unanswered events to the next run", () =>
    Effect.gen(function* () {
      const { app, listen, send } = yield* developer
      const early = yield* listen({ url: `http://127.0.0.1:${yield* Ports.free}/` })
      yield* send("early")
      const [line] = yield* eventually(early.lines, ({ length }) => length > 0)
      assert.match(line ?? "", / {2}--- {2}\d+ ms .* early {2}connect ECONNREFUSED \S+ {2}again in 250ms$/)
      yield* early.stop
      yield* listen()
      assert.strictEqual((yield* app.next).event.subject, "early")
    }).pipe(Effect.scoped)
  )

  it.effect("resumes after the last accepted event or from --since", () =>
    Effect.gen(function* () {
      const { app, file, listen, send } = yield* developer
      const fs = yield* FileSystem.FileSystem
      const subject = Effect.map(app.next, ({ event }) => event.subject)
      const first = yield* listen()
      const one = yield* send("one")
      assert.strictEqual(yield* subject, "one")
      yield* eventually(fs.readFileString(file), (text) => JSON.parse(text).after === one)
      yield* first.stop
      yield* send("two")
      const second = yield* listen()
      assert.strictEqual(yield* subject, "two")
      yield* second.stop
      const anew = yield* listen({ fromStart: true })
      assert.deepStrictEqual([yield* subject, yield* subject], ["one", "two"])
      yield* anew.stop
      const behind = yield* listen({ after: Option.some(one) })
      assert.strictEqual(yield* subject, "two")
      yield* behind.stop
      yield* listen({ after: Option.some("latest") })
      yield* send("three")
      assert.strictEqual(yield* subject, "three")
    }).pipe(Effect.scoped)
  )

  it.effect(
    "exits if a second process uses the position file, if the file is malformed, or if the domain is removed",
    () =>
      Effect.gen(function* () {
        const { app, file, inbox, listen, send } = yield* developer
        const inlet = yield* TestInlet
        const fs = yield* FileSystem.FileSystem
        const one = yield* listen()
        yield* fs.writeFileString(file, `{"domain_id":"${inbox.domainId}","after":"start"}`)
        const id = yield* send("one")
        yield* app.next
        assert.match(yield* one.failure, /Another `inlet listen` writes it, too. Give each its own --cursor-file$/)

        const unknown = yield* listen({ after: Option.some(`${id.slice(0, -4)}0000`) })
        assert.match(
          yield* unknown.failure,
          /^--after: Expected a cursor_now .* --from-start takes all mail that is kept/
        )
        yield* fs.writeFileString(file, "{}")
        assert.match(yield* (yield* listen()).failure, /^--cursor-file: .*: Expected what `inlet listen` writes/)

        const last = yield* listen({ file: `${file}.other` })
        yield* inlet.call("DELETE", `/api/domains/${inbox.domainId}`, { key: inbox.key })
        assert.strictEqual(yield* last.failure, "The domain was removed")
      }).pipe(Effect.scoped)
  )

  it.effect("keeps the saved position if --after is wrong", () =>
    Effect.gen(function* () {
      const { app, file, listen, send } = yield* developer
      const fs = yield* FileSystem.FileSystem
      const first = yield* listen()
      const one = yield* send("one")
      yield* app.next
      yield* eventually(fs.readFileString(file), (text) => JSON.parse(text).after === one)
      yield* first.stop
      const wrong = yield* listen({ after: Option.some("nowhere") })
      assert.match(yield* wrong.failure, /^--after: Expected a cursor_now .* --from-start takes all mail that is kept/)
      assert.strictEqual(JSON.parse(yield* fs.readFileString(file)).after, one)
      yield* listen()
      yield* send("two")
      assert.strictEqual((yield* app.next).event.subject, "two")
    }).pipe(Effect.scoped)
  )

  it.effect("goes on with all mail that is kept after an event that retention has removed", () =>
    Effect.gen(function* () {
      const { app, file, inbox, listen, send } = yield* developer
      const fs = yield* FileSystem.FileSystem
      yield* send("kept")
      const removed = "01890000-0000-7000-8000-000000000000"
      yield* fs.writeFileString(file, `{"domain_id":"${inbox.domainId}","after":"${removed}"}`)
      yield* listen()
      assert.strictEqual((yield* app.next).event.subject, "kept")
    }).pipe(Effect.scoped)
  )

  it.effect("leases deliveries with --take, which the service retries, gives up and replays", () =>
    Effect.gen(function* () {
      const { app, inbox, listen, send } = yield* developer
      const inlet = yield* TestInlet
      const ask = (path: string) =>
        Effect.map(inlet.call("GET", `/api/domains/${inbox.domainId}${path}`, { key: inbox.key }), ({ json }) => json)
      const { lines, said } = yield* listen({ take: 16 })
      assert.match((yield* said)[0] ?? "", /^New mail of \S+ waits for a lease from now on/)
      assert.isTrue((yield* ask("")).pull)
      yield* app.answerWith(500, 500)
      const eventId = yield* send("refused")
      const dead = yield* eventually(lines, ({ length }) => length === 2)
      assert.match(dead[0] ?? "", / {2}500 {2}\d+ ms .* refused {2}again in \S+$/)
      assert.match(dead[1] ?? "", / {2}500 {2}\d+ ms .* refused {2}given up; `inlet replay` sends it again$/)
      assert.strictEqual((yield* ask("")).status, "verified")
      yield* inlet.call("POST", `/api/domains/${inbox.domainId}/events/${eventId}/replay`, { key: inbox.key })
      yield* eventually(lines, ({ length }) => length === 3)
      yield* Effect.forEach(yield* app.all, (request) => isTrusted(request, inbox.secret))
      assert.strictEqual((yield* ask("")).status, "live")
      const { deliveryAttempts } = yield* ask("/delivery-attempts")
      assert.deepStrictEqual(
        deliveryAttempts.map(({ attempt, responseBody, statusCode, url }: Answer["json"]) => [
          attempt,
          url,
          statusCode,
          responseBody
        ]),
        [
          [3, "pull", 200, '{"ok":true}'],
          [2, "pull", 500, '{"ok":true}'],
          [1, "pull", 500, '{"ok":true}']
        ]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("forwards only mail of the webhook in --webhook, copied or taken, each with a position of its own", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { app, folder, inbox } = yield* developer
      const at = `/api/domains/${inbox.domainId}/webhooks`
      const { json } = yield* inlet.call("POST", at, { key: inbox.key, body: { pattern: "support", secret: "own" } })
      const send = (localPart: string) => Mail.send(inlet.smtpPort, { to: `${localPart}@${inbox.domain}` })
      const env = { INLET_URL: inlet.url, INLET_API_KEY: inbox.key, XDG_STATE_HOME: folder }
      const listen = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
        const printed = { stdout: "", stderr: "" }
        const all = ["listen", "--forward-to", app.url, "--webhook", "support", ...args]
        const running = yield* Effect.forkChild(CommandLine.run(all, env, printed))
        yield* Effect.race(
          eventually(
            Effect.sync(() => printed.stderr),
            (text) => text.includes("Ctrl-C stops")
          ),
          Fiber.await(running)
        )
        return { printed, running, stop: Fiber.interrupt(running) }
      })
      const copies = yield* listen()
      yield* send("sales")
      yield* send("support")
      const copy = yield* app.next
      assert.strictEqual(copy.event.recipient, `support@${inbox.domain}`)
      yield* isTrusted(copy, json.webhook_signing_secret)
      const fs = yield* FileSystem.FileSystem
      const file = `${folder}/inlet/listen/${inbox.domainId}-${json.webhook.id}.json`
      yield* eventually(fs.readFileString(file), (text) => text.includes(copy.event.event_id))
      yield* copies.stop

      const wrong = yield* listen("--take")
      const { stderr } = yield* Fiber.join(wrong.running)
      assert.match(stderr, /^The webhook support has the action hold, so its mail does not wait for a lease/)
      const [, command = ""] = /`inlet ([^`]+)` changes that/.exec(stderr) ?? []
      assert.strictEqual((yield* CommandLine.run(command.split(" "), env)).code, 0)
      const taken = yield* listen("--take")
      yield* send("sales")
      yield* send("support+2")
      assert.strictEqual((yield* app.next).event.recipient, `support+2@${inbox.domain}`)
      yield* taken.stop
      assert.lengthOf(yield* app.all, 2)
    }).pipe(Effect.scoped)
  )

  it.effect("takes with a key for the webhook's pattern", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { app, inbox } = yield* developer
      const at = `/api/domains/${inbox.domainId}/webhooks`
      yield* inlet.call("POST", at, { key: inbox.key, body: { pattern: "agent-7", action: "pull" } })
      const { json } = yield* inlet.call("POST", "/api/workspaces/keys", {
        key: inbox.key,
        body: { scope: "read", pattern: "agent-7" }
      })
      const env = { INLET_URL: inlet.url, INLET_API_KEY: json.api_key }
      const args = ["listen", "--forward-to", app.url, "--take", "--webhook", "agent-7"]
      const running = yield* Effect.forkChild(CommandLine.run(args, env))
      yield* Mail.send(inlet.smtpPort, { to: `agent-7@${inbox.domain}` })
      const request = yield* app.next
      yield* isTrusted(request, inbox.secret)
      const events = Mailbox.events(inbox)
      yield* eventually(events, ([event]) => event?.delivery.status === "delivered")
      yield* Fiber.interrupt(running)
    }).pipe(Effect.scoped)
  )

  it.effect("shares deliveries between takers, and exits with --take if a webhook is set", () =>
    Effect.gen(function* () {
      const { app, inbox, listen, send } = yield* developer
      const inlet = yield* TestInlet
      const takers = [yield* listen({ take: 2, json: true }), yield* listen({ take: 2, json: true })]
      yield* Effect.forEach(Array.range(1, 12), (number) => send(`mail ${number}`), { concurrency: 4 })
      const events = yield* eventually(
        Mailbox.events(inbox),
        (all) => all.length === 12 && all.every(({ delivery }) => delivery.status === "delivered")
      )
      const printed = Effect.map(
        Effect.forEach(takers, ({ lines }) => lines),
        (all) => all.flat()
      )
      assert.sameMembers(
        (yield* eventually(printed, ({ length }) => length >= 12)).map((line) => JSON.parse(line).event_id),
        events.map(({ event_id }) => event_id)
      )
      assert.lengthOf(yield* app.all, 12)
      yield* Effect.forEach(takers, ({ stop }) => stop)

      yield* inlet.call("PATCH", `/api/domains/${inbox.domainId}/delivery`, {
        key: inbox.key,
        body: { webhookUrl: app.url }
      })
      const { failure } = yield* listen({ take: 16 })
      assert.match(yield* failure, /has a webhook, and its mail goes there. Without --take/)
    }).pipe(Effect.scoped)
  )

  it.effect("leases further deliveries during a slow request, up to its limit", () =>
    Effect.gen(function* () {
      const { app, inbox, listen, send } = yield* developer
      const sql = yield* SqlClient.SqlClient
      const { lines } = yield* listen({ take: 2 })
      const slow = yield* Deferred.make<ServerResponse>()
      const slower = yield* Deferred.make<ServerResponse>()
      yield* app.answerWith((_, response) => Deferred.doneUnsafe(slow, Effect.succeed(response)))
      yield* send("slow")
      const first = yield* Deferred.await(slow)
      for (const number of Array.range(1, 4)) yield* send(`mail ${number}`)
      yield* eventually(lines, ({ length }) => length === 4)

      yield* app.answerWith((_, response) => Deferred.doneUnsafe(slower, Effect.succeed(response)))
      yield* send("slower")
      const second = yield* Deferred.await(slower)
      yield* send("waits")
      const leased = Effect.map(
        sql<{ readonly isLeased: boolean }>`
          SELECT leased_until IS NOT NULL AS is_leased FROM deliveries
          WHERE domain_id = ${inbox.domainId} AND status = 'pending' ORDER BY position
        `,
        (rows) => rows.map(({ isLeased }) => isLeased)
      )
      assert.deepStrictEqual(yield* eventually(leased, ({ length }) => length === 3), [true, true, false])
      second.end()
      const most = yield* eventually(lines, ({ length }) => length === 6)
      assert.match(most.join("\n"), /slower\n.* waits$/)
      first.end()
      yield* eventually(lines, ({ length }) => length === 7)
      assert.lengthOf(yield* app.all, 7)
    }).pipe(Effect.scoped)
  )

  it.effect("finishes deliveries in progress with --take before it exits", () =>
    Effect.gen(function* () {
      const { app, inbox, listen, send } = yield* developer
      const { lines, stop } = yield* listen({ take: 16 })
      const asked = yield* Deferred.make<ServerResponse>()
      yield* app.answerWith((_, response) => Deferred.doneUnsafe(asked, Effect.succeed(response)))
      yield* send("slow")
      const response = yield* Deferred.await(asked)
      const stopping = yield* Effect.forkChild(stop, { startImmediately: true })
      response.end("late")
      yield* Fiber.join(stopping)
      assert.lengthOf(yield* lines, 1)
      const [event] = yield* Mailbox.events(inbox)
      assert.strictEqual(event.delivery.status, "delivered")
    }).pipe(Effect.scoped)
  )
})
