import { layer } from "@effect/vitest"
import { Effect, Layer, Metric } from "effect"
import { SqlClient } from "effect/sql"
import * as QueueMetrics from "../../src/delivery/QueueMetrics.ts"
import { eventually } from "../Eventually.ts"
import * as TestDatabase from "../TestDatabase.ts"
import * as Deliveries from "./Deliveries.ts"
import * as Queues from "./Queues.ts"

const url = "http://hooks.example/inbound"

/** The value of a gauge, for one of its queues. */
const gauge = (id: string, queue?: string) =>
  Effect.map(Metric.snapshot, (all) => {
    const found = all.find((one) => one.id === id && one.attributes?.queue === queue)
    return found?.type === "Gauge" ? Number(found.state.value) : undefined
  })

const look = Layer.build(Layer.fresh(QueueMetrics.layer))

layer(Queues.layer().pipe(Layer.provideMerge(TestDatabase.layer)), {
  excludeTestServices: true
})("The queue metrics", (it) => {
  it.effect("are 0 for empty queues", () =>
    Effect.gen(function* () {
      yield* look
      for (const queue of ["messages", "deliveries", "pull"]) {
        yield* eventually(gauge("inlet_queue_oldest_seconds", queue), (seconds) => seconds === 0)
      }
      for (const id of ["inlet_webhooks_paused", "inlet_deliveries_retrying", "inlet_deliveries_dead"]) {
        yield* eventually(gauge(id), (count) => count === 0)
      }
    })
  )

  it.effect("count deliveries that wait for a retry, and dead ones", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* Deliveries.domain(url)
      yield* Deliveries.pending(id, 9)
      yield* sql`
        UPDATE deliveries SET attempts = 1, due_at = now() + interval '1 hour'
        WHERE domain_id = ${id} AND position BETWEEN 2 AND 4
      `
      yield* sql`UPDATE deliveries SET status = 'dead' WHERE domain_id = ${id} AND position > 7`
      yield* look
      yield* eventually(gauge("inlet_deliveries_retrying"), (count) => count === 3)
      yield* eventually(gauge("inlet_deliveries_dead"), (count) => count === 2)
      yield* sql`DELETE FROM deliveries`
    })
  )

  it.effect(
    "report the age of the oldest unread message and due delivery, without paused webhooks, with pull delivery apart",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const paused = yield* Deliveries.domain(url)
        yield* Deliveries.pending(paused.id, 1)
        yield* Deliveries.pass("1 day")
        yield* sql`
        UPDATE webhooks SET failing_since = now(), paused_at = now(), probe_at = now()
        WHERE id = ${paused.id}
      `
        const late = yield* Deliveries.domain(url)
        yield* Deliveries.pending(late.id, 1)
        yield* sql`UPDATE deliveries SET due_at = now() - interval '4 minutes' WHERE domain_id = ${late.id}`
        const pulled = yield* Deliveries.domain(null)
        yield* sql`UPDATE webhooks SET url = NULL, action = 'pull' WHERE id = ${pulled.id}`
        yield* Deliveries.pending(pulled.id, 1)
        yield* sql`UPDATE deliveries SET due_at = now() - interval '9 minutes' WHERE domain_id = ${pulled.id}`
        yield* sql`
        UPDATE inbound_emails SET state = 'received', received_at = now() - interval '7 minutes'
        WHERE domain_id = ${late.id}
      `
        yield* look
        const about = (expected: number) => (seconds: number | undefined) => Math.abs((seconds ?? 0) - expected) < 10
        yield* eventually(gauge("inlet_queue_oldest_seconds", "messages"), about(420))
        yield* eventually(gauge("inlet_queue_oldest_seconds", "deliveries"), about(240))
        yield* eventually(gauge("inlet_queue_oldest_seconds", "pull"), about(540))
        yield* eventually(gauge("inlet_webhooks_paused"), (count) => count === 1)
      })
  )
})
