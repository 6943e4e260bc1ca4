import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

const nobodys = "5b0e7c1e-0f5a-4c63-9a55-3d1f3a2c9e10"

/** Every request with the id of a domain and of one of its events. */
const requests = (domainId: string, eventId: string) =>
  [
    ["GET", `/api/domains/${domainId}`],
    ["GET", `/api/domains/${domainId}/mx`],
    ["POST", `/api/domains/${domainId}/verify`],
    ["PATCH", `/api/domains/${domainId}/delivery`, { webhookUrl: "https://thief.example.com/" }],
    ["PATCH", `/api/domains/${domainId}/delivery`, { webhookUrl: null }],
    ["GET", `/api/domains/${domainId}/events`],
    ["GET", `/api/domains/${domainId}/events?wait=1`],
    ["GET", `/api/domains/${domainId}/events?after=${eventId}`],
    ["GET", `/api/domains/${domainId}/events?cursor=${eventId}`],
    ["GET", `/api/domains/${domainId}/events/stream`],
    ["POST", `/api/domains/${domainId}/simulate`, { sample: "code" }],
    ["PATCH", `/api/domains/${domainId}/delivery`, { pull: true }],
    ["POST", `/api/domains/${domainId}/deliveries/lease`, {}],
    [
      "POST",
      `/api/domains/${domainId}/deliveries/settle`,
      { outcomes: [{ event_id: eventId, attempt: 1, statusCode: 200, durationMs: 1 }] }
    ],
    ...ofEvent(domainId, eventId),
    ["POST", `/api/domains/${domainId}/replays`, { status: "delivered" }],
    ["GET", `/api/domains/${domainId}/replays`],
    ["GET", `/api/domains/${domainId}/replays/${eventId}`],
    ["DELETE", `/api/domains/${domainId}/replays/${eventId}`],
    ["GET", `/api/domains/${domainId}/delivery-attempts`],
    ["GET", `/api/domains/${domainId}/delivery-attempts?event_id=${eventId}`],
    ["GET", `/api/domains/${domainId}/refusals`],
    ["GET", `/api/domains/${domainId}/webhooks`],
    ["POST", `/api/domains/${domainId}/webhooks`, { pattern: "thief", webhookUrl: "https://thief.example.com/" }],
    ["GET", `/api/domains/${domainId}/webhooks/match?recipient=a@b.example`],
    ["GET", `/api/domains/${domainId}/webhooks/${domainId}`],
    ["PATCH", `/api/domains/${domainId}/webhooks/${domainId}`, { action: "reject" }],
    ["DELETE", `/api/domains/${domainId}/webhooks/${domainId}`],
    ["GET", `/api/domains/${domainId}/webhooks/${domainId}/health`],
    ["POST", `/api/domains/${domainId}/webhooks/${domainId}/rotate-secret`],
    ["POST", `/api/domains/${domainId}/webhooks/${domainId}/test`],
    ["DELETE", `/api/domains/${domainId}`]
  ] as const

const ofEvent = (domainId: string, eventId: string) =>
  [
    ["GET", `/api/domains/${domainId}/events/${eventId}`],
    ["GET", `/api/domains/${domainId}/events/${eventId}/raw`],
    ["GET", `/api/events/${eventId}`],
    ["GET", `/api/domains/${domainId}/events/${eventId}/content`],
    ["GET", `/api/domains/${domainId}/events/${eventId}/attachments/0`],
    ["POST", `/api/domains/${domainId}/events/${eventId}/replay`],
    ["POST", `/api/domains/${domainId}/events/${eventId}/replay?force=true`],
    ["POST", `/api/domains/${domainId}/events/${eventId}/deliver-now`]
  ] as const

/** An inbox with a webhook and one delivered event with an attachment. */
const withMail = Effect.gen(function* () {
  const inlet = yield* TestInlet
  const receiver = yield* WebhookReceiver
  const inbox = yield* inlet.inbox(receiver.url)
  yield* Mail.send(inlet.smtpPort, {
    to: inbox.address,
    attachments: [{ filename: "secret.txt", content: "for your eyes only" }]
  })
  const [event] = yield* eventually(Mailbox.events(inbox), ([first]) => first?.delivery.status === "delivered")
  const attempts = yield* inlet.call("GET", `/api/domains/${inbox.domainId}/delivery-attempts`, { key: inbox.key })
  return { ...inbox, eventId: event.event_id as string, attemptId: attempts.json.deliveryAttempts[0].id as string }
})

layer(Layer.merge(TestInlet.layer(), WebhookReceiver.layer), { excludeTestServices: true })(
  "Another workspace's ids",
  (it) => {
    it.effect("answer 404 exactly as unknown ids, and change nothing", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const receiver = yield* WebhookReceiver
        const ada = yield* withMail
        const bob = yield* withMail
        const seenByBob = Effect.gen(function* () {
          const domain = yield* inlet.call("GET", `/api/domains/${bob.domainId}`, { key: bob.key })
          const events = yield* inlet.call("GET", `/api/domains/${bob.domainId}/events`, { key: bob.key })
          const attempts = yield* inlet.call("GET", `/api/domains/${bob.domainId}/delivery-attempts`, { key: bob.key })
          return [domain.json, events.json, attempts.json]
        })
        const before = yield* seenByBob
        const requestsBefore = (yield* receiver.all).length

        const unknown = requests(nobodys, nobodys)
        for (const [index, [method, path, body]] of requests(bob.domainId, bob.eventId).entries()) {
          const foreign = yield* inlet.call(method, path, { key: ada.key, body })
          const [, unknownPath = ""] = unknown[index] ?? []
          const random = yield* inlet.call(method, unknownPath, { key: ada.key, body })
          assert.strictEqual(foreign.status, 404, `${method} ${path}`)
          assert.strictEqual(random.status, 404, `${method} ${unknownPath}`)
          assert.strictEqual(foreign.text, random.text, `${method} ${path}`)
        }
        assert.deepStrictEqual(yield* seenByBob, before)
        assert.strictEqual((yield* receiver.all).length, requestsBefore)
      })
    )

    it.effect("answer 404 under a domain of the caller", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const receiver = yield* WebhookReceiver
        const ada = yield* withMail
        const bob = yield* withMail
        const requestsBefore = (yield* receiver.all).length

        const unknown = ofEvent(ada.domainId, nobodys)
        for (const [index, [method, path]] of ofEvent(ada.domainId, bob.eventId).entries()) {
          const foreign = yield* inlet.call(method, path, { key: ada.key })
          const random = yield* inlet.call(method, unknown[index]?.[1] ?? "", { key: ada.key })
          assert.strictEqual(foreign.status, 404, `${method} ${path}`)
          assert.strictEqual(foreign.text, random.text)
        }
        assert.strictEqual((yield* receiver.all).length, requestsBefore)

        const attempts = yield* inlet.call(
          "GET",
          `/api/domains/${ada.domainId}/delivery-attempts?event_id=${bob.eventId}`,
          { key: ada.key }
        )
        assert.deepStrictEqual(attempts.json, { deliveryAttempts: [], next_cursor: null })
      })
    )

    it.effect("answer 400 as cursors, like unknown or malformed cursors", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const ada = yield* withMail
        const bob = yield* withMail
        const refuse = Effect.fnUntraced(function* (path: string, ids: ReadonlyArray<string>) {
          const answers = yield* Effect.forEach(ids, (id) =>
            inlet.call("GET", `/api/domains/${ada.domainId}/${path}${id}`, { key: ada.key })
          )
          for (const { json, status, text } of answers) {
            assert.strictEqual(status, 400, path)
            assert.deepStrictEqual(Object.keys(json), ["error"])
            assert.strictEqual(text, answers[0]?.text)
          }
        })
        const { json: bobs } = yield* inlet.call("GET", `/api/domains/${bob.domainId}/events?limit=1`, { key: bob.key })
        const malformed = [bobs.cursor_now, nobodys, "", "1", "x", "%00", "%F0%9F%9B%A9", "'--", "x".repeat(5_000)]
        yield* refuse("events?cursor=", [bob.eventId, ...malformed])
        yield* refuse("events?after=", [bob.eventId, ...malformed])
        yield* refuse("events?wait=1&after=", [bob.eventId, ...malformed])
        yield* refuse("delivery-attempts?cursor=", [bob.attemptId, ...malformed])

        const { json: first } = yield* inlet.call("GET", "/api/events?limit=1", { key: bob.key })
        for (const cursor of [bob.eventId, first.next_cursor, ...malformed]) {
          const { status } = yield* inlet.call("GET", `/api/events?cursor=${cursor}`, { key: ada.key })
          assert.strictEqual(status, 400)
        }

        const stream = (id: string) =>
          inlet.call("GET", `/api/domains/${ada.domainId}/events/stream`, {
            key: ada.key,
            headers: { "last-event-id": id }
          })
        for (const id of [bob.eventId, bobs.cursor_now, nobodys, "1"]) {
          const { json, status } = yield* stream(id)
          assert.strictEqual(status, 400)
          assert.match(json.error, /^Last-Event-ID: Expected /)
        }
      })
    )

    it.effect("appear in no list", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const ada = yield* withMail
        const bob = yield* withMail
        const domains = yield* inlet.call("GET", "/api/domains", { key: ada.key })
        const events = yield* inlet.call("GET", `/api/domains/${ada.domainId}/events`, { key: ada.key })
        const attempts = yield* inlet.call("GET", `/api/domains/${ada.domainId}/delivery-attempts`, { key: ada.key })
        const all = yield* inlet.call("GET", "/api/events", { key: ada.key })
        assert.deepStrictEqual(
          all.json.events.map(({ event_id }: { readonly event_id: string }) => event_id),
          [ada.eventId]
        )
        for (const { text } of [domains, events, attempts, all]) {
          for (const theirs of [bob.domainId, bob.domain, bob.eventId, bob.attemptId]) assert.notInclude(text, theirs)
        }
      })
    )
  }
)
