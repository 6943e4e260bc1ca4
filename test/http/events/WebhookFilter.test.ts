import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { SignedRequest } from "../../../src/delivery/RequestSigner.ts"
import { verify } from "../../../src/effect.ts"
import * as Mail from "../../Mail.ts"
import * as Mailbox from "../../Mailbox.ts"
import * as OpenWaits from "../../OpenWaits.ts"
import * as ServerSentEvents from "../../ServerSentEvents.ts"
import { TestInlet } from "../../TestInlet.ts"

const decode = Schema.decodeSync(Schema.fromJsonString(SignedRequest))

/** A domain with a webhook for `support`, which has a secret of its own. */
const begin = Effect.gen(function* () {
  const inlet = yield* TestInlet
  const inbox = yield* inlet.inbox()
  const at = `/api/domains/${inbox.domainId}`
  const { json } = yield* inlet.call("POST", `${at}/webhooks`, {
    key: inbox.key,
    body: { pattern: "support", secret: "own" }
  })
  const receive = Effect.fnUntraced(function* (localPart: string) {
    const to = `${localPart}@${inbox.domain}`
    yield* Mail.send(inlet.smtpPort, { to })
    return (yield* Mailbox.events(inbox)).findLast(({ recipient }) => recipient === to)?.event_id as string
  })
  const ask = (path: string) => inlet.call("GET", path, { key: inbox.key })
  return { ask, at, inbox, receive, webhook: json.webhook.id as string, secret: json.webhook_signing_secret as string }
})

const idsOf = ({ json }: { readonly json: { readonly events: ReadonlyArray<{ readonly event_id: string }> } }) =>
  json.events.map(({ event_id }) => event_id)

layer(TestInlet.layer(), { excludeTestServices: true })("The webhook filter", (it) => {
  it.effect("lists the events that the webhook delivers, of a domain and of all", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { ask, at, inbox, receive, webhook } = yield* begin
      const other = yield* receive("sales")
      const own = yield* receive("support+1")
      for (const path of [`${at}/events`, "/api/events"]) {
        assert.deepStrictEqual(idsOf(yield* ask(`${path}?webhook=${webhook}`)), [own])
        assert.deepStrictEqual(idsOf(yield* ask(`${path}?webhook=${inbox.domainId}`)), [other])
        assert.deepStrictEqual(idsOf(yield* ask(`${path}?webhook=${webhook}&delivery=held`)), [own])
      }
      // A replay moves the delivery to another webhook.
      yield* inlet.call("PATCH", `${at}/webhooks/${webhook}`, { key: inbox.key, body: { action: "pull" } })
      yield* inlet.call("POST", `${at}/events/${other}/replay?webhook=${webhook}`, { key: inbox.key })
      assert.deepStrictEqual(idsOf(yield* ask(`${at}/events?webhook=${webhook}`)), [own, other])
      assert.strictEqual((yield* ask(`${at}/events?webhook=support`)).status, 400)
    })
  )

  it.effect("waits for and streams only the mail of the webhook", () =>
    Effect.gen(function* () {
      const { ask, at, inbox, receive, webhook } = yield* begin
      const waiting = yield* Effect.forkChild(ask(`${at}/events?webhook=${webhook}&wait=30`))
      yield* OpenWaits.are(1)
      const stream = yield* ServerSentEvents.follow(inbox, "start", `?webhook=${webhook}`)
      yield* receive("sales")
      const own = yield* receive("support")
      assert.deepStrictEqual(idsOf(yield* Fiber.join(waiting)), [own])
      assert.strictEqual((yield* stream.next).id, own)
    }).pipe(Effect.scoped)
  )

  it.effect("signs a stream with the secret of the webhook, which must be one of the domain", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { at, inbox, receive, secret, webhook } = yield* begin
      const stream = yield* ServerSentEvents.follow(inbox, "start", `?signed=true&webhook=${webhook}`)
      yield* receive("sales")
      const own = yield* receive("support")
      const { body, headers } = decode((yield* stream.next).data)
      const event = yield* Effect.orDie(verify({ headers, rawBody: Buffer.from(body), secret }))
      assert.strictEqual(event.event_id, own)
      const foreign = yield* begin
      const refused = yield* inlet.call("GET", `${at}/events/stream?signed=true&webhook=${foreign.webhook}`, {
        key: inbox.key
      })
      assert.strictEqual(refused.status, 404)
    }).pipe(Effect.scoped)
  )
})
