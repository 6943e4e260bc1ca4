import { assert, expectTypeOf, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Client from "../../src/client.ts"
import type { MxRecords } from "../../src/domains/DnsRecords.ts"
import type { BriefEvent } from "../../src/events/BriefEvent.ts"
import type { EventContent } from "../../src/http/requests/ContentQuery.ts"
import type { SimulatedMail } from "../../src/http/simulate/SimulateApi.ts"
import type { DeliveryAttempt } from "../../src/model/Delivery.ts"
import type { Domain } from "../../src/model/Domain.ts"
import type { InboundEvent } from "../../src/model/InboundEvent.ts"
import type { OperationalEvent } from "../../src/model/OperationalEvent.ts"
import { verifySync } from "../../src/webhook.ts"
import { eventually } from "../Eventually.ts"
import * as ManyDomains from "../ManyDomains.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"
import { failure } from "./Failure.ts"

const World = Layer.merge(
  TestInlet.layer({ SENDER_CHECKS: "false", MAX_EMAILS_PER_DAY: "0", MAX_DOMAINS_PER_WORKSPACE: "2" }),
  WebhookReceiver.layer
)

const clientOf = Effect.gen(function* () {
  const inlet = yield* TestInlet
  const { key, secret } = yield* inlet.workspace
  return { inlet: new Client.Inlet({ url: `${inlet.url}/`, apiKey: key }), key, secret }
})

const statusOf = (call: () => Promise<unknown>) =>
  Effect.map(failure(call), (error) => error instanceof Client.ApiError && error.status)

layer(World, { excludeTestServices: true })("The client", (it) => {
  it.effect("refuses a missing id, an unknown option and an unknown kind of link, without a request", () =>
    Effect.gen(function* () {
      const { inlet } = yield* clientOf
      // As from a program without types.
      const untyped = (value: unknown) => value as never
      const [one] = yield* Effect.promise(() => inlet.domains.list())
      assert.isUndefined(one)
      const inbox = yield* Effect.promise(() => inlet.inbox())
      const id = inbox.domainId
      for (const [call, expected] of [
        [
          () => inlet.events.get(id, untyped(undefined)),
          /^An id is empty or missing \(GET \/api\/domains\/.*\/events\/\)/
        ],
        [() => inlet.events.raw(id, untyped(null)), /^An id is empty or missing/],
        [() => inlet.replay(untyped(undefined), "e"), /^An id is empty or missing/],
        [() => inlet.webhooks.remove(id, untyped(undefined)), /^An id is empty or missing/],
        [() => inlet.inbox(untyped({ domian: "x.example" })), /^domian: Expected one of domain, localPart/],
        [() => inbox.link(untyped("verfy")), /^link: Expected one of verify, login/]
      ] as const) {
        const error = yield* failure(call)
        assert.instanceOf(error, TypeError)
        assert.match(error.message, expected)
      }
    })
  )

  it.effect("lists every one of many domains, and gives inboxes at the only one that takes mail", () =>
    Effect.gen(function* () {
      const { url } = yield* TestInlet
      const { key, name } = yield* ManyDomains.workspaceWith(203)
      const inlet = new Client.Inlet({ url, apiKey: key })
      const all = yield* Effect.promise(() => inlet.domains.list())
      assert.deepStrictEqual(
        all.map(({ domain }) => domain),
        Array.from({ length: 203 }, (_, index) => `${203 - index}.${name}`)
      )
      const oldest = `1.${name}`
      const { domains, next_cursor } = yield* Effect.promise(() => inlet.domains.page({ domain: oldest }))
      assert.deepStrictEqual([domains.map(({ domain }) => domain), next_cursor], [[oldest], null])
      for (const domain of [undefined, oldest, domains[0]?.id]) {
        const { address } = yield* Effect.promise(() => inlet.inbox({ domain }))
        assert.isTrue(address.endsWith(`@${oldest}`))
      }
      const error = yield* failure(() => inlet.inbox({ domain: "nowhere.example" }))
      assert.instanceOf(error, TypeError)
      assert.match(error.message, /^domain: Expected one that takes mail, of (?:\S+ \(pending_verification\), ){10}…$/)
    })
  )

  it.effect("lists the domains of a workspace and the DNS records of each", () =>
    Effect.gen(function* () {
      const { inlet } = yield* clientOf
      const own = yield* Effect.promise(() => inlet.domains.create("client.example"))
      assert.deepStrictEqual([own.domain, own.status], ["client.example", "pending_verification"])
      assert.deepStrictEqual(yield* Effect.promise(() => inlet.domains.list()), [own])
      assert.deepInclude(yield* Effect.promise(() => inlet.domains.get(own.id)), own)
      const { records } = yield* Effect.promise(() => inlet.domains.mx(own.id))
      assert.strictEqual(records[0]?.value, own.mx_target)
      assert.strictEqual(yield* statusOf(() => inlet.domains.verify(own.id)), 409)
      assert.strictEqual(yield* statusOf(() => inlet.domains.setWebhook(own.id, "http://127.0.0.1:9/")), 409)
      assert.isUndefined(yield* Effect.promise(() => inlet.domains.remove(own.id)))
      assert.strictEqual(yield* statusOf(() => inlet.domains.get(own.id)), 404)
      assert.strictEqual(yield* statusOf(() => inlet.domains.get("../../health")), 404)
    })
  )

  it.effect("creates, changes, matches and removes webhooks by address", () =>
    Effect.gen(function* () {
      const { inlet } = yield* clientOf
      const { domain, domain_id: id } = yield* Effect.promise(() => inlet.instantInbox())
      const made = yield* Effect.promise(() => inlet.webhooks.create(id, { pattern: "agent-*", secret: "own" }))
      assert.match(made.webhook_signing_secret ?? "", /^whsec_/)
      const { webhook } = yield* Effect.promise(() =>
        inlet.webhooks.update(id, made.webhook.id, { webhookUrl: "http://127.0.0.1:9/agents" })
      )
      assert.deepInclude(webhook, { pattern: "agent-*", action: "webhook" })
      const match = yield* Effect.promise(() => inlet.webhooks.match(id, `agent-7@${domain}`))
      assert.deepStrictEqual(match.webhook, webhook)
      const listed = yield* Effect.promise(() => inlet.webhooks.list(id))
      assert.deepStrictEqual(
        listed.map(({ pattern }) => pattern),
        ["agent-*", "*"]
      )
      assert.isUndefined(yield* Effect.promise(() => inlet.webhooks.remove(id, webhook.id)))
      assert.strictEqual(yield* statusOf(() => inlet.webhooks.remove(id, id)), 409)
    })
  )

  it.effect("allows a sender, releases the mail of another one, and removes the rule", () =>
    Effect.gen(function* () {
      const { inlet } = yield* clientOf
      const { domain_id: id } = yield* Effect.promise(() => inlet.instantInbox())
      const rule = yield* Effect.promise(() => inlet.senders.create(id, { list: "allow", value: "friend.example" }))
      assert.deepStrictEqual(yield* Effect.promise(() => inlet.senders.list(id)), [rule])
      const { events } = yield* Effect.promise(() =>
        inlet.simulate(id, { from: "ada@sender.example", subject: "who is this" }, { wait: 20 })
      )
      const eventId = events[0]?.event_id ?? ""
      assert.strictEqual(events[0]?.delivery, "held")
      const released = yield* Effect.promise(() => inlet.senders.release(id, eventId))
      assert.deepStrictEqual([released.event_id, released.sender_rule], [eventId, null])
      assert.isUndefined(yield* Effect.promise(() => inlet.senders.remove(id, rule.id)))
      assert.deepStrictEqual(yield* Effect.promise(() => inlet.senders.list(id)), [])
    })
  )

  it.effect("hands a mail from a relay over once, and tells the reply of SMTP to one that is refused", () =>
    Effect.gen(function* () {
      const { url } = yield* TestInlet
      const { inlet, key } = yield* clientOf
      const { domain, domain_id: id } = yield* Effect.promise(() => inlet.instantInbox())
      const { call } = yield* TestInlet
      const { json } = yield* call("POST", "/api/workspaces/keys", { key, body: { scope: "ingest" } })
      const relay = new Client.Inlet({ url, apiKey: json.api_key })
      const message = Buffer.from("From: a@sender.example\r\nSubject: by a relay\r\n\r\nHello\r\n")
      const hand = (recipients: ReadonlyArray<string>) =>
        relay.ingest(id, message, {
          from: "a@sender.example",
          recipients,
          client: "203.0.113.9",
          helo: "mail.sender.example",
          idempotencyKey: "one"
        })
      const recipients = [`a@${domain}`, `b@${domain}`]
      const first = yield* Effect.promise(() => hand(recipients))
      assert.deepStrictEqual(yield* Effect.promise(() => hand(recipients)), first)
      const { events } = yield* eventually(
        Effect.promise(() => inlet.events.list(id)),
        ({ events }) => events.length === 2
      )
      assert.deepStrictEqual(
        events.map((event) => "envelope" in event && event.envelope),
        recipients.map(() => ({
          from: "a@sender.example",
          helo: "mail.sender.example",
          remoteAddress: "203.0.113.9",
          relayed: true as const
        }))
      )
      const refused = yield* failure(() => hand([`a@${domain}`, "a@elsewhere.example"]))
      assert.deepInclude(refused instanceof Client.ApiError ? refused.smtp : refused, { code: 550 })
      const other = yield* failure(() => relay.domains.list())
      assert.deepStrictEqual(other instanceof Client.ApiError && [other.status, other.smtp], [403, null])
    })
  )

  it.effect("simulates a mail, waits for it, and reads it in every form", () =>
    Effect.gen(function* () {
      const { inlet } = yield* clientOf
      const { address, domain_id: id } = yield* Effect.promise(() => inlet.instantInbox())
      const { cursor_now: after } = yield* Effect.promise(() => inlet.events.list(id))
      const waiting = inlet.events.wait(id, { after, has: "attachment" }, { timeout: 15_000 })
      const simulated = yield* Effect.promise(() => inlet.simulate(id, { sample: "attachment", recipient: address }))
      assert.deepStrictEqual(simulated.events, [])
      const [event, ...others] = (yield* Effect.promise(() => waiting)).events
      assert.deepStrictEqual(others, [])
      if (event === undefined) return yield* Effect.die("no event")
      assert.deepStrictEqual([event.recipient, event.delivery.status], [address, "held"])
      assert.strictEqual(event.inbound_email_id, simulated.inbound_email_id)
      assert.deepStrictEqual(yield* Effect.promise(() => inlet.events.get(id, event.event_id)), event)

      const { events: brief } = yield* Effect.promise(() => inlet.events.list(id, { view: "brief", limit: 1 }))
      assert.deepStrictEqual([brief[0]?.attachments, brief[0]?.delivery], [event.attachments.length, "held"])
      const piece = yield* Effect.promise(() => inlet.events.content(id, event.event_id, { max_chars: 5 }))
      assert.deepStrictEqual([piece.content.length, piece.next_offset], [5, 5])
      const raw = yield* Effect.promise(() => inlet.events.raw(id, event.event_id))
      assert.include(Buffer.from(raw).toString(), `Subject: ${event.subject}`)
      const [file] = event.attachments
      const bytes = yield* Effect.promise(() => inlet.events.attachment(id, event.event_id, file?.index ?? -1))
      assert.strictEqual(bytes.byteLength, file?.size)
      const none = yield* Effect.promise(() => inlet.events.wait(id, { after: event.event_id }, { timeout: 1 }))
      assert.deepStrictEqual(none.events, [])
    })
  )

  it.effect("simulates a raw message, and returns its events if asked to wait", () =>
    Effect.gen(function* () {
      const { inlet } = yield* clientOf
      const { domain, domain_id: id } = yield* Effect.promise(() => inlet.instantInbox())
      const message = new TextEncoder().encode("Subject: As it is\r\nMessage-ID: <1@bytes.example>\r\n\r\nHello\r\n")
      const recipient = `bytes@${domain}`
      const { events } = yield* Effect.promise(() => inlet.simulate(id, message, { recipient, wait: 10 }))
      assert.deepStrictEqual(
        events.map(({ recipient, subject }) => [recipient, subject]),
        [[recipient, "As it is"]]
      )
    })
  )

  it.effect("sets a webhook, and lists its attempts, and replays one event or many", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver
      const { inlet } = yield* clientOf
      const { domain_id: id } = yield* Effect.promise(() => inlet.instantInbox())
      const { webhookUrl } = yield* Effect.promise(() => inlet.domains.setWebhook(id, receiver.url))
      assert.strictEqual(webhookUrl, receiver.url)
      const { events } = yield* Effect.promise(() => inlet.simulate(id, { subject: "Hello" }, { wait: 10 }))
      const eventId = events[0]?.event_id ?? ""
      yield* receiver.next
      yield* eventually(
        Effect.promise(() => inlet.events.get(id, eventId)),
        ({ delivery }) => delivery.status === "delivered"
      )
      assert.strictEqual(yield* statusOf(() => inlet.replay(id, eventId)), 409)
      const { delivery } = yield* Effect.promise(() => inlet.replay(id, eventId, { force: true }))
      assert.strictEqual(delivery.status, "pending")
      yield* receiver.next
      const { deliveryAttempts } = yield* Effect.promise(() => inlet.attempts(id, { event_id: eventId, limit: 1 }))
      assert.deepStrictEqual(
        deliveryAttempts.map(({ event_id, url }) => [event_id, url]),
        [[eventId, receiver.url]]
      )
      assert.strictEqual(yield* Effect.promise(() => inlet.replays.count(id, { status: "dead" })), 0)
      const job = yield* Effect.promise(() =>
        inlet.replays.start(id, { status: "dead", since: "2026-01-31T12:00:00Z" })
      )
      assert.deepInclude(job, { state: "done", total: 0 })
      assert.deepStrictEqual(yield* Effect.promise(() => inlet.replays.get(id, job.id)), job)
      assert.deepStrictEqual(yield* Effect.promise(() => inlet.replays.stop(id, job.id)), job)
    })
  )

  it.effect("leases deliveries, and settles them", () =>
    Effect.gen(function* () {
      const { inlet, secret } = yield* clientOf
      const { domain_id: id } = yield* Effect.promise(() => inlet.instantInbox())
      assert.deepInclude(yield* Effect.promise(() => inlet.domains.setPull(id, true)), { pull: true })
      const { events } = yield* Effect.promise(() => inlet.simulate(id, { subject: "Hello" }, { wait: 10 }))
      const [lease, ...others] = yield* Effect.promise(() => inlet.deliveries.lease(id, { limit: 1, wait: 10 }))
      assert.isDefined(lease)
      assert.deepStrictEqual(others, [])
      assert.strictEqual(lease.event_id, events[0]?.event_id)
      assert.deepInclude(verifySync({ headers: lease.headers, rawBody: lease.body, secret }), { subject: "Hello" })
      const outcome = { event_id: lease.event_id, attempt: lease.attempt, statusCode: 200, durationMs: 1 }
      const [settled] = yield* Effect.promise(() => inlet.deliveries.settle(id, [outcome]))
      assert.deepInclude(settled, { event_id: lease.event_id, status: 200 })
      const [late] = yield* Effect.promise(() => inlet.deliveries.settle(id, [{ ...outcome, attempt: 7 }]))
      assert.deepInclude(late, { status: 409 })
      assert.deepStrictEqual(yield* Effect.promise(() => inlet.deliveries.lease(id)), [])
    })
  )

  it.effect("tests a webhook, and replaces its secret", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver
      const { inlet } = yield* clientOf
      const { domain_id: id } = yield* Effect.promise(() => inlet.instantInbox())
      const { webhook, webhook_signing_secret: first } = yield* Effect.promise(() =>
        inlet.webhooks.create(id, { pattern: "support", webhookUrl: receiver.url, secret: "own" })
      )
      const { webhook: changed } = yield* Effect.promise(() =>
        inlet.webhooks.update(id, id, { kinds: { bounce: webhook.id } })
      )
      assert.deepStrictEqual(changed.kinds, { bounce: webhook.id })
      const tested = yield* Effect.promise(() => inlet.webhooks.test(id, webhook.id))
      assert.deepInclude(tested, { ok: true, statusCode: 200 })
      const next = yield* Effect.promise(() => inlet.webhooks.rotateSecret(id, webhook.id))
      assert.match(next, /^whsec_/)
      assert.notStrictEqual(next, first)
    })
  )

  it.effect("sets the operational webhook, and lists operational events", () =>
    Effect.gen(function* () {
      const { inlet } = yield* clientOf
      const opsWebhookUrl = "http://127.0.0.1:9/operations"
      assert.deepInclude(yield* Effect.promise(() => inlet.setOpsWebhook(opsWebhookUrl)), { opsWebhookUrl })
      assert.deepInclude(yield* Effect.promise(() => inlet.setOpsWebhook(null)), { opsWebhookUrl: null })
      assert.deepStrictEqual(
        yield* Effect.promise(() => inlet.operationalEvents({ type: "quota.reached", limit: 1 })),
        {
          operational_events: [],
          next_cursor: null
        }
      )
    })
  )

  it("uses the types of the contract", () => {
    expectTypeOf<Client.OperationalEvent>().branded.toEqualTypeOf<typeof OperationalEvent.Encoded>()
    expectTypeOf<Client.BriefEvent>().toEqualTypeOf<typeof BriefEvent.Encoded>()
    expectTypeOf<Client.DeliveryAttempt>().toEqualTypeOf<typeof DeliveryAttempt.Encoded>()
    expectTypeOf<Client.Domain>().toEqualTypeOf<typeof Domain.Encoded>()
    expectTypeOf<Client.EventContent>().toEqualTypeOf<typeof EventContent.Encoded>()
    expectTypeOf<Omit<Client.ListedEvent, "delivery">>().toEqualTypeOf<typeof InboundEvent.Encoded>()
    expectTypeOf<Client.MxRecords>().toEqualTypeOf<typeof MxRecords.Encoded>()
    expectTypeOf<keyof Client.SimulatedMail>().toEqualTypeOf<keyof SimulatedMail>()
  })
})
