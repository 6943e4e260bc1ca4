import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Webhook } from "standardwebhooks"
import { Stripe } from "stripe"
import { verify } from "../../src/effect.ts"
import { version } from "../../src/Version.ts"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import { TestInlet } from "../TestInlet.ts"
import { type ReceivedRequest, WebhookReceiver } from "../WebhookReceiver.ts"

const toleratedSeconds = 300

const stripe = new Stripe("sk_test_none")

/** Stripe's library parses `t=…,v1=…` and uses the whole secret as HMAC key, as in section 6 of the specification. */
const stripeVerifies = (request: ReceivedRequest, header: string | Array<string> | undefined, secret: string) =>
  Effect.try({
    try: () => stripe.webhooks.signature?.verifyHeader(request.body, header ?? "", secret, toleratedSeconds) === true,
    catch: () => "refused"
  }).pipe(Effect.orElseSucceed(() => false))

/** The reference library of the Standard Webhooks specification. */
const standardVerifies = (request: ReceivedRequest, secret: string) =>
  Effect.try({
    try: () => {
      new Webhook(secret).verify(request.body, {
        "webhook-id": `${request.headers["webhook-id"]}`,
        "webhook-timestamp": `${request.headers["webhook-timestamp"]}`,
        "webhook-signature": `${request.headers["webhook-signature"]}`
      })
      return true
    },
    catch: () => "refused"
  }).pipe(Effect.orElseSucceed(() => false))

const oursVerifies = (request: ReceivedRequest, secret: string) =>
  verify({ headers: request.headers, rawBody: request.body, secret }).pipe(
    Effect.as(true),
    Effect.catchTag("SignatureMismatch", () => Effect.succeed(false))
  )

layer(Layer.merge(TestInlet.layer({ WEBHOOK_RETRY_DELAYS: "5s,5s" }), WebhookReceiver.layer), {
  excludeTestServices: true
})("A webhook request", (it) => {
  const rotate = Effect.fnUntraced(function* (key: string) {
    const inlet = yield* TestInlet
    const { json, status } = yield* inlet.call("POST", "/api/workspaces/rotate-secret", { key })
    assert.strictEqual(status, 200)
    return json.webhook_signing_secret as string
  })

  const mail = Effect.fnUntraced(function* (address: string) {
    const inlet = yield* TestInlet
    const receiver = yield* WebhookReceiver
    yield* Mail.send(inlet.smtpPort, { to: address, subject: "Grüße 📬", text: "“Zoë”\u2028\u0007" })
    return yield* receiver.next
  })

  it.effect("has headers of both families that match the payload", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const { address } = yield* inlet.inbox(receiver.url)
      const { event, headers, method, path } = yield* mail(address)

      assert.strictEqual(method, "POST")
      assert.strictEqual(path, "/hook")
      assert.strictEqual(headers["content-type"], "application/json")
      assert.strictEqual(headers["user-agent"], `Inlet/${version}`)
      assert.strictEqual(headers["x-service-event-id"], event.event_id)
      assert.strictEqual(headers["webhook-id"], event.event_id)
      const timestamp = `${headers["x-service-timestamp"]}`
      assert.match(timestamp, /^\d{10}$/)
      assert.strictEqual(headers["webhook-timestamp"], timestamp)
      assert.match(`${headers["x-service-signature"]}`, new RegExp(`^t=${timestamp},v1=[0-9a-f]{64}$`))
      assert.match(`${headers["webhook-signature"]}`, /^v1,[A-Za-z0-9+/]{43}=$/)
      assert.notProperty(headers, "x-service-signature-previous")
    })
  )

  it.effect("is verified by independent libraries, and only with its secret", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const { address, secret } = yield* inlet.inbox(receiver.url)
      const other = yield* inlet.workspace
      const request = yield* mail(address)
      const signature = request.headers["x-service-signature"]

      assert.isTrue(yield* stripeVerifies(request, signature, secret))
      assert.isTrue(yield* standardVerifies(request, secret))
      assert.isTrue(yield* oursVerifies(request, secret))
      assert.isFalse(yield* stripeVerifies(request, signature, other.secret))
      assert.isFalse(yield* standardVerifies(request, other.secret))
      const changed = { ...request, body: Buffer.concat([request.body, Buffer.from(" ")]) }
      assert.isFalse(yield* stripeVerifies(changed, signature, secret))
      assert.isFalse(yield* standardVerifies(changed, secret))
    })
  )

  it.effect("has the same bytes, a later timestamp and a new signature on a retry", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const { address, secret } = yield* inlet.inbox(receiver.url)
      yield* receiver.answerWith(500, 503)

      const first = yield* mail(address)
      let before = first
      for (const _ of ["second", "third"]) {
        const retry = yield* attemptAfter(before)
        assert.deepStrictEqual(retry.body, first.body)
        assert.strictEqual(retry.headers["x-service-event-id"], first.headers["x-service-event-id"])
        assert.strictEqual(retry.headers["webhook-id"], first.headers["webhook-id"])
        assert.isAbove(Number(retry.headers["x-service-timestamp"]), Number(before.headers["x-service-timestamp"]))
        assert.notStrictEqual(retry.headers["x-service-signature"], before.headers["x-service-signature"])
        assert.isTrue(yield* stripeVerifies(retry, retry.headers["x-service-signature"], secret))
        assert.isTrue(yield* standardVerifies(retry, secret))
        before = retry
      }
    })
  )

  it.effect("is signed with the new and the old secret after a rotation", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const { address, key, secret: old } = yield* inlet.inbox(receiver.url)
      const next = yield* rotate(key)
      assert.match(next, /^whsec_[A-Za-z0-9+/]{43}=$/)
      assert.notStrictEqual(next, old)

      const request = yield* mail(address)
      const current = request.headers["x-service-signature"]
      const previous = request.headers["x-service-signature-previous"]
      assert.match(`${current}`, /^t=\d+,v1=[0-9a-f]{64}$/)
      assert.match(`${previous}`, /^t=\d+,v1=[0-9a-f]{64}$/)
      assert.isTrue(yield* stripeVerifies(request, current, next))
      assert.isFalse(yield* stripeVerifies(request, current, old))
      assert.isTrue(yield* stripeVerifies(request, previous, old))
      assert.isFalse(yield* stripeVerifies(request, previous, next))
      assert.match(`${request.headers["webhook-signature"]}`, /^v1,\S{44} v1,\S{44}$/)
      for (const secret of [next, old]) {
        assert.isTrue(yield* standardVerifies(request, secret))
        assert.isTrue(yield* oursVerifies(request, secret))
      }
    })
  )

  it.effect("is no longer signed with the old secret 24 h after the rotation", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const sql = yield* SqlClient.SqlClient
      const { address, key, secret: old } = yield* inlet.inbox(receiver.url)
      const next = yield* rotate(key)
      const [left] = yield* sql<{ readonly hours: number }>`
        SELECT extract(epoch FROM max(previous_secret_until) - now())::float8 / 3600 AS hours FROM workspaces
      `
      assert.closeTo(left?.hours ?? Number.NaN, 24, 0.01)

      yield* pass("23 hours 59 minutes")
      const before = yield* mail(address)
      assert.isTrue(yield* standardVerifies(before, old))
      assert.property(before.headers, "x-service-signature-previous")

      yield* pass("1 minute")
      const after = yield* mail(address)
      assert.isTrue(yield* standardVerifies(after, next))
      assert.isFalse(yield* standardVerifies(after, old))
      assert.match(`${after.headers["webhook-signature"]}`, /^v1,\S{44}$/)
      assert.notProperty(after.headers, "x-service-signature-previous")
    })
  )

  it.effect("is signed with the last two secrets after a second rotation within a day", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const { address, key, secret: first } = yield* inlet.inbox(receiver.url)
      const second = yield* rotate(key)
      yield* pass("12 hours")
      const third = yield* rotate(key)
      yield* pass("23 hours")

      const request = yield* mail(address)
      assert.isTrue(yield* stripeVerifies(request, request.headers["x-service-signature"], third))
      assert.isTrue(yield* stripeVerifies(request, request.headers["x-service-signature-previous"], second))
      assert.isTrue(yield* oursVerifies(request, second))
      assert.isFalse(yield* oursVerifies(request, first))
      assert.isFalse(yield* standardVerifies(request, first))
    })
  )

  it.effect("is signed with the secret at the time of the request, not of the mail", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const { address, key, secret: old } = yield* inlet.inbox(receiver.url)
      yield* receiver.answerWith(500)
      const before = yield* mail(address)
      assert.isTrue(yield* oursVerifies(before, old))

      const next = yield* rotate(key)
      const retry = yield* attemptAfter(before)
      assert.deepStrictEqual(retry.body, before.body)
      assert.isTrue(yield* stripeVerifies(retry, retry.headers["x-service-signature"], next))
      assert.isTrue(yield* stripeVerifies(retry, retry.headers["x-service-signature-previous"], old))
    })
  )
})

/** Moves the rotation of the secret back by this time. */
const pass = (time: string) =>
  SqlClient.SqlClient.use(
    (sql) => sql`UPDATE workspaces SET previous_secret_until = previous_secret_until - ${time}::interval`
  )

/** The next attempt, made due in a later second than this signature. */
const attemptAfter = Effect.fnUntraced(function* (before: ReceivedRequest) {
  const sql = yield* SqlClient.SqlClient
  const receiver = yield* WebhookReceiver
  const signedAt = Number(before.headers["x-service-timestamp"])
  yield* eventually(Clock.currentTimeMillis, (now) => now >= (signedAt + 1) * 1_000)
  yield* eventually(
    sql`
      UPDATE deliveries SET due_at = now()
      WHERE event_id = ${before.event.event_id} AND status = 'pending' AND leased_until IS NULL
      RETURNING event_id
    `,
    (moved) => moved.length === 1
  )
  return yield* receiver.next
})
