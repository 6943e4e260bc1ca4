import { assert, layer } from "@effect/vitest"
import { Array, Context, Effect, Layer, Metric, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { DomainId, DomainName } from "../../src/model/Domain.ts"
import { WorkspaceId } from "../../src/model/Workspace.ts"
import * as ExpiredRefusals from "../../src/refusals/ExpiredRefusals.ts"
import type { Refusal } from "../../src/refusals/RefusalBuffer.ts"
import { Bounds, RefusalNotes } from "../../src/refusals/RefusalNotes.ts"
import { Refusals } from "../../src/refusals/Refusals.ts"
import { eventually } from "../Eventually.ts"
import * as Mailbox from "../Mailbox.ts"
import * as TestDatabase from "../TestDatabase.ts"

const quick = Layer.succeed(Bounds, { limits: {}, idleMillis: 10, afterFailureMillis: 10 })

const world = Layer.mergeAll(RefusalNotes.layer.pipe(Layer.provide(quick)), Refusals.layer).pipe(
  Layer.provideMerge(TestDatabase.layer)
)

let numbers = 0
/** A verified domain of a new workspace. */
const domain = Effect.suspend(() => Mailbox.attach(`notes-${numbers++}.example`))

const refusal = (about: Partial<Refusal>): Refusal => ({
  domain: null,
  reason: "quota",
  code: 452,
  reply: "452 4.2.2 The recipient has reached its limit",
  client: "203.0.113.9",
  helo: "client.example",
  from: "sender@sender.example",
  recipient: "someone@known.example",
  ...about
})

const rowsOf = (domainId: DomainId) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ readonly count: string; readonly recipient: string | null }>`
      SELECT count::text AS count, recipient FROM refusals WHERE domain_id = ${domainId}
    `
  )

/** The refusals that no server of this process has kept. */
const dropped = Effect.map(Metric.snapshot, (all) => {
  const found = all.find(({ id }) => id === "inlet_refusals_dropped_total")
  return found?.type === "Counter" ? Number(found.state.count) : 0
})

const countOf = (rows: ReadonlyArray<{ readonly count: string }>) =>
  rows.reduce((sum, { count }) => sum + Number(count), 0)

layer(world, { excludeTestServices: true })("The ledger of refusals", (it) => {
  it.effect("keeps 1,000 rows of a domain and day, and counts the others by hour and reason", () =>
    Effect.gen(function* () {
      const notes = yield* RefusalNotes
      const { domainId: id } = yield* domain
      for (const round of Array.range(0, 12)) {
        for (const number of Array.range(0, 99)) {
          notes.note(refusal({ domain: { id }, recipient: `${round}-${number}@known.example` }))
        }
        yield* eventually(rowsOf(id), (rows) => countOf(rows) === 100 * (round + 1))
      }
      const rows = yield* rowsOf(id)
      assert.strictEqual(rows.filter(({ recipient }) => recipient !== null).length, 1_000)
      // One for each hour.
      assert.isAtMost(rows.length, 1_002)
      // A known one still counts in its row.
      notes.note(refusal({ domain: { id }, recipient: "0-0@known.example" }))
      yield* eventually(rowsOf(id), (seen) => countOf(seen) === 1_301)
      assert.strictEqual((yield* rowsOf(id)).filter(({ recipient }) => recipient !== null).length, 1_000)
      const sql = yield* SqlClient.SqlClient
      const [day] = yield* sql<{ readonly refused: string }>`
        SELECT sum(refused)::text AS refused FROM domain_day_refusals WHERE domain_id = ${id}
      `
      assert.strictEqual(day?.refused, "1301")
    })
  )

  it.effect("keeps a bounded number of unknown names, and tells apart those of other clients", () =>
    Effect.gen(function* () {
      const notes = yield* RefusalNotes
      const sql = yield* SqlClient.SqlClient
      const ask = (name: string, client: string) =>
        notes.note(refusal({ domain: { name: DomainName.make(name) }, reason: "unknown", client }))
      const total = sql<{ readonly rows: number; readonly count: string }>`
        SELECT count(*)::int AS rows, sum(count)::text AS count FROM unknown_refusals WHERE client = '203.0.113.77'
      `
      for (const round of Array.range(0, 4)) {
        for (const number of Array.range(0, 149)) ask(`flood-${round}-${number}.example`, "203.0.113.77")
        yield* eventually(total, ([seen]) => seen?.count === `${150 * (round + 1)}`)
      }
      ask("asked.example", "203.0.113.78")
      const rows = yield* eventually(
        sql<{ readonly name: string }>`SELECT name FROM unknown_refusals WHERE client = '203.0.113.78'`,
        (rows) => rows.length === 1
      )
      assert.strictEqual(rows[0]?.name, "asked.example")
      assert.isBelow((yield* total)[0]?.rows ?? 0, 203)
    })
  )

  it.effect("is searched by Message-ID, sender, recipient and subject, in the own workspace alone", () =>
    Effect.gen(function* () {
      const notes = yield* RefusalNotes
      const refusals = yield* Refusals
      const sql = yield* SqlClient.SqlClient
      const [mine, other] = [yield* domain, yield* domain]
      const workspaceOf = (id: DomainId) =>
        Effect.map(sql<{ readonly workspaceId: string }>`SELECT workspace_id FROM domains WHERE id = ${id}`, ([row]) =>
          WorkspaceId.make(row?.workspaceId ?? "")
        )
      for (const { address, domainId: id } of [mine, other]) {
        const details = { messageId: "<Same@sender.example>", subject: "The Invoice of May", bytes: 9 }
        notes.note(refusal({ domain: { id }, recipient: address, ...details }))
      }
      yield* eventually(rowsOf(other.domainId), (rows) => rows.length === 1)
      yield* eventually(rowsOf(mine.domainId), (rows) => rows.length === 1)
      const scope = { workspaceId: yield* workspaceOf(mine.domainId) }
      const searches = [
        { messageId: "<sAME@sender.example>" },
        { from: "SENDER@sender.example" },
        { recipient: mine.address.toUpperCase() },
        { subject: "invoice OF" },
        { domainIds: [mine.domainId, other.domainId] },
        {}
      ]
      for (const search of searches) {
        const { refusals: found } = yield* refusals.search({ ...search, scope, limit: 10 })
        assert.deepStrictEqual(
          found.map(({ domain_id }) => domain_id),
          [mine.domainId],
          JSON.stringify(search)
        )
      }
      const { refusals: all } = yield* refusals.search({ messageId: "<same@sender.example>", scope: "all", limit: 10 })
      assert.sameMembers(
        all.map(({ domain_id }) => domain_id),
        [mine.domainId, other.domainId]
      )
      const nothing = [
        { recipient: other.address },
        { subject: "100%" },
        { domainIds: [other.domainId] },
        { messageId: "%" },
        { from: "%" }
      ]
      for (const search of nothing) {
        assert.deepStrictEqual(
          (yield* refusals.search({ ...search, scope, limit: 10 })).refusals,
          [],
          JSON.stringify(search)
        )
      }
      assert.lengthOf((yield* refusals.search({ subject: "invoice", scope: "all", limit: 1 })).refusals, 1)
    })
  )

  it.effect("drops a batch that the database refuses, and goes on", () =>
    Effect.gen(function* () {
      const notes = yield* RefusalNotes
      const sql = yield* SqlClient.SqlClient
      const { domainId: id } = yield* domain
      yield* sql`ALTER TABLE refusals ADD CONSTRAINT refusals_refused CHECK (subject <> 'poison')`
      const before = yield* dropped
      notes.note(refusal({ domain: { id }, subject: "poison", recipient: "poison@known.example" }))
      // The next one is in another batch.
      yield* eventually(dropped, (now) => now === before + 1)
      notes.note(refusal({ domain: { id }, recipient: "after@known.example" }))
      const rows = yield* eventually(rowsOf(id), (rows) => rows.length > 0)
      assert.deepStrictEqual(
        rows.map(({ recipient }) => recipient),
        ["after@known.example"]
      )
      yield* sql`ALTER TABLE refusals DROP CONSTRAINT refusals_refused`
    })
  )

  it.effect("writes what it has when it is stopped", () =>
    Effect.gen(function* () {
      const { domainId: id } = yield* domain
      yield* Effect.scoped(
        Effect.gen(function* () {
          const slow = Layer.succeed(Bounds, { limits: {}, idleMillis: 600_000, afterFailureMillis: 10 })
          const own = yield* Layer.build(Layer.fresh(RefusalNotes.layer).pipe(Layer.provide(slow)))
          // The first round has found nothing, and the next one is far away.
          yield* Effect.sleep("100 millis")
          Context.get(own, RefusalNotes).note(refusal({ domain: { id } }))
        })
      )
      assert.lengthOf(yield* rowsOf(id), 1)
    })
  )

  it.effect("keeps nothing of a domain that was removed meanwhile, and the rest of the batch", () =>
    Effect.gen(function* () {
      const notes = yield* RefusalNotes
      const sql = yield* SqlClient.SqlClient
      const [gone, there] = [yield* domain, yield* domain]
      yield* sql`DELETE FROM domains WHERE id = ${gone.domainId}`
      for (const { domainId: id } of [gone, there]) notes.note(refusal({ domain: { id } }))
      yield* eventually(rowsOf(there.domainId), (rows) => rows.length === 1)
      assert.lengthOf(yield* rowsOf(gone.domainId), 0)
    })
  )

  it.effect("forgets refusals after the retention, and after 90 days without one", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { domainId } = yield* domain
      const insert = (days: number) => sql`
        INSERT INTO refusals (id, domain_id, hour, key, first_at, last_at, count, code, reply, reason)
        SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid,
          ${domainId}, at, '', at, at, 1, 452, '', 'quota'
        FROM (SELECT now() - make_interval(days => ${days})) AS time (at)
      `
      for (const days of [1, 13, 15, 91]) yield* insert(days)
      const left = Effect.map(rowsOf(domainId), ({ length }) => length)
      yield* ExpiredRefusals.removeSome(sql, 0, 100)
      assert.strictEqual(yield* left, 3)
      yield* ExpiredRefusals.removeSome(sql, 14, 100)
      assert.strictEqual(yield* left, 2)
    })
  )

  it.effect("has ids that are UUIDs of the time of the first of equal ones", () =>
    Effect.gen(function* () {
      const notes = yield* RefusalNotes
      const refusals = yield* Refusals
      const { domainId: id } = yield* domain
      notes.note(refusal({ domain: { id } }))
      const { items } = yield* eventually(refusals.list(id, {}, { limit: 1 }), ({ items }) => items.length === 1)
      const [item] = items
      assert.isTrue(Schema.is(DomainId)(item?.id))
      const millis = Number.parseInt(item?.id.replace("-", "").slice(0, 12) ?? "", 16)
      assert.strictEqual(millis, item?.first_at.epochMilliseconds)
    })
  )
})
