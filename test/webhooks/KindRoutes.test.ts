import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

interface Shown {
  readonly id: string
  readonly kinds: Readonly<Record<string, string>>
}

/** A domain with a webhook for `agent-*` and one for bounces, which the first leaves to it. */
const withBounces = Effect.fnUntraced(function* () {
  const inlet = yield* TestInlet
  const agents = yield* WebhookReceiver.make
  const bounces = yield* WebhookReceiver.make
  const inbox = yield* inlet.inbox()
  const call = (method: "DELETE" | "GET" | "PATCH" | "POST", path: string, body?: unknown) =>
    inlet.call(method, `/api/domains/${inbox.domainId}${path}`, {
      key: inbox.key,
      ...(body === undefined ? {} : { body })
    })
  const create = (body: object) =>
    Effect.map(call("POST", "/webhooks", body), ({ json, status, text }) => {
      assert.strictEqual(status, 201, text)
      return json.webhook as Shown
    })
  const second = yield* create({ pattern: "bounces", webhookUrl: bounces.url })
  const first = yield* create({ pattern: "agent-*", webhookUrl: agents.url, kinds: { bounce: second.id } })
  const simulate = (sample: "bounce" | "code") =>
    Effect.map(
      call("POST", "/simulate?wait=10", { sample, recipient: `agent-7@${inbox.domain}` }),
      ({ json }) => json.events[0].event_id as string
    )
  return { ...inbox, call, create, simulate, first, second, agents, bounces }
})

layer(Layer.merge(TestInlet.layer({ SENDER_CHECKS: "false" }), WebhookReceiver.layer), {
  excludeTestServices: true
})("Mail of a kind that a webhook leaves to another one", (it) => {
  it.effect("goes to that webhook, and other mail does not", () =>
    Effect.gen(function* () {
      const { agents, bounces, call, first, second, simulate } = yield* withBounces()
      const bounce = yield* simulate("bounce")
      const code = yield* simulate("code")
      assert.strictEqual((yield* bounces.next).event.event_id, bounce)
      assert.strictEqual((yield* agents.next).event.event_id, code)
      const { json } = yield* call("GET", `/events/${bounce}`)
      assert.strictEqual(json.kind.type, "bounce")
      assert.deepStrictEqual([json.webhook_id, json.pattern], [second.id, "bounces"])
      const other = (yield* call("GET", `/events/${code}`)).json
      assert.deepStrictEqual([other.webhook_id, other.pattern], [first.id, "agent-*"])
    })
  )

  it.effect("is named with its kind in the trace", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { bounces, domain, key, simulate } = yield* withBounces()
      yield* simulate("bounce")
      yield* bounces.next
      const { text } = yield* inlet.call("GET", `/api/trace?to=agent-7@${domain}`, { key })
      assert.include(text, "Kind: bounce. ")
      assert.include(text, ", which takes mail of this kind, is at ")
    })
  )

  it.effect("is found in lists by its kind, in brief events by its name", () =>
    Effect.gen(function* () {
      const { call, simulate } = yield* withBounces()
      const bounce = yield* simulate("bounce")
      const code = yield* simulate("code")
      const listed = Effect.fnUntraced(function* (kind: string) {
        const { json } = yield* call("GET", `/events?view=brief&kind=${kind}`)
        return json.events.map((event: { readonly event_id: string; readonly kind: string }) => [
          event.event_id,
          event.kind
        ])
      })
      assert.deepStrictEqual(yield* listed("bounce"), [[bounce, "bounce"]])
      assert.deepStrictEqual(yield* listed("bulk"), [[code, "bulk"]])
      assert.deepStrictEqual(yield* listed("calendar"), [])
      const { json, status } = yield* call("GET", "/events?kind=letter")
      assert.strictEqual(status, 400)
      assert.include(json.error, "Expected one of person, auto_reply, bounce")
    })
  )

  it.effect("goes to the webhook of its address again once the other one is removed", () =>
    Effect.gen(function* () {
      const { agents, call, first, second, simulate } = yield* withBounces()
      assert.deepStrictEqual(first.kinds, { bounce: second.id })
      assert.strictEqual((yield* call("DELETE", `/webhooks/${second.id}`)).status, 204)
      assert.deepStrictEqual((yield* call("GET", `/webhooks/${first.id}`)).json.kinds, {})
      const bounce = yield* simulate("bounce")
      assert.strictEqual((yield* agents.next).event.event_id, bounce)
    })
  )

  it.effect("needs another webhook of the domain, and one that does not reject", () =>
    Effect.gen(function* () {
      const { call, create, domainId, first } = yield* withBounces()
      const closed = yield* create({ pattern: "closed", action: "reject" })
      const change = (kinds: object) => call("PATCH", `/webhooks/${first.id}`, { kinds })
      for (const [kinds, error] of [
        [{ bounce: first.id }, "kinds.bounce: Expected the id of another webhook of this domain"],
        [{ list: "01981c9e-0000-7000-8000-000000000001" }, "kinds.list: Expected the id of another webhook"],
        [{ bulk: closed.id }, `kinds.bulk: The webhook ${closed.id} rejects mail`],
        [{ letter: domainId }, "kinds: Expected only the kinds person, auto_reply, bounce"]
      ] as const) {
        const { json, status } = yield* change(kinds)
        assert.strictEqual(status, 400)
        assert.include(json.error, error)
      }
      assert.deepStrictEqual((yield* change({ bulk: domainId })).json.webhook.kinds, { bulk: domainId })
      assert.deepStrictEqual((yield* change({})).json.webhook.kinds, {})
    })
  )

  it.effect("cannot be rejected by the webhook that takes it, also not by the catch-all", () =>
    Effect.gen(function* () {
      const { call, domainId, first, second } = yield* withBounces()
      const reject = (id: string) => call("PATCH", `/webhooks/${id}`, { action: "reject" })
      const takeBounces = (kinds: object) => call("PATCH", `/webhooks/${first.id}`, { kinds })
      const refused = yield* reject(second.id)
      assert.strictEqual(refused.status, 409)
      assert.include(refused.json.error, "The webhook agent-* leaves mail of the kind bounce to this one")
      assert.include(refused.json.error, `/webhooks/${first.id} and kinds`)
      assert.strictEqual((yield* call("GET", `/webhooks/${second.id}`)).json.action, "webhook")
      yield* takeBounces({ bounce: domainId })
      assert.strictEqual((yield* reject(second.id)).status, 200)
      assert.strictEqual((yield* reject(domainId)).status, 409)
      yield* takeBounces({})
      assert.strictEqual((yield* reject(domainId)).status, 200)
    })
  )

  it.effect("allows only one of two concurrent changes, one that names a webhook and one that lets it reject", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 3; round++) {
        const { call, first, second } = yield* withBounces()
        yield* call("PATCH", `/webhooks/${first.id}`, { kinds: {} })
        const answers = yield* Effect.all(
          [
            call("PATCH", `/webhooks/${first.id}`, { kinds: { bounce: second.id } }),
            call("PATCH", `/webhooks/${second.id}`, { action: "reject" })
          ],
          { concurrency: 2 }
        )
        assert.lengthOf(
          answers.filter(({ status }) => status === 200),
          1,
          answers.map(({ text }) => text).join()
        )
      }
    })
  )
})
