import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Mailbox from "../../Mailbox.ts"
import { follow } from "../../ServerSentEvents.ts"
import { TestInlet } from "../../TestInlet.ts"

/** A domain with an event and a webhook besides the catch-all, and requests about it. */
const domain = Effect.gen(function* () {
  const inlet = yield* TestInlet
  const inbox = yield* inlet.inbox()
  assert.match(yield* inlet.send({ to: inbox.address }), /^250/)
  const [event] = yield* Mailbox.events(inbox)
  const path = `/api/domains/${inbox.domainId}`
  const call = (method: "GET" | "PATCH" | "POST", under: string, body?: unknown) =>
    inlet.call(method, `${path}${under}`, { key: inbox.key, ...(body === undefined ? {} : { body }) })
  const { json } = yield* call("POST", "/webhooks", { pattern: "bounces", action: "hold" })
  return { ...inbox, call, event, webhookId: json.webhook.id as string }
})

// Some languages write UUIDs in capitals (RFC 9562, section 4).
layer(TestInlet.layer(), { excludeTestServices: true })("An id in capitals", (it) => {
  it.effect.each(["cursor=", "after=", "order=asc&after=", "wait=1&after=", "webhook=", "thread="])(
    "is the same id in a list of events: %s",
    (query) =>
      Effect.gen(function* () {
        const { call, domainId, event } = yield* domain
        const id: string = query === "webhook=" ? domainId : query === "thread=" ? event.threadId : event.event_id
        const lists = yield* Effect.forEach([id, id.toUpperCase()], (written) =>
          Effect.map(call("GET", `/events?${query}${written}`), ({ json, status }) => [status, json.events.length])
        )
        assert.deepStrictEqual(lists, Array(2).fill([200, query.endsWith("webhook=") || query === "thread=" ? 1 : 0]))
      })
  )

  it.effect("is the same id in Last-Event-ID of a stream", () =>
    Effect.gen(function* () {
      const { event, ...inbox } = yield* domain
      assert.strictEqual((yield* follow(inbox, event.event_id.toUpperCase())).status, 200)
    }).pipe(Effect.scoped)
  )

  it.effect("is the same id in the kinds of a webhook", () =>
    Effect.gen(function* () {
      const { call, domainId, webhookId } = yield* domain
      const kinds = { bounce: webhookId.toUpperCase() }
      const made = yield* call("POST", "/webhooks", { pattern: "support", action: "hold", kinds })
      assert.strictEqual(made.status, 201, made.text)
      assert.deepStrictEqual(made.json.webhook.kinds, { bounce: webhookId })
      const changed = yield* call("PATCH", `/webhooks/${domainId}`, { kinds })
      assert.strictEqual(changed.status, 200, changed.text)
      const { json } = yield* call("GET", `/webhooks/${domainId}`)
      assert.deepStrictEqual(json.kinds, { bounce: webhookId })
    })
  )
})
