import { assert, layer } from "@effect/vitest"
import { Array, Effect } from "effect"
import * as Mail from "../Mail.ts"
import { TestInlet } from "../TestInlet.ts"

layer(TestInlet.layer(), { excludeTestServices: true })("The instant inbox", (it) => {
  it.effect("is created by the first call with 201", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { key } = yield* inlet.workspace
      const { json, status } = yield* inlet.call("POST", "/api/instant-inbox", { key })
      assert.strictEqual(status, 201)
      assert.match(json.domain, /^[a-z\d]{10}\.inbox\.inlet\.test$/)
      assert.deepStrictEqual(json, {
        address: `inbox@${json.domain}`,
        domain_id: json.domain_id,
        domain: json.domain,
        existing: false
      })
    })
  )

  it.effect("is returned by later calls with 200", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { key } = yield* inlet.workspace
      const first = yield* inlet.call("POST", "/api/instant-inbox", { key })
      const second = yield* inlet.call("POST", "/api/instant-inbox", { key })
      assert.strictEqual(second.status, 200)
      assert.deepStrictEqual(second.json, { ...first.json, existing: true })
    })
  )

  it.effect("is created once for twenty concurrent calls", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { key } = yield* inlet.workspace
      const answers = yield* Effect.forEach(
        Array.range(1, 20),
        () => inlet.call("POST", "/api/instant-inbox", { key }),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(
        answers.filter(({ status }) => status === 201),
        1
      )
      assert.lengthOf(
        answers.filter(({ status }) => status === 200),
        19
      )
      assert.lengthOf(Array.dedupe(answers.map(({ json }) => json.domain_id)), 1)
      for (const { json, status } of answers) assert.strictEqual(json.existing, status === 200)
      assert.lengthOf((yield* inlet.call("GET", "/api/domains", { key })).json.domains, 1)
    })
  )

  it.effect("starts as verified without DNS records and accepts every local part", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const { json } = yield* inlet.call("GET", `/api/domains/${inbox.domainId}`, { key: inbox.key })
      assert.strictEqual(json.origin, "instant")
      assert.strictEqual(json.status, "verified")
      assert.isNull(json.txt_name)
      assert.isNull(json.txt_value)
      assert.isNull(json.live_at)
      assert.isNotNull(json.verified_at)
      assert.match(yield* Mail.send(inlet.smtpPort, { to: `any.body+at-all@${inbox.domain}` }), /^250/)
    })
  )

  it.effect("is a new one after the first is removed", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* inlet.call("DELETE", `/api/domains/${inbox.domainId}`, { key: inbox.key })
      const { json, status } = yield* inlet.call("POST", "/api/instant-inbox", { key: inbox.key })
      assert.strictEqual(status, 201)
      assert.notStrictEqual(json.domain, inbox.domain)
    })
  )

  it.effect("has an unguessable name", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inboxes = yield* Effect.forEach(Array.range(1, 20), () => inlet.inbox())
      assert.lengthOf(Array.dedupe(inboxes.map(({ domain }) => domain)), 20)
      const stranger = yield* Effect.flip(Mail.send(inlet.smtpPort, { to: "inbox@aaaaaaaaaa.inbox.inlet.test" }))
      assert.strictEqual(stranger.code, 550)
    })
  )
})
