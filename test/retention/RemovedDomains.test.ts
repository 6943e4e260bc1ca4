import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as RemovedDomains from "../../src/retention/RemovedDomains.ts"
import * as Deliveries from "../delivery/Deliveries.ts"
import { eventually } from "../Eventually.ts"
import * as Mailbox from "../Mailbox.ts"
import * as RawLog from "../RawLog.ts"
import * as TestDatabase from "../TestDatabase.ts"
import { TestInlet } from "../TestInlet.ts"
import * as ErasableDomain from "./ErasableDomain.ts"

const left = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const counts: Record<string, number> = {}
  for (const table of ["removed_domains", "inbound_emails", "events", "deliveries", "event_positions"]) {
    counts[table] = (yield* sql`SELECT 1 AS one FROM ${sql(table)}`).length
  }
  return counts
})

const nothing = { removed_domains: 0, inbound_emails: 0, events: 0, deliveries: 0, event_positions: 0 }

layer(TestDatabase.layer, { excludeTestServices: true })("The mail of a removed domain", (it) => {
  it.effect("is removed completely in batches that alternate between domains", () =>
    Effect.gen(function* () {
      const root = yield* ErasableDomain.folder
      const one = yield* ErasableDomain.make(5, 10, root)
      yield* Deliveries.pending(one.domain, 3)
      const two = yield* ErasableDomain.make(3, 10, root)
      yield* one.detach
      yield* two.detach

      const removeSome = yield* RemovedDomains.make(() => Effect.void)
      assert.deepStrictEqual(yield* Effect.replicateEffect(removeSome(2), 3), [2, 2, 2])
      assert.strictEqual((yield* left).removed_domains, 2)
      // As another process, or this one after a restart.
      const other = yield* RemovedDomains.make(() => Effect.void)
      assert.deepStrictEqual(yield* Effect.replicateEffect(other(2), 4), [1, 2, 0, undefined])
      assert.deepStrictEqual(yield* left, nothing)
      assert.strictEqual((yield* one.erase) + (yield* two.erase), 8)
      assert.deepStrictEqual(yield* RawLog.records(root), [])
    })
  )

  it.effect("waits for no empty domain, whose removal queues nothing", () =>
    Effect.gen(function* () {
      const root = yield* ErasableDomain.folder
      const empty = yield* ErasableDomain.make(0, 10, root)
      const one = yield* ErasableDomain.make(1, 10, root)
      yield* Effect.andThen(empty.detach, one.detach)
      assert.deepStrictEqual(yield* one.sql`SELECT domain_id FROM removed_domains`, [{ domainId: one.domain }])
      const removeSome = yield* RemovedDomains.make(() => Effect.void)
      assert.deepStrictEqual(yield* Effect.replicateEffect(removeSome(2), 2), [1, undefined])
      assert.deepStrictEqual(yield* left, nothing)
      assert.strictEqual(yield* one.erase, 1)
    })
  )

  it.effect("is unaffected if the domain exists", () =>
    Effect.gen(function* () {
      const root = yield* ErasableDomain.folder
      const stays = yield* ErasableDomain.make(2, 10, root)
      const removeSome = yield* RemovedDomains.make(() => Effect.void)
      assert.isUndefined(yield* removeSome(2))
      assert.lengthOf(yield* stays.sql`SELECT 1 FROM inbound_emails WHERE domain_id = ${stays.domain}`, 2)
      yield* stays.remove
    })
  )
})

// No worker removes the mail.
layer(TestInlet.layer({ ROLES: "http,smtp" }), { excludeTestServices: true })("A removed domain", (it) => {
  it.effect("is invisible at once, even while its mail is still being removed", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* inlet.inbox()
      const { domainId, key } = inbox
      assert.match(
        yield* Mailbox.deliver(inlet.smtpPort, inbox.address, "Message-ID: <a@b>\r\nSubject: hi\r\n\r\nhi\r\n"),
        /^250 /
      )
      const [event] = yield* eventually(Mailbox.events(inbox), ({ length }) => length === 1)
      assert.strictEqual((yield* inlet.call("DELETE", `/api/domains/${domainId}`, { key })).status, 204)
      assert.strictEqual((yield* left).events, 1)

      const own = `/api/domains/${domainId}`
      for (const path of ["", "/events", `/events/${event.event_id}`, `/events/${event.event_id}/raw`, "/attempts"]) {
        assert.strictEqual((yield* inlet.call("GET", `${own}${path}`, { key })).status, 404, path)
      }
      assert.strictEqual(
        (yield* inlet.call("POST", `${own}/events/${event.event_id}/replay`, { key })).status,
        404,
        "replay"
      )
      assert.deepStrictEqual((yield* inlet.call("GET", "/api/domains", { key })).json.domains, [])
      const { replies } = yield* Effect.scoped(Mailbox.begin(inlet.smtpPort, inbox.address))
      assert.match(replies[0] ?? "", /^550 5\.1\.2 /)
      assert.lengthOf(yield* sql`SELECT 1 FROM domains WHERE name = ${inbox.domain}`, 0)

      const removeSome = yield* RemovedDomains.make(() => Effect.void)
      assert.deepStrictEqual(yield* Effect.replicateEffect(removeSome(10), 2), [1, undefined])
      assert.deepStrictEqual(yield* left, nothing)
    })
  )
})
