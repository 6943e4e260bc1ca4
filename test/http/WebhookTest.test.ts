import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { verifySync } from "../../src/webhook.ts"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Ports from "../Ports.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

layer(Layer.merge(TestInlet.layer({ WEBHOOK_TIMEOUT: "5s", WEBHOOK_CHANGES_PER_MINUTE: "0" }), WebhookReceiver.layer), {
  excludeTestServices: true
})("A webhook", (it) => {
  const tested = Effect.fnUntraced(function* (url?: string) {
    const inlet = yield* TestInlet
    const inbox = yield* inlet.inbox(url)
    const test = inlet.call("POST", `/api/domains/${inbox.domainId}/webhook/test`, { key: inbox.key })
    const health = Effect.map(
      inlet.call("GET", `/api/domains/${inbox.domainId}/webhook/health`, { key: inbox.key }),
      ({ json }) => json
    )
    return { ...inbox, test, health }
  })

  it.effect("gets a signed test event at once, of which nothing is stored", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const { domain, domainId, key, secret, test } = yield* tested(receiver.url)
      const { json, status } = yield* test
      assert.strictEqual(status, 200)
      assert.deepInclude(json, { ok: true, statusCode: 200, error: null, responseBody: '{"ok":true}' })
      const { body, headers, path } = yield* receiver.next
      assert.strictEqual(path, new URL(receiver.url).pathname)
      const event = verifySync({ headers, rawBody: body, secret })
      assert.deepInclude(event, { event_id: json.event_id, domain, recipient: `test@${domain}` })
      assert.strictEqual(event.envelope.remoteAddress, "simulate")
      assert.strictEqual(json.request.body, body.toString())
      const { json: list } = yield* inlet.call("GET", `/api/domains/${domainId}/events`, { key })
      assert.deepStrictEqual(list.events, [])
      const { json: attempts } = yield* inlet.call("GET", `/api/domains/${domainId}/delivery-attempts`, { key })
      assert.deepStrictEqual(attempts.deliveryAttempts, [])
    })
  )

  it.effect("gets a test event with the fields of every other event", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const { domainId, key, test } = yield* tested(receiver.url)
      const { json } = yield* test
      const tester = yield* receiver.next
      yield* inlet.call("POST", `/api/domains/${domainId}/simulate`, { key, body: { sample: "code" } })
      const real = yield* receiver.next
      assert.strictEqual(tester.event.event_id, json.event_id)
      assert.deepStrictEqual(Object.keys(tester.event), Object.keys(real.event))
      assert.deepStrictEqual(
        [tester.event.webhook_id, tester.event.pattern, tester.event.trust.aligned],
        [domainId, "*", false]
      )
    })
  )

  it.effect("that redirects gets a test result with the target, because Inlet follows no redirects", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver
      const { test } = yield* tested(receiver.url)
      yield* receiver.answerWith({ status: 308, headers: { location: "https://app.example/inbound/" } })
      const { json } = yield* test
      assert.deepInclude(json, {
        ok: false,
        statusCode: 308,
        error:
          "Your endpoint redirects to https://app.example/inbound/. Inlet follows no redirects. Set the webhook to the URL it redirects to"
      })
    })
  )

  it.effect("that fails gets a test result that says what to check", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver
      const { test } = yield* tested(receiver.url)
      const errors = [
        [
          401,
          /^Your endpoint answered 401\. The webhook rejects the request\. If it verifies the signature, check its secret/
        ],
        [404, /^Your endpoint answered 404\. Nothing takes POST requests at this URL/],
        [410, /dead at once/],
        [500, /^Your endpoint answered 500\. The webhook failed\. Look at its log/]
      ] as const
      for (const [status, words] of errors) {
        yield* receiver.answerWith({ status, body: "x".repeat(5_000) })
        const { json } = yield* test
        assert.match(json.error, words)
        assert.strictEqual(json.responseBody.length, 1_024)
      }
      yield* receiver.answerWith(() => {})
      const late = yield* test
      assert.deepInclude(late.json, { ok: false, statusCode: null })
      assert.match(late.json.error, /^no answer within 5 s\. Answer as soon as the event is stored/)
      const { test: nobody } = yield* tested(`http://127.0.0.1:${yield* Ports.free}/`)
      assert.match((yield* nobody).json.error, /^connection refused\. Start the server/)
    })
  )

  it.effect("that is missing is a conflict, and another workspace's is not found", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { domainId, test } = yield* tested()
      assert.strictEqual((yield* test).status, 409)
      const { key } = yield* inlet.workspace
      for (const path of ["webhook/health", "dns", "health", "stats"]) {
        assert.strictEqual((yield* inlet.call("GET", `/api/domains/${domainId}/${path}`, { key })).status, 404)
      }
      const other = yield* inlet.call("POST", `/api/domains/${domainId}/webhook/test`, { key })
      assert.strictEqual(other.status, 404)
    })
  )

  it.effect("has a health with its last success, its last error and what waits", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const { address, health } = yield* tested(receiver.url)
      assert.deepInclude(yield* health, { attempts: 0, p50_ms: null, last_success_at: null, failing_since: null })
      yield* receiver.answerWith(200, 503)
      yield* Mail.send(inlet.smtpPort, { to: address, subject: "one" })
      yield* eventually(health, ({ last_success_at }) => last_success_at !== null)
      yield* Mail.send(inlet.smtpPort, { to: address, subject: "two" })
      const failed = yield* eventually(health, ({ failing_since }) => failing_since !== null)
      assert.deepInclude(failed, { attempts: 2, failed: 1, pending: 1, dead: 0, held: 0, paused_at: null })
      assert.strictEqual(failed.last_error, "the webhook answered 503")
      assert.isAtLeast(failed.p50_ms, 0)
      assert.isAtLeast(failed.p99_ms, failed.p50_ms)
    })
  )

  it.effect("has no success of an earlier URL", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const { address, domainId, health, key } = yield* tested(receiver.url)
      yield* Mail.send(inlet.smtpPort, { to: address, subject: "one" })
      yield* eventually(health, ({ last_success_at }) => last_success_at !== null)
      const body = { webhookUrl: `${receiver.url}/other` }
      yield* inlet.call("PATCH", `/api/domains/${domainId}/delivery`, { key, body })
      assert.isNull((yield* health).last_success_at)
      const { json } = yield* inlet.call("GET", `/api/domains/${domainId}/health`, { key })
      const { message } = json.checks.find(({ check }: { readonly check: string }) => check === "webhook")
      assert.match(message, /has had no delivery yet/)
    })
  )

  it.effect("has no success of a URL once agents lease its mail", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const { address, domainId, health, key } = yield* tested(receiver.url)
      yield* Mail.send(inlet.smtpPort, { to: address, subject: "posted" })
      yield* eventually(health, ({ last_success_at }) => last_success_at !== null)
      for (const body of [{ webhookUrl: null }, { pull: true }]) {
        yield* inlet.call("PATCH", `/api/domains/${domainId}/delivery`, { key, body })
      }
      assert.isNull((yield* health).last_success_at)
      yield* Mail.send(inlet.smtpPort, { to: address, subject: "leased" })
      const deliveries = `/api/domains/${domainId}/deliveries`
      const { json } = yield* inlet.call("POST", `${deliveries}/lease`, { key, body: { wait: 20 } })
      const [{ attempt, event_id }] = json.deliveries
      const outcomes = [{ event_id, attempt, statusCode: 200, durationMs: 12 }]
      yield* inlet.call("POST", `${deliveries}/settle`, { key, body: { outcomes } })
      yield* eventually(health, ({ last_success_at }) => last_success_at !== null)
    })
  )

  it.effect("request of an event is returned with a signature of now", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { address, domainId, key, secret } = yield* tested()
      yield* Mail.send(inlet.smtpPort, { to: address, subject: "signed", html: "<b>bold</b><script>x()</script>" })
      const list = inlet.call("GET", `/api/domains/${domainId}/events`, { key })
      const { json } = yield* eventually(list, ({ json }) => json.events.length === 1)
      const place = `/api/domains/${domainId}/events/${json.events[0].event_id}`
      const { json: request } = yield* inlet.call("GET", `${place}/signed`, { key })
      const event = verifySync({ headers: lowerCase(request.headers), rawBody: request.body, secret })
      assert.strictEqual(event.subject, "signed")
      const html = yield* inlet.call("GET", `${place}/html`, { key })
      assert.include(html.text, "<b>bold</b>")
      assert.notInclude(html.text, "script")
      assert.match(html.headers["content-security-policy"] ?? "", /^sandbox; default-src 'none'/)
    })
  )
})

const lowerCase = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
