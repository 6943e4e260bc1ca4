import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Dns } from "effect/net"
import { StepTime } from "../../src/purchase/OrderSteps.ts"
import { OrderLooks } from "../../src/purchase/PurchaseWorker.ts"
import * as FakeAuthority from "../../src/testing/FakeAuthority.ts"
import * as FakeBilling from "../../src/testing/FakeBilling.ts"
import * as FakeClock from "../../src/testing/FakeClock.ts"
import * as FakeDns from "../../src/testing/FakeDns.ts"
import * as FakeRawStore from "../../src/testing/FakeRawStore.ts"
import * as FakeRegistrar from "../../src/testing/FakeRegistrar.ts"
import * as FakeSigner from "../../src/testing/FakeSigner.ts"
import { type Options, TestInlet } from "../../src/testing/TestInlet.ts"
import { eventually } from "../Eventually.ts"
import { letDue } from "../purchase/Shop.ts"
import { database } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

/** A service with these layers that checks its orders often, on a database of the suite. */
const inletOf = ({ settings, ...options }: Options) =>
  TestInlet.layer({ database, ...options, settings: { MAX_DOMAINS_PER_WORKSPACE: "0", ...settings } }).pipe(
    Layer.provide(Layer.succeed(OrderLooks, { interval: "50 millis" }))
  )

/** The same for a provider that hangs. */
const impatientInletOf = (options: Options) =>
  inletOf(options).pipe(Layer.provide(Layer.succeed(StepTime, "2 seconds")))

/** A workspace that buys names. */
const customer = Effect.gen(function* () {
  const inlet = yield* TestInlet
  const { key } = yield* inlet.workspace
  const order = (id: string) => Effect.map(inlet.call("GET", `/api/domains/orders/${id}`, { key }), ({ json }) => json)
  return {
    key,
    get: (path: string) => inlet.call("GET", path, { key }),
    buy: (domain: string) => inlet.call("POST", "/api/domains/purchase", { key, body: { domain, years: 1 } }),
    /** Repeats the order's step without the pause after a failure. */
    comesTo: (id: string, status: string) =>
      eventually(Effect.andThen(letDue(id), order(id)), (now) => now.status === status),
    order
  }
})

describe("A fake registrar", { concurrent: true }, () => {
  it.live("sells each of its names once and verifies it", () => {
    const registrar = FakeRegistrar.make({ name: "acme", prices: { "agent.com": 800 } })
    return Effect.gen(function* () {
      const { buy, get } = yield* customer
      const { json: found } = yield* get("/api/domains/search?q=agent&tlds=com,net")
      assert.deepStrictEqual(
        found.results.map((result: Record<string, unknown>) => [result.domain, result.price_cents, result.registrar]),
        [
          ["agent.com", 1_099, "acme"],
          ["agent.net", null, null]
        ]
      )
      const { json, status } = yield* buy("agent.com")
      assert.strictEqual(status, 201)
      assert.strictEqual(json.registrar, "acme")
      yield* eventually(get(`/api/domains/${json.domain_id}`), (domain) => domain.json.status === "mx_pending")
      assert.deepStrictEqual([...registrar.sold], ["agent.com"])
      assert.includeDeepMembers(
        [...registrar.calls],
        [
          { call: "register", names: ["agent.com"] },
          { call: "publish", names: ["agent.com"] }
        ]
      )
    }).pipe(Effect.provide(inletOf({ registrar: registrar.layer })))
  })

  it.live("refuses with a refund, and after a failure or hang the order waits until it works again", () => {
    const registrar = FakeRegistrar.make()
    const billing = FakeBilling.make()
    return Effect.gen(function* () {
      const { buy, comesTo } = yield* customer
      yield* registrar.will("refuse", "register")
      const refused = yield* buy("refused.com")
      assert.strictEqual(refused.status, 502)
      assert.match(refused.json.error, /^The registrar refused: .*\. The price was given back; order \S+ tells more$/)
      assert.deepStrictEqual(
        billing.refunded.map(({ domain }) => `${domain}`),
        ["refused.com"]
      )

      yield* registrar.will("fail", "register")
      const waiting = yield* buy("waiting.com")
      assert.strictEqual(waiting.status, 202)
      assert.strictEqual(waiting.json.status, "registering")
      yield* registrar.will("work")
      yield* comesTo(waiting.json.order_id, "completed")

      yield* registrar.will("hang", "quote")
      assert.strictEqual((yield* buy("silent.com")).status, 502)
    }).pipe(Effect.provide(impatientInletOf({ registrar: registrar.layer, billing: billing.layer })))
  })
})

describe("A registrar of one's own that hangs", { concurrent: true }, () => {
  it.live("is left after a minute: 202, and the orders of others go on", () => {
    const registrar = FakeRegistrar.make()
    return Effect.gen(function* () {
      const { buy, comesTo } = yield* customer
      yield* registrar.will("hang", "publish")
      const first = yield* buy("first.com")
      assert.deepStrictEqual([first.status, first.json.status], [202, "provisioning"])
      yield* registrar.will("work")
      yield* registrar.will("hang", "register")
      const second = yield* buy("second.com")
      assert.deepStrictEqual([second.status, second.json.status], [202, "registering"])
      yield* registrar.will("work")
      const third = yield* buy("third.com")
      yield* comesTo(third.json.order_id, "completed")
      yield* comesTo(first.json.order_id, "completed")
      yield* comesTo(second.json.order_id, "completed")
    }).pipe(Effect.provide(impatientInletOf({ registrar: registrar.layer })))
  })
})

describe("A signer of one's own", { concurrent: true }, () => {
  it.live("that refuses or hangs is 503 where an event is asked for, and the delivery can be leased again", () => {
    const signer = FakeSigner.make()
    return Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { address, domainId, key } = yield* inlet.inbox()
      yield* inlet.call("PATCH", `/api/domains/${domainId}/delivery`, { key, body: { pull: true } })
      yield* inlet.send({ to: address })
      const lease = inlet.call("POST", `/api/domains/${domainId}/deliveries/lease`, { key, body: { wait: 10 } })
      yield* signer.will("refuse")
      const refused = yield* lease
      assert.deepStrictEqual(
        [refused.status, refused.json.error],
        [503, "The event could not be signed: the signer refused. Retry in a minute"]
      )
      yield* signer.will("hang")
      assert.strictEqual((yield* lease).status, 503)
      yield* signer.will("work")
      const [delivery] = (yield* lease).json.deliveries
      yield* signer.will("hang")
      const signed = yield* inlet.call("GET", `/api/domains/${domainId}/events/${delivery.event_id}/signed`, { key })
      assert.deepStrictEqual(
        [signed.status, signed.json.error],
        [503, "The event could not be signed: no signature within 1 s. Retry in a minute"]
      )
    }).pipe(Effect.provide(impatientInletOf({ signer: signer.layer, settings: { WEBHOOK_TIMEOUT: "1s" } })))
  })
})

describe("A fake billing", { concurrent: true }, () => {
  it.live("debits at once, or refuses with 409 and without an order", () => {
    const billing = FakeBilling.make({ name: "invoices" })
    return Effect.gen(function* () {
      const { buy } = yield* customer
      assert.strictEqual((yield* buy("paid.com")).status, 201)
      yield* billing.will("refuse")
      const refused = yield* buy("unpaid.com")
      assert.strictEqual(refused.status, 409)
      assert.include(refused.json.error, "The fake billing refuses")
      yield* billing.will("hang", "charge")
      const late = yield* buy("late.com")
      assert.deepStrictEqual(
        [late.status, late.json.error],
        [502, "The payment did not end in time. Check whether it was charged, then order again"]
      )
      assert.deepStrictEqual(
        billing.charged.map(({ domain }) => `${domain}`),
        ["paid.com"]
      )
    }).pipe(Effect.provide(impatientInletOf({ billing: billing.layer })))
  })

  it.live("opens a checkout, whose callbacks update the order", () => {
    const billing = FakeBilling.make({ checkout: true })
    return Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { buy, comesTo } = yield* customer
      const { json, status } = yield* buy("agent.com")
      assert.strictEqual(status, 202)
      assert.strictEqual(json.checkout_url, `https://pay.example/${json.order_id}`)
      const heard = yield* inlet.call("POST", "/api/webhooks/stripe", { body: billing.news("paid", json) })
      assert.strictEqual(heard.status, 200)
      yield* comesTo(json.order_id, "completed")
      assert.lengthOf(billing.charged, 1)

      for (const mood of ["fail", "hang"] as const) {
        yield* billing.will(mood, "checkout")
        const unopened = yield* buy(`${mood}.com`)
        assert.deepStrictEqual(
          [unopened.status, unopened.json.error],
          [502, "The payment provider does not answer. Nothing was charged. Retry in a minute"]
        )
      }
    }).pipe(Effect.provide(impatientInletOf({ billing: billing.layer })))
  })
})

describe("A fake DNS", { concurrent: true }, () => {
  it.live("returns its configured answers, which verify an own domain", () => {
    const dns = FakeDns.make()
    return Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { get, key } = yield* customer
      const { json } = yield* inlet.call("POST", "/api/domains", { key, body: { domain: "example.com" } })
      const verify = inlet.call("POST", `/api/domains/${json.id}/verify`, { key })
      assert.strictEqual((yield* verify).status, 409)
      yield* dns.answer(json.txt_name, { TXT: [json.txt_value] })
      yield* dns.will("fail")
      assert.notStrictEqual((yield* verify).status, 200)
      yield* dns.will("work")
      assert.strictEqual((yield* verify).status, 200)
      yield* dns.answer("example.com", { MX: [{ priority: 10, exchange: json.mx_target }] })
      assert.isTrue((yield* get(`/api/domains/${json.id}/mx`)).json.configured)
    }).pipe(Effect.provide(inletOf({ dns: dns.layer })))
  })

  const verdicts = (from: string) =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { address, domainId, key } = yield* inlet.inbox()
      assert.match(yield* inlet.send({ to: address, from }), /^250 /)
      const events = yield* eventually(
        inlet.call("GET", `/api/domains/${domainId}/events`, { key }),
        ({ json }) => json.events.length === 1
      )
      const path = `/api/domains/${domainId}/events/${events.json.events[0].event_id}`
      return (yield* inlet.call("GET", path, { key })).json.authentication
    })

  it.live("answers the sender checks of mail, also after a change of its records", () => {
    const dns = FakeDns.make({
      "refused.example": { TXT: ["v=spf1 -all"] },
      "allowed.example": { TXT: ["v=spf1 ip4:127.0.0.1 -all"] },
      "_dmarc.allowed.example": { TXT: ["v=DMARC1; p=reject"] },
      "host.example": { TXT: ["v=spf1 a mx -all"], addresses: ["2001:db8::1", "127.0.0.1"] },
      "mail.example": { TXT: ["v=spf1 mx -all"], MX: [{ priority: 10, exchange: "host.example" }] }
    })
    return Effect.gen(function* () {
      const spf = (domain: string) => Effect.map(verdicts(`ada@${domain}`), (all) => all.spf)
      assert.strictEqual(yield* spf("refused.example"), "fail")
      const { dmarc, spf: allowed } = yield* verdicts("ada@allowed.example")
      assert.deepStrictEqual([allowed, dmarc], ["pass", "pass"])
      assert.strictEqual(yield* spf("host.example"), "pass")
      assert.strictEqual(yield* spf("mail.example"), "pass")
      assert.strictEqual(yield* spf("unknown.example"), "none")
      yield* dns.answer("refused.example", { TXT: ["v=spf1 ip4:127.0.0.1 -all"] })
      assert.strictEqual(yield* spf("refused.example"), "pass")
      yield* dns.will("fail", "resolve")
      assert.strictEqual(yield* spf("refused.example"), "temperror")
      yield* dns.will("hang", "resolve")
      assert.strictEqual(yield* spf("refused.example"), "temperror")
    }).pipe(Effect.provide(impatientInletOf({ dns: dns.layer })))
  })

  it.effect("finds names in any case, with and without a final dot", () => {
    const dns = FakeDns.make({ "One.Example.": { TXT: ["1"], addresses: ["203.0.113.1"] } })
    return Effect.gen(function* () {
      const { lookup, resolve } = yield* Dns.Dns
      yield* dns.answer("TWO.example.", { TXT: ["2"], addresses: ["203.0.113.2"] })
      for (const name of ["one.example", "ONE.example.", "two.example", "Two.Example."]) {
        assert.lengthOf(yield* resolve(name, "TXT"), 1, name)
        assert.lengthOf(yield* lookup(name), 1, name)
      }
    }).pipe(Effect.provide(dns.layer))
  })
})

describe("A fake raw store", { concurrent: true }, () => {
  it.live("stores mail, runs full, and loses messages", () => {
    const rawStore = FakeRawStore.make()
    return Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { address, domainId, key } = yield* inlet.inbox()
      assert.match(yield* inlet.send({ to: address, subject: "Kept" }), /^250 /)
      yield* rawStore.will("fail", "put")
      assert.match(yield* inlet.send({ to: address, subject: "Not kept" }), /^451 /)
      const events = yield* eventually(
        inlet.call("GET", `/api/domains/${domainId}/events`, { key }),
        ({ json }) => json.events.length === 1
      )
      const raw = inlet.call("GET", `/api/domains/${domainId}/events/${events.json.events[0].event_id}/raw`, { key })
      assert.include((yield* raw).text, "Subject: Kept")
      yield* rawStore.will("refuse", "get")
      assert.strictEqual((yield* raw).status, 404)
      yield* rawStore.will("fail", "get")
      assert.strictEqual((yield* raw).status, 503)
    }).pipe(Effect.provide(inletOf({ rawStore: rawStore.layer })))
  })
})

describe("A fake clock", { concurrent: true }, () => {
  it.live("changes the timestamp of webhook signatures", () => {
    const clock = FakeClock.make()
    return Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const { address } = yield* inlet.inbox(receiver.url)
      const signedAt = Effect.andThen(
        inlet.send({ to: address }),
        Effect.map(receiver.next, ({ headers }) => Number(headers["x-service-timestamp"]))
      )
      const before = yield* signedAt
      yield* clock.move("1 day")
      assert.approximately((yield* signedAt) - before, 86_400, 60)
    }).pipe(Effect.provide([inletOf({ clock: clock.layer }), WebhookReceiver.layer]))
  })
})

describe("TestInlet", { concurrent: true }, () => {
  it.live("refuses a misspelled setting", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(Layer.build(TestInlet.layer({ settings: { MAX_EMAIL_PER_DAY: "1" } })))
      assert.include(`${exit}`, "settings: MAX_EMAIL_PER_DAY is no setting of Inlet")
    }).pipe(Effect.scoped)
  )

  it.live("accepts settings by name and returns a refusal of the server as its answer", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { address } = yield* inlet.inbox()
      assert.match(yield* inlet.send({ to: address, text: "x".repeat(3_000) }), /^552 /)
      assert.match(yield* inlet.send({ to: "nobody@unknown.example" }), /^550 /)
    }).pipe(Effect.provide(TestInlet.layer({ settings: { MAX_MESSAGE_BYTES: "2000" } })))
  )
})

describe("The helpers of TestInlet", { concurrent: true }, () => {
  it.live("die with the answer when the service refuses their webhook URL", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const exit = yield* Effect.exit(inlet.inbox("localhost:4000/hook"))
      assert.match(`${exit}`, /PATCH \/api\/domains\/\S+\/delivery answered 400 .*webhookUrl/)
    }).pipe(Effect.provide(inletOf({})))
  )

  it.live("die with the answer when only the operator creates workspaces and there is no ADMIN_TOKEN", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      for (const helper of [Effect.asVoid(inlet.workspace), Effect.asVoid(inlet.inbox())]) {
        assert.match(`${yield* Effect.exit(helper)}`, /POST \/api\/workspaces answered 403 .*ADMIN_TOKEN/)
      }
    }).pipe(Effect.provide(inletOf({ settings: { WORKSPACE_CREATION: "admin" } })))
  )

  it.live("create workspaces with ADMIN_TOKEN when only the operator does", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { address, key } = yield* inlet.inbox()
      assert.match(key, /^ak_live_/)
      assert.match(yield* inlet.send({ to: address }), /^250 /)
    }).pipe(Effect.provide(inletOf({ settings: { WORKSPACE_CREATION: "admin", ADMIN_TOKEN: "operator" } })))
  )
})

describe("A fake certificate authority", { concurrent: true }, () => {
  const settings = {
    ACME_DIRECTORY: "http://127.0.0.1:9/directory",
    ACME_TERMS_AGREED: "true",
    ADMIN_TOKEN: "operator"
  }
  const certificate = Effect.gen(function* () {
    const inlet = yield* TestInlet
    const { json } = yield* inlet.call("GET", "/admin/status", { key: "operator" })
    return json.certificate
  })

  it.live("issues a certificate for the mail server", () => {
    const authority = FakeAuthority.make({ days: 30 })
    return Effect.gen(function* () {
      const { not_after, not_before } = yield* eventually(certificate, (now) => now.not_after !== null)
      assert.closeTo(Date.parse(not_after) - Date.parse(not_before), 30 * 86_400_000, 1_000)
      assert.deepStrictEqual(authority.orders, ["mx.inlet.test"])
    }).pipe(Effect.provide(inletOf({ authority: authority.layer, settings })))
  })

  it.live("refuses, and the operator sees its reason", () => {
    const authority = FakeAuthority.make()
    return Effect.gen(function* () {
      const { failures, not_after, problem } = yield* eventually(certificate, (now) => now.failures > 0)
      assert.strictEqual(failures, 1)
      assert.isNull(not_after)
      assert.match(problem, /^The fake authority refuses\. The authority does not issue for mx\.inlet\.test/)
    }).pipe(
      Effect.provide(
        Layer.unwrap(Effect.as(authority.will("refuse"), inletOf({ authority: authority.layer, settings })))
      )
    )
  })
})
