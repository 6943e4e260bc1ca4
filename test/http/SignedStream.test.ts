import { assert, layer } from "@effect/vitest"
import { Array, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Webhook } from "standardwebhooks"
import { SignedRequest } from "../../src/delivery/RequestSigner.ts"
import { verify } from "../../src/effect.ts"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import { follow } from "../ServerSentEvents.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

const decode = Schema.decodeSync(Schema.fromJsonString(SignedRequest))

/** Independent libraries and Inlet's, with one secret. */
const verified = Effect.fnUntraced(function* ({ body, headers }: SignedRequest, secret: string) {
  const standard = yield* Effect.sync(() => new Webhook(secret).verify(body, headers))
  const ours = yield* Effect.orDie(verify({ headers, rawBody: body, secret }))
  assert.deepStrictEqual(standard, ours)
  return ours
})

layer(Layer.merge(TestInlet.layer(), WebhookReceiver.layer), { excludeTestServices: true })("A signed stream", (it) => {
  it.effect("sends each event as its webhook request, without affecting the delivery", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const inbox = yield* inlet.inbox(receiver.url)
      const stream = yield* follow(inbox, "start", "?signed=true")
      assert.strictEqual(stream.status, 200)
      yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "Grüße 📬", text: 'a "b"\\\u2028\u0007' })
      const { data, event, id } = yield* stream.next
      const copy = decode(data)
      const made = yield* receiver.next
      assert.strictEqual(event, "inbound.email.received")
      assert.strictEqual(copy.body, made.body.toString())
      const { event_id } = yield* verified(copy, inbox.secret)
      assert.strictEqual(event_id, id)
      // The webhook's headers without those of the connection and the time.
      const own = ["host", "connection", "content-length", "transfer-encoding"]
      assert.sameMembers(
        Object.keys(copy.headers).map((name) => name.toLowerCase()),
        Object.keys(made.headers).filter((name) => !own.includes(name))
      )
      const attempts = inlet.call("GET", `/api/domains/${inbox.domainId}/delivery-attempts`, { key: inbox.key })
      yield* eventually(attempts, ({ json }) => json.deliveryAttempts.length === 1)
    })
  )

  it.effect("signs at the time of sending, with both secrets during a rotation", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const stream = yield* follow(inbox, "start", "?signed=true")
      yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "before" })
      const before = decode((yield* stream.next).data)
      yield* verified(before, inbox.secret)
      const { json } = yield* inlet.call("POST", "/api/workspaces/rotate-secret", { key: inbox.key })
      yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "after" })
      const after = decode((yield* stream.next).data)
      yield* verified(after, json.webhook_signing_secret)
      yield* verified(after, inbox.secret)

      const again = yield* follow(inbox, "start", "?signed=true")
      const [first, second] = yield* Effect.replicateEffect(again.next, 2)
      assert.deepStrictEqual(
        [first, second].map((event) => decode(event?.data ?? "").body),
        [before.body, after.body]
      )
      yield* verified(decode(first?.data ?? ""), json.webhook_signing_secret)
    })
  )

  it.effect("starts at the oldest retained mail after start, like lists", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      for (const number of Array.range(1, 3)) {
        yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: `mail ${number}` })
      }
      const stream = yield* follow(inbox, "start")
      const events = yield* Effect.replicateEffect(stream.next, 3)
      const { json } = yield* inlet.call("GET", `/api/domains/${inbox.domainId}/events?after=start&order=asc`, {
        key: inbox.key
      })
      assert.deepStrictEqual(
        events.map(({ id }) => id),
        json.events.map(({ event_id }: { readonly event_id: string }) => event_id)
      )
    })
  )

  it.effect("starts at once after millions of expired mails", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* inlet.inbox()
      yield* inlet.send({ to: inbox.address })
      const [event] = yield* Mailbox.accepted(inbox)
      yield* sql`UPDATE events SET position = 3000000 WHERE domain_id = ${inbox.domainId}`
      yield* sql`UPDATE event_positions SET position = 3000000 WHERE domain_id = ${inbox.domainId}`
      const stream = yield* follow(inbox, "start")
      assert.strictEqual((yield* stream.next).id, event.event_id)
    })
  )

  it.effect("answers 400 to a view parameter and to a signed parameter other than true or false", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { domainId, key } = yield* inlet.inbox()
      const ask = (query: string) => inlet.call("GET", `/api/domains/${domainId}/events/stream?${query}`, { key })
      const both = yield* ask("signed=true&view=brief")
      assert.strictEqual(both.status, 400)
      assert.match(both.json.error, /^signed: Leave out view/)
      const other = yield* ask("signed=1")
      assert.strictEqual(other.status, 400)
      assert.strictEqual(other.json.error, "signed: Expected true or false")
    })
  )
})
