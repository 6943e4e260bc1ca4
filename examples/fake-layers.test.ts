import assert from "node:assert/strict"
import { test } from "node:test"
import { Effect } from "effect"
import { FakeBilling, FakeRegistrar, TestInlet } from "inlet-mail/testing"

const registrar = FakeRegistrar.make({ name: "acme", prices: { "my-agent.com": 800 } })
const billing = FakeBilling.make({ name: "invoices" })

const purchase = Effect.gen(function* () {
  const inlet = yield* TestInlet
  const { key } = yield* inlet.workspace
  const order = yield* inlet.call("POST", "/api/domains/purchase", { key, body: { domain: "my-agent.com", years: 1 } })
  assert.equal(order.json.status, "completed")
  assert.deepEqual([...registrar.sold], ["my-agent.com"])
  assert.equal(billing.charged[0]?.priceCents, 800 + 299)
}).pipe(Effect.provide(TestInlet.layer({ registrar: registrar.layer, billing: billing.layer })))

test("a domain is bought from our registrar, and paid our way", () => Effect.runPromise(purchase))
