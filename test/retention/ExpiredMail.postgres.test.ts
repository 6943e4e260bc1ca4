import { randomUUID } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentTransformer, type Transformer } from "effect/sql/Statement"
import { DomainId } from "../../src/model/Domain.ts"
import * as ExpiredMail from "../../src/retention/ExpiredMail.ts"
import * as Deliveries from "../delivery/Deliveries.ts"
import { eventually } from "../Eventually.ts"
import * as TestDatabase from "../TestDatabase.ts"

/** A domain with an expired mail that no webhook has. */
const domainWithLoss = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [workspace, domain] = [randomUUID(), DomainId.make(randomUUID())]
  yield* sql`INSERT INTO workspaces (id, name, api_key_hash, signing_secret) VALUES (${workspace}, '', ${workspace}, '')`
  yield* sql`
    INSERT INTO domains (id, workspace_id, name, origin, status, verified_at)
    VALUES (${domain}, ${workspace}, ${domain}, 'byo', 'live', now())
  `
  yield* Deliveries.pending(domain, 1)
  yield* sql`UPDATE inbound_emails SET received_at = now() - interval '15 days'`
  yield* sql`UPDATE events SET read_at = now() - interval '15 days'`
  return domain
})

/** Removes the domain in another session, as soon as a statement of the removal of expired mail begins. */
const removedBefore = Effect.fnUntraced(function* (statement: RegExp, domain: string) {
  const sql = yield* SqlClient.SqlClient
  const [reached, mayGoOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const waiting = sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
  const removing = yield* Effect.forkChild(
    Effect.gen(function* () {
      yield* Deferred.await(reached)
      const removal = yield* Effect.forkChild(sql`DELETE FROM domains WHERE id = ${domain}`)
      const isDone = Effect.sync(() => removal.pollUnsafe() !== undefined)
      yield* eventually(
        Effect.zipWith(waiting, isDone, ({ length }, done) => done || length > 0),
        (hasBegun) => hasBegun
      )
      yield* Deferred.succeed(mayGoOn, undefined)
      yield* Fiber.join(removal)
    })
  )
  const pause: Transformer = (self) =>
    statement.test(self.compile()[0])
      ? Effect.as(Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(mayGoOn)), self)
      : Effect.succeed(self)
  const removed = yield* Effect.provideService(yield* ExpiredMail.make(14), CurrentTransformer, pause)
  yield* Fiber.join(removing)
  return removed.map(({ domainId }) => domainId)
})

// The embedded database has one session and thus no concurrency.
layer(TestDatabase.layer, { excludeTestServices: true })("The removal of expired mail", (it) => {
  it.effect.each([
    ["before its loss is recorded", /FOR KEY SHARE/],
    ["while its loss is recorded", /INSERT INTO operational_events/]
  ] as const)("is not rolled back by the removal of a domain %s", ([, statement]) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [domain, other] = [yield* domainWithLoss, yield* domainWithLoss]
      assert.sameMembers(yield* removedBefore(statement, domain), [domain, other])
      assert.deepStrictEqual(yield* sql`SELECT id FROM inbound_emails`, [])
      assert.deepStrictEqual(
        yield* sql`SELECT domain_id FROM operational_events WHERE domain_id = ANY(${[domain, other]}::uuid[])`,
        [{ domainId: other }]
      )
      assert.deepStrictEqual(yield* sql`SELECT id FROM domains WHERE id = ${domain}`, [])
    })
  )
})
