import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "../Eventually.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"

/** Whether a statement of this database with these words waits for a lock. */
const waits = Effect.fnUntraced(function* (words: string) {
  const sql = yield* SqlClient.SqlClient
  const found = yield* sql`
    SELECT 1 FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE ${`%${words}%`}
  `
  return found.length > 0
})

layer(TestInlet.layer(), { excludeTestServices: true })("The removal of a webhook", (it) => {
  it.effect("finds the replay job that starts meanwhile", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* inlet.inbox()
      const { domainId, key } = inbox
      yield* inlet.send({ to: inbox.address })
      yield* Mailbox.accepted(inbox)
      const { json } = yield* inlet.call("POST", `/api/domains/${domainId}/webhooks`, {
        key,
        body: { pattern: "agent", action: "pull" }
      })
      const { id } = json.webhook
      const isFree = yield* Deferred.make<void>()
      const isLocked = yield* Deferred.make<void>()
      const lock = yield* sql`LOCK TABLE replays IN SHARE MODE`.pipe(
        Effect.andThen(Deferred.succeed(isLocked, undefined)),
        Effect.andThen(Deferred.await(isFree)),
        sql.withTransaction,
        Effect.forkChild
      )
      yield* Deferred.await(isLocked)
      const start = yield* Effect.forkChild(
        inlet.call("POST", `/api/domains/${domainId}/replays`, {
          key,
          body: { status: "held", webhook_id: id }
        })
      )
      yield* eventually(waits("INSERT INTO replays"), (isSo) => isSo)
      const removal = yield* Effect.forkChild(inlet.call("DELETE", `/api/domains/${domainId}/webhooks/${id}`, { key }))
      yield* eventually(waits("FROM webhooks%FOR UPDATE"), (isSo) => isSo)
      yield* Deferred.succeed(isFree, undefined)
      yield* Fiber.join(lock)
      assert.strictEqual((yield* Fiber.join(start)).status, 202)
      const removed = yield* Fiber.join(removal)
      assert.strictEqual(removed.status, 409)
      assert.match(removed.json.error, /^The replay [\da-f-]{36} sends mail to this webhook\. /)
    })
  )

  it.effect("takes it out of the kinds that another webhook leaves to it meanwhile", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const { domainId, key } = yield* inlet.inbox()
      const path = `/api/domains/${domainId}/webhooks`
      const create = (pattern: string) =>
        Effect.map(
          inlet.call("POST", path, { key, body: { pattern, action: "pull" } }),
          ({ json }) => json.webhook.id as string
        )
      const [agents, bounces] = [yield* create("agent-*"), yield* create("bounces")]
      const isFree = yield* Deferred.make<void>()
      const isLocked = yield* Deferred.make<void>()
      const lock = yield* sql`SELECT 1 FROM webhooks WHERE id = ${agents} FOR UPDATE`.pipe(
        Effect.andThen(Deferred.succeed(isLocked, undefined)),
        Effect.andThen(Deferred.await(isFree)),
        sql.withTransaction,
        Effect.forkChild
      )
      yield* Deferred.await(isLocked)
      const change = yield* Effect.forkChild(
        inlet.call("PATCH", `${path}/${agents}`, { key, body: { kinds: { bounce: bounces } } })
      )
      yield* eventually(waits("UPDATE webhooks SET%kinds"), (isSo) => isSo)
      const removal = yield* Effect.forkChild(inlet.call("DELETE", `${path}/${bounces}`, { key }))
      yield* Effect.raceFirst(
        Fiber.await(removal),
        eventually(waits("FROM webhooks%FOR NO KEY UPDATE"), (isSo) => isSo)
      )
      yield* Deferred.succeed(isFree, undefined)
      yield* Fiber.join(lock)
      assert.strictEqual((yield* Fiber.join(change)).status, 200)
      assert.strictEqual((yield* Fiber.join(removal)).status, 204)
      const { json } = yield* inlet.call("GET", `${path}/${agents}`, { key })
      assert.deepStrictEqual(json.kinds ?? json.webhook?.kinds, {})
    })
  )
})
