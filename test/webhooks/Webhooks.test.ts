import { createHmac } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Array, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"
import { type ReceivedRequest, WebhookReceiver } from "../WebhookReceiver.ts"

interface Shown {
  readonly id: string
  readonly description: string | null
  readonly pattern: string
  readonly action: string
  readonly webhookUrl: string | null
}

interface Listed {
  readonly event_id: string
  readonly delivery: { readonly status: string }
}

/** A workspace with an instant domain, and the requests about its webhooks. */
const withDomain = Effect.fnUntraced(function* (catchAllUrl?: string) {
  const inlet = yield* TestInlet
  const inbox = yield* inlet.inbox(catchAllUrl)
  const call = (method: "DELETE" | "GET" | "PATCH" | "POST", rest = "", body?: unknown) =>
    inlet.call(method, `/api/domains/${inbox.domainId}/webhooks${rest}`, {
      key: inbox.key,
      ...(body === undefined ? {} : { body })
    })
  const create = (pattern: string, body: Readonly<Record<string, unknown>> = {}) =>
    Effect.map(call("POST", "", { pattern, ...body }), ({ json, status, text }) => {
      assert.strictEqual(status, 201, text)
      return json as { readonly webhook: Shown; readonly webhook_signing_secret?: string }
    })
  const to = (localPart: string) => `${localPart}@${inbox.domain}`
  const send = (localPart: string) => Mail.send(inlet.smtpPort, { to: to(localPart) })
  const rcpt = (localPart: string) =>
    Effect.scoped(Effect.map(Mailbox.begin(inlet.smtpPort, to(localPart)), ({ replies }) => replies[0] ?? ""))
  const replay = (eventId: string, query = "") =>
    inlet.call("POST", `/api/domains/${inbox.domainId}/events/${eventId}/replay${query}`, { key: inbox.key })
  return { ...inbox, call, create, to, send, rcpt, replay }
})

const isSigned = ({ body, headers }: ReceivedRequest, secret: string, header = "x-service-signature") => {
  const [, seconds, tag] = /^t=(\d+),v1=([\da-f]+)$/.exec(`${headers[header]}`) ?? []
  return createHmac("sha256", secret).update(`${seconds}.`).update(body).digest("hex") === tag
}

layer(TestInlet.layer({ WEBHOOK_CHANGES_PER_MINUTE: "0", REPLAYS_PER_MINUTE: "0" }), {
  excludeTestServices: true
})("A domain's webhooks", (it) => {
  it.effect("begin with the catch-all, under the domain's id, which PATCH /delivery changes", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { call, domainId, key } = yield* withDomain()
      const { json } = yield* call("GET")
      assert.lengthOf(json.webhooks, 1)
      assert.deepInclude(json.webhooks[0], {
        id: domainId,
        domain_id: domainId,
        pattern: "*",
        action: "hold",
        webhookUrl: null,
        format: "inlet",
        has_own_secret: false
      })
      const webhookUrl = "http://127.0.0.1:9/hook"
      yield* inlet.call("PATCH", `/api/domains/${domainId}/delivery`, { key, body: { webhookUrl } })
      assert.deepInclude((yield* call("GET", `/${domainId}`)).json, { action: "webhook", webhookUrl })
      yield* call("PATCH", `/${domainId}`, { action: "pull" })
      assert.deepInclude((yield* inlet.call("GET", `/api/domains/${domainId}`, { key })).json, {
        webhookUrl: null,
        pull: true,
        catch_all: "pull"
      })
    })
  )

  it.effect("are created, listed in the order in which they count, changed and removed", () =>
    Effect.gen(function* () {
      const { call, create, domainId } = yield* withDomain()
      const { webhook: bots } = yield* create("*-bot", { description: "the bots" })
      const { webhook: agents } = yield* create("Agent-*", { webhookUrl: "http://127.0.0.1:9/agents" })
      const { webhook: seven } = yield* create("agent-7", { action: "pull" })
      assert.deepInclude(bots, { action: "hold", description: "the bots" })
      assert.deepInclude(agents, { pattern: "agent-*", action: "webhook", webhookUrl: "http://127.0.0.1:9/agents" })
      const list: ReadonlyArray<Shown> = (yield* call("GET")).json.webhooks
      assert.deepStrictEqual(
        list.map(({ id }) => id),
        [seven.id, agents.id, bots.id, domainId]
      )
      const unfit = yield* call("PATCH", `/${bots.id}`, { description: "a\0b" })
      assert.match(unfit.json.error, /^description: Expected up to 200 characters/)
      const changed = yield* call("PATCH", `/${bots.id}`, { pattern: "*-robots", action: "reject", description: null })
      assert.deepInclude(changed.json.webhook, { pattern: "*-robots", action: "reject", description: null })
      assert.deepStrictEqual((yield* call("GET", `/${bots.id}`)).json, changed.json.webhook)
      assert.strictEqual((yield* call("DELETE", `/${bots.id}`)).status, 204)
      assert.strictEqual((yield* call("GET", `/${bots.id}`)).status, 404)
      assert.lengthOf((yield* call("GET")).json.webhooks, 3)
    })
  )

  it.effect("have no two patterns that could tie, and say which webhook is in the way", () =>
    Effect.gen(function* () {
      const { call, create } = yield* withDomain()
      const { webhook } = yield* create("agent-*")
      const { webhook: other } = yield* create("longer-agent-*")
      for (const pattern of ["AGENT-*", "*-agent", "*"]) {
        const { json, status } = yield* call("POST", "", { pattern })
        assert.strictEqual(status, 409, pattern)
        if (pattern !== "*") assert.include(json.error, webhook.id)
      }
      const moved = yield* call("PATCH", `/${other.id}`, { pattern: "*-agent" })
      assert.strictEqual(moved.status, 409)
      assert.include(moved.json.error, webhook.id)
      assert.strictEqual((yield* call("GET", `/${other.id}`)).json.pattern, "longer-agent-*")
    })
  )

  it.effect("that concurrent requests create do not tie either", () =>
    Effect.gen(function* () {
      const { call } = yield* withDomain()
      const answers = yield* Effect.forEach(
        ["x*", "*y", "x*", "*y", "x*", "*y"],
        (pattern) => call("POST", "", { pattern }),
        { concurrency: 6 }
      )
      assert.lengthOf(
        answers.filter(({ status }) => status === 201),
        1
      )
    })
  )

  it.effect("refuse what makes no sense, and say what to do", () =>
    Effect.gen(function* () {
      const { call, create, domainId, to } = yield* withDomain()
      const { webhook } = yield* create("support")
      for (const [method, rest, body, status, error] of [
        ["POST", "", {}, 400, /pattern/],
        ["POST", "", { pattern: "a@b" }, 400, /pattern: Expected the part of an address before the @/],
        ["POST", "", { pattern: "a b" }, 400, /pattern/],
        ["POST", "", { pattern: "a**b" }, 400, /single \*/],
        ["POST", "", { pattern: "" }, 400, /pattern/],
        ["POST", "", { pattern: "x".repeat(65) }, 400, /at most 64 characters/],
        ["POST", "", { pattern: "x", action: "webhook" }, 400, /webhookUrl/],
        ["POST", "", { pattern: "x", action: "pull", webhookUrl: "http://127.0.0.1:9/" }, 400, /webhookUrl/],
        ["POST", "", { pattern: "x", webhookUrl: "ftp://127.0.0.1/" }, 400, /webhookUrl/],
        ["POST", "", { pattern: "x", action: "forward" }, 400, /action/],
        ["PATCH", `/${webhook.id}`, { action: "webhook" }, 409, /webhookUrl/],
        ["PATCH", `/${domainId}`, { pattern: "other" }, 409, /catch-all/],
        ["DELETE", `/${domainId}`, undefined, 409, /"reject"/],
        ["POST", `/${webhook.id}/rotate-secret`, undefined, 409, /"own"/],
        ["POST", `/${webhook.id}/test`, undefined, 409, /no URL/],
        ["GET", "/01890000-0000-7000-8000-000000000000", undefined, 404, /webhooks lists them/],
        ["GET", "/match?recipient=support@elsewhere.example", undefined, 400, /recipient/],
        ["GET", `/match?recipient=${encodeURIComponent(`${to("a")},${to("b")}`)}`, undefined, 400, /recipient/]
      ] as const) {
        const answer = yield* call(method, rest, body)
        assert.strictEqual(answer.status, status, `${method} ${rest} ${JSON.stringify(body)} ${answer.text}`)
        assert.match(answer.json.error, error)
      }
    })
  )

  it.effect("are at most 100", () =>
    Effect.gen(function* () {
      const { call, create } = yield* withDomain()
      yield* Effect.forEach(Array.range(1, 99), (number) => create(`agent-${number}`), { concurrency: 8 })
      const { json, status } = yield* call("POST", "", { pattern: "one-more" })
      assert.strictEqual(status, 409)
      assert.match(json.error, /at most 100/)
    })
  )

  it.effect("are explained for an address: which takes it, and why the others do not", () =>
    Effect.gen(function* () {
      const { call, create, domainId, to } = yield* withDomain()
      const { webhook: seven } = yield* create("agent-7")
      const { webhook: agents } = yield* create("agent-*")
      const { webhook: bots } = yield* create("*-bot")
      const match = (localPart: string) =>
        Effect.map(call("GET", `/match?recipient=${encodeURIComponent(to(localPart))}`), ({ json }) => json)
      assert.deepInclude(yield* match("agent-7"), {
        webhook: seven,
        others: [
          { webhook_id: agents.id, pattern: "agent-*", reason: "agent-7 is the exact name" },
          { webhook_id: bots.id, pattern: "*-bot", reason: "*-bot does not match" },
          { webhook_id: domainId, pattern: "*", reason: "agent-7 is the exact name" }
        ]
      })
      const bot = yield* match("agent-bot")
      assert.deepStrictEqual(bot.webhook, agents)
      assert.deepInclude(bot.others, {
        webhook_id: bots.id,
        pattern: "*-bot",
        reason: "agent-* has more literal characters (6 against 4)"
      })
      assert.strictEqual((yield* match("anybody")).webhook.id, domainId)
    })
  )
})

layer(TestInlet.layer({ WEBHOOK_CHANGES_PER_MINUTE: "0", REPLAYS_PER_MINUTE: "0", MAX_EMAILS_PER_DAY: "0" }), {
  excludeTestServices: true
})("Mail of a domain with several webhooks", (it) => {
  it.effect("goes to one of them each, and its event names the webhook and the pattern", () =>
    Effect.gen(function* () {
      const rest = yield* WebhookReceiver.make
      const agents = yield* WebhookReceiver.make
      const { create, domainId, send } = yield* withDomain(rest.url)
      const { webhook } = yield* create("agent-*", { webhookUrl: agents.url })
      for (const localPart of ["agent-1", "Agent-2+tag", "other"]) yield* send(localPart)
      const first = yield* agents.next
      const second = yield* agents.next
      const other = yield* rest.next
      assert.deepInclude(other.event, { webhook_id: domainId, pattern: "*" })
      for (const { event } of [first, second]) {
        assert.deepInclude(event, { webhook_id: webhook.id, pattern: "agent-*" })
      }
      assert.lengthOf(yield* agents.all, 2)
      assert.lengthOf(yield* rest.all, 1)
    })
  )

  it.effect("is one message for recipients of several webhooks, and one event at each", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const rest = yield* WebhookReceiver.make
      const one = yield* WebhookReceiver.make
      const { create, to } = yield* withDomain(rest.url)
      yield* create("one", { webhookUrl: one.url })
      yield* Mail.send(inlet.smtpPort, { to: [to("one"), to("two"), to("three")] })
      const { event } = yield* one.next
      const others = [yield* rest.next, yield* rest.next]
      assert.sameMembers(
        [event, ...others.map((request) => request.event)].map(({ recipient }) => recipient),
        [to("one"), to("two"), to("three")]
      )
      for (const request of others) assert.strictEqual(request.event.inbound_email_id, event.inbound_email_id)
    })
  )

  it.effect("is answered 550 at RCPT for a rejected address, and noted for the domain", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { call, create, domainId, key, rcpt, to } = yield* withDomain()
      yield* create("open")
      const { webhook: closed } = yield* create("closed-*", { action: "reject" })
      assert.match(yield* rcpt("closed-1"), /^550 5\.1\.1 /)
      assert.match(yield* rcpt("anybody"), /^250/)
      yield* call("PATCH", `/${domainId}`, { action: "reject" })
      // A busy domain's webhooks are cached for a second.
      yield* eventually(rcpt("anybody"), (reply) => reply.startsWith("550 5.1.1 "))
      assert.match(yield* rcpt("open"), /^250/)
      const { json } = yield* eventually(
        inlet.call("GET", `/api/domains/${domainId}/refusals?recipient=${to("closed-1")}`, { key }),
        (answer) => answer.json.refusals.length > 0
      )
      assert.deepInclude(json.refusals[0], { reason: "rejected_route", recipient: to("closed-1") })
      const simulated = yield* inlet.call("POST", `/api/domains/${domainId}/simulate`, {
        key,
        body: { sample: "code", recipient: to("closed-2") }
      })
      assert.strictEqual(simulated.status, 409)
      assert.include(simulated.json.error, closed.pattern)
    })
  )

  it.effect("is held for one, and leased to clients for another, alone or with all of them", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* withDomain()
      const { create, domainId, key, send } = inbox
      const { webhook: first } = yield* create("first", { action: "pull" })
      const { webhook: second } = yield* create("second", { action: "pull" })
      for (const localPart of ["first", "second", "third"]) yield* send(localPart)
      const events = yield* Mailbox.events(inbox)
      assert.deepStrictEqual(
        new Map(events.map(({ delivery, pattern }) => [pattern, delivery.status])),
        new Map([
          ["first", "pending"],
          ["second", "pending"],
          ["*", "held"]
        ])
      )
      const lease = (body: unknown) =>
        Effect.map(inlet.call("POST", `/api/domains/${domainId}/deliveries/lease`, { key, body }), ({ json }) =>
          (json.deliveries as ReadonlyArray<{ readonly body: string }>).map(({ body }) => JSON.parse(body).webhook_id)
        )
      assert.deepStrictEqual(yield* lease({ webhook_id: second.id }), [second.id])
      assert.deepStrictEqual(yield* lease({ webhook_id: second.id }), [])
      assert.deepStrictEqual(yield* lease({}), [first.id])
    })
  )

  it.effect("stays with its webhook when patterns change, and moves with a replay to another one", () =>
    Effect.gen(function* () {
      const old = yield* WebhookReceiver.make
      const fresh = yield* WebhookReceiver.make
      yield* old.answerAlways(500)
      const inbox = yield* withDomain()
      const { call, create, replay, send } = inbox
      const { webhook } = yield* create("agent", { webhookUrl: old.url })
      yield* send("agent")
      yield* old.next
      yield* call("PATCH", `/${webhook.id}`, { pattern: "retired" })
      const { webhook: next } = yield* create("agent", { webhookUrl: fresh.url })
      const [event] = yield* Mailbox.events(inbox)
      assert.strictEqual(event.pattern, "agent")
      assert.strictEqual((yield* replay(event.event_id)).status, 202)
      assert.strictEqual((yield* old.next).event.event_id, event.event_id)
      assert.lengthOf(yield* fresh.all, 0)
      assert.strictEqual((yield* replay(event.event_id, `?webhook=${next.id}`)).status, 202)
      const moved = yield* fresh.next
      assert.deepStrictEqual(moved.body, (yield* old.all)[0]?.body)
    })
  )

  it.effect("is held when its webhook is removed, and goes to the catch-all with a replay", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const gone = yield* WebhookReceiver.make
      const rest = yield* WebhookReceiver.make
      yield* gone.answerAlways(500)
      const inbox = yield* withDomain(rest.url)
      const { call, create, domainId, key, replay, send } = inbox
      const { webhook } = yield* create("agent", { webhookUrl: gone.url })
      for (const _ of [1, 2]) {
        yield* send("agent")
        yield* gone.next
      }
      assert.strictEqual((yield* call("DELETE", `/${webhook.id}`)).status, 204)
      const events = yield* eventually(Mailbox.events(inbox), (all) =>
        all.every(({ delivery }) => delivery.status === "held")
      )
      assert.strictEqual((yield* replay(events[0].event_id)).status, 202)
      assert.strictEqual((yield* rest.next).event.event_id, events[0].event_id)
      const job = yield* inlet.call("POST", `/api/domains/${domainId}/replays`, { key, body: { status: "held" } })
      assert.strictEqual(job.status, 202, job.text)
      assert.strictEqual((yield* rest.next).event.event_id, events[1].event_id)
    })
  )

  it.effect("keeps its webhook while a replay job sends it there", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const hanging = yield* WebhookReceiver.make
      yield* hanging.answerAlways(() => {})
      const inbox = yield* withDomain()
      const { call, create, domainId, key, send } = inbox
      yield* send("one")
      yield* Mailbox.events(inbox)
      const { webhook } = yield* create("archive", { webhookUrl: hanging.url })
      const replays = `/api/domains/${domainId}/replays`
      const body = { status: "held", webhook_id: webhook.id }
      const job = (yield* inlet.call("POST", replays, { key, body })).json.id
      const refused = yield* call("DELETE", `/${webhook.id}`)
      assert.strictEqual(refused.status, 409)
      assert.include(refused.json.error, `DELETE /api/domains/{id}/replays/${job}`)
      yield* inlet.call("DELETE", `${replays}/${job}`, { key })
      assert.strictEqual((yield* call("DELETE", `/${webhook.id}`)).status, 204)
      assert.deepInclude((yield* inlet.call("GET", `${replays}/${job}`, { key })).json, {
        state: "stopped",
        webhook_id: webhook.id
      })
    })
  )

  it.effect("is explained in the trace with the request that mends its webhook", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* withDomain()
      const { call, create, domainId, key, send, to } = inbox
      const { webhook } = yield* create("holds")
      yield* send("holds")
      yield* Mailbox.events(inbox)
      const trace = Effect.map(inlet.call("GET", `/api/trace?to=${to("holds")}`, { key }), ({ json }) => {
        const steps: ReadonlyArray<{ readonly step: string; readonly text: string; readonly remedy: string | null }> =
          json.entries[0].steps
        return steps.filter(({ step }) => step === "route" || step === "state").map(({ remedy }) => remedy ?? "")
      })
      const holds = Effect.map(trace, (remedies) => {
        assert.isNotEmpty(remedies)
        for (const remedy of remedies) {
          assert.include(remedy, `PATCH /api/domains/${domainId}/webhooks/${webhook.id}`)
        }
      })
      yield* holds
      // As one of many deliveries after the request that cleared the URL, until a worker holds it.
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE deliveries SET status = 'pending' WHERE webhook_id = ${webhook.id}`
      yield* holds
      yield* call("DELETE", `/${webhook.id}`)
      assert.deepStrictEqual(
        (yield* trace).map((remedy) => remedy.includes("PATCH")),
        [false, false]
      )
    })
  )

  it.effect("goes by the patterns that remain if its webhook is removed between RCPT and the end of DATA", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const gone = yield* WebhookReceiver.make
      const next = yield* WebhookReceiver.make
      const rest = yield* WebhookReceiver.make
      const { call, create, to } = yield* withDomain(rest.url)
      const { webhook } = yield* create("agent-7", { webhookUrl: gone.url })
      yield* create("agent-*", { webhookUrl: next.url })
      yield* Effect.scoped(
        Effect.gen(function* () {
          const dialog = yield* Mailbox.begin(inlet.smtpPort, [to("agent-7"), to("other")])
          assert.match(dialog.replies.join(" "), /^250.* 250/)
          assert.strictEqual((yield* call("DELETE", `/${webhook.id}`)).status, 204)
          assert.match(yield* Mailbox.data(dialog, "Subject: between\r\n\r\nHello\r\n"), /^250/)
        })
      )
      const { event } = yield* next.next
      // As it was when the mail came.
      assert.deepInclude(event, { recipient: to("agent-7"), pattern: "agent-7", webhook_id: webhook.id })
      assert.strictEqual((yield* rest.next).event.recipient, to("other"))
      assert.isEmpty(yield* gone.all)
    })
  )

  it.effect("goes to one webhook with a replay job that names it", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver.make
      const inbox = yield* withDomain()
      const { create, domainId, key, send } = inbox
      for (const localPart of ["one", "two"]) yield* send(localPart)
      const events = yield* Mailbox.events(inbox)
      const start = (body: unknown) => inlet.call("POST", `/api/domains/${domainId}/replays`, { key, body })
      assert.strictEqual((yield* start({ status: "held" })).status, 409)
      const { webhook } = yield* create("archive", { webhookUrl: receiver.url })
      const { json, status } = yield* start({ status: "held", webhook_id: webhook.id })
      assert.strictEqual(status, 202)
      assert.strictEqual(json.webhook_id, webhook.id)
      const ids = [(yield* receiver.next).event.event_id, (yield* receiver.next).event.event_id]
      assert.sameMembers(
        ids,
        events.map(({ event_id }) => event_id)
      )
    })
  )

  it.effect("is signed with a secret of its own, which rotates with an overlap, or with the workspace's", () =>
    Effect.gen(function* () {
      const own = yield* WebhookReceiver.make
      const shared = yield* WebhookReceiver.make
      const { call, create, secret, send } = yield* withDomain(shared.url)
      const made = yield* create("own", { webhookUrl: own.url, secret: "own" })
      const first = made.webhook_signing_secret ?? ""
      assert.match(first, /^whsec_/)
      assert.notProperty((yield* call("GET", `/${made.webhook.id}`)).json, "webhook_signing_secret")
      const deliver = (localPart: string, receiver: WebhookReceiver["Service"]) =>
        Effect.andThen(send(localPart), receiver.next)
      const request = yield* deliver("own", own)
      assert.isTrue(isSigned(request, first))
      assert.isFalse(isSigned(request, secret))
      assert.isTrue(isSigned(yield* deliver("shared", shared), secret))
      const { json } = yield* call("POST", `/${made.webhook.id}/rotate-secret`)
      const second: string = json.webhook_signing_secret
      const rotated = yield* deliver("own", own)
      assert.isTrue(isSigned(rotated, second))
      assert.isTrue(isSigned(rotated, first, "x-service-signature-previous"))
      const test = yield* call("POST", `/${made.webhook.id}/test`)
      assert.isTrue(test.json.ok)
      assert.isTrue(isSigned(yield* own.next, second))
      yield* call("PATCH", `/${made.webhook.id}`, { secret: "workspace" })
      const back = yield* deliver("own", own)
      assert.isTrue(isSigned(back, secret))
      assert.notProperty(back.headers, "x-service-signature-previous")
    })
  )

  it.effect("of one that works is not delayed by 20 that hang", () =>
    Effect.gen(function* () {
      const hanging = yield* WebhookReceiver.make
      const works = yield* WebhookReceiver.make
      yield* hanging.answerAlways(() => {})
      const { create, send } = yield* withDomain()
      yield* create("works", { webhookUrl: works.url })
      yield* Effect.forEach(Array.range(1, 20), (number) => create(`hangs-${number}`, { webhookUrl: hanging.url }), {
        concurrency: 4
      })
      yield* Effect.forEach(Array.range(1, 60), (number) => send(`hangs-${1 + (number % 20)}`), { concurrency: 8 })
      yield* eventually(hanging.all, (requests) => requests.length > 0)
      for (const _ of Array.range(1, 20)) {
        yield* send("works")
        // None of those that hang has ended by then: a request may take 15 s.
        yield* works.next.pipe(Effect.timeout("10 seconds"))
      }
    })
  )

  it.effect("goes to exactly one webhook while patterns are created, moved and removed", () =>
    Effect.gen(function* () {
      const receivers = yield* Effect.replicateEffect(WebhookReceiver.make, 3)
      const [rest, one, two] = receivers
      const inbox = yield* withDomain(rest?.url)
      const { call, create, send } = inbox
      const change = Effect.gen(function* () {
        const { webhook: first } = yield* create("agent-*", { webhookUrl: one?.url })
        const { webhook: second } = yield* create("agent-1*", { webhookUrl: two?.url })
        yield* call("PATCH", `/${first.id}`, { pattern: "other-*" })
        yield* call("PATCH", `/${second.id}`, { pattern: "agent-*" })
        yield* call("DELETE", `/${first.id}`)
        yield* call("DELETE", `/${second.id}`)
      })
      yield* Effect.all(
        [
          Effect.forEach(Array.range(1, 200), (number) => send(`agent-${number % 20}`), { concurrency: 8 }),
          Effect.replicateEffect(change, 6)
        ],
        { concurrency: 2 }
      )
      yield* Mailbox.events(inbox)
      const page = (query: string) =>
        Effect.gen(function* () {
          const inlet = yield* TestInlet
          const { json, status, text } = yield* inlet.call("GET", `/api/domains/${inbox.domainId}/events?${query}`, {
            key: inbox.key
          })
          assert.strictEqual(status, 200, text)
          return json as { readonly events: ReadonlyArray<Listed>; readonly next_cursor: string | null }
        })
      yield* eventually(page("delivery=pending&limit=1"), ({ events }) => events.length === 0)
      const newer = yield* page("limit=100")
      const older = yield* page(`limit=100&cursor=${newer.next_cursor}`)
      const all = [...newer.events, ...older.events]
      assert.lengthOf(all, 200)
      const received = (yield* Effect.forEach(receivers, (receiver) => receiver.all))
        .flat()
        .map(({ event }) => event.event_id)
      // Those that waited for a webhook when it was removed are held. All others came once.
      assert.strictEqual(new Set(received).size, received.length)
      assert.sameMembers(
        received,
        all.flatMap(({ delivery, event_id }) => (delivery.status === "delivered" ? [event_id] : []))
      )
      assert.isEmpty(all.filter(({ delivery }) => delivery.status !== "delivered" && delivery.status !== "held"))
    })
  )
})
