import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "../Eventually.ts"
import { TestInlet } from "../TestInlet.ts"

/** Runs a change while another one, of these statements, is committed between its begin and its end. */
const meanwhile = Effect.fnUntraced(function* <A, E, R, A2, E2, R2>(
  change: Effect.Effect<A, E, R>,
  other: Effect.Effect<A2, E2, R2>
) {
  const sql = yield* SqlClient.SqlClient
  const isMade = yield* Deferred.make<void>()
  const isFree = yield* Deferred.make<void>()
  const made = yield* other.pipe(
    Effect.andThen(Deferred.succeed(isMade, undefined)),
    Effect.andThen(Deferred.await(isFree)),
    sql.withTransaction,
    Effect.forkChild
  )
  yield* Deferred.await(isMade)
  const changed = yield* Effect.forkChild(change)
  yield* eventually(
    sql`
      SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%webhooks%'
    `,
    ({ length }) => length > 0
  )
  yield* Deferred.succeed(isFree, undefined)
  yield* Fiber.join(made)
  return yield* Fiber.join(changed)
})

layer(TestInlet.layer(), { excludeTestServices: true })("A webhook that changes meanwhile", (it) => {
  it.effect("keeps the URL it is given while pull is switched on", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const { domainId, key } = yield* inlet.inbox()
      const url = "http://127.0.0.1:9/hook"
      const { json, status } = yield* meanwhile(
        inlet.call("PATCH", `/api/domains/${domainId}/delivery`, { key, body: { pull: true } }),
        sql`UPDATE webhooks SET action = 'webhook', url = ${url} WHERE id = ${domainId}`
      )
      assert.strictEqual(status, 409, JSON.stringify(json))
      const [webhook] = yield* sql`SELECT action, url FROM webhooks WHERE id = ${domainId}`
      assert.deepStrictEqual(webhook, { action: "webhook", url })
    })
  )

  it.effect("keeps the secret of its workspace that it is given while its own is rotated", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const { domainId, key } = yield* inlet.inbox()
      const path = `/api/domains/${domainId}/webhooks`
      const { json } = yield* inlet.call("POST", path, {
        key,
        body: { pattern: "own", action: "pull", secret: "own" }
      })
      const { id } = json.webhook
      const { status } = yield* meanwhile(
        inlet.call("POST", `${path}/${id}/rotate-secret`, { key }),
        sql`UPDATE webhooks SET signing_secret = NULL WHERE id IN (${id}, ${domainId})`
      )
      assert.strictEqual(status, 409)
      const [webhook] = yield* sql`SELECT signing_secret IS NULL AS is_shared FROM webhooks WHERE id = ${id}`
      assert.deepStrictEqual(webhook, { isShared: true })
    })
  )
})
