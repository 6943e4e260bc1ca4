import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { OrderLooks } from "../../src/purchase/PurchaseWorker.ts"
import * as FakeRegistrar from "../../src/testing/FakeRegistrar.ts"
import { eventually } from "../Eventually.ts"
import { TestInlet } from "../TestInlet.ts"

const registrar = FakeRegistrar.make()

/** A paid order of a new workspace. */
const paid = Effect.fnUntraced(function* (name: string) {
  const inlet = yield* TestInlet
  const sql = yield* SqlClient.SqlClient
  const { id } = yield* inlet.workspace
  yield* sql`
    INSERT INTO orders (
      id, workspace_id, name, years, registrar, billing, price_cents, status, success_url, cancel_url
    )
    VALUES (
      gen_random_uuid(), ${id}, ${name}, 1, 'fake', 'mock', 1000, 'registering', 'http://localhost', 'http://localhost'
    )
  `
  return Effect.map(
    sql<{ readonly status: string }>`SELECT status FROM orders WHERE name = ${name}`,
    ([order]) => order?.status
  )
})

it.live("An order whose registrar hangs does not hold up the orders of others", () =>
  Effect.gen(function* () {
    yield* registrar.will("hang", "holds")
    const hanging = yield* paid("hangs.com")
    yield* eventually(
      Effect.sync(() => registrar.calls),
      (calls) => calls.some(({ names }) => names.includes("hangs.com"))
    )
    yield* registrar.will("work")
    const other = yield* paid("other.com")
    yield* eventually(other, (status) => status === "completed")
    assert.strictEqual(yield* hanging, "registering")
  }).pipe(
    Effect.provide(
      TestInlet.layer({}, registrar.layer).pipe(Layer.provide(Layer.succeed(OrderLooks, { interval: "50 millis" })))
    )
  )
)
