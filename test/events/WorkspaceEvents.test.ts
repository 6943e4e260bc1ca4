import { NodeCrypto } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Array, DateTime, Effect, Layer, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { Filter } from "../../src/events/EventQuery.ts"
import { WorkspaceEvents } from "../../src/events/WorkspaceEvents.ts"
import { DomainId } from "../../src/model/Domain.ts"
import { WorkspaceId, WorkspaceName } from "../../src/model/Workspace.ts"
import * as Settings from "../../src/Settings.ts"
import { Workspaces } from "../../src/workspaces/Workspaces.ts"
import * as Queues from "../delivery/Queues.ts"
import * as TestDatabase from "../TestDatabase.ts"

/** A workspace with these domains, and this many events, spread unevenly. Many have the same time. */
const withMail = Effect.fnUntraced(function* (domains: number, messages: number) {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  const { id: workspaceId } = yield* Workspaces.use((workspaces) => workspaces.create(WorkspaceName.make("test")))
  const ids = yield* Effect.forEach(Array.range(1, domains), () =>
    Effect.map(random.uuidV7(), (id) => DomainId.make(id))
  )
  yield* sql`
    INSERT INTO domains (id, workspace_id, name, origin, status, verified_at)
    SELECT id, ${workspaceId}, id || '.example', 'byo', 'mx_pending', now() FROM unnest(${ids}::uuid[]) AS id
  `
  yield* sql`
    INSERT INTO inbound_emails (
      id, domain_id, received_at, sha256, mail_from, helo, remote_address, recipients, state, trace_bytes
    )
    SELECT id, id, now(), ''::bytea, '', 'sender.example', '127.0.0.1', '{}', 'read', 0
    FROM unnest(${ids}::uuid[]) AS id
  `
  // The first domain has half of the mail, and the last one none.
  yield* sql`
    WITH mail AS (
      SELECT number, domain_id, row_number() OVER (PARTITION BY domain_id ORDER BY number) AS position,
        date_trunc('second', now()) - interval '1 day' + (number / 7) * interval '1 second' AS read_at
      FROM generate_series(1, ${messages}::int) AS number, LATERAL (
        SELECT (${ids}::uuid[])[CASE WHEN number % 2 = 0 THEN 1 ELSE 1 + number * 7 % (${domains}::int - 1) END]
      ) AS chosen (domain_id)
    ), inserted AS (
      INSERT INTO events (
        id, domain_id, inbound_email_id, position, recipient, sender, received_at, read_at, traits, subject, payload
      )
      SELECT gen_random_uuid(), domain_id, domain_id, position, 'to' || number % 3 || '@x.example',
        'from' || number % 5 || '@y.example', read_at - interval '20 milliseconds', read_at, number % 4,
        'Mail ' || number, json_build_object('subject', 'Mail ' || number, 'text', repeat('x', number))::text
      FROM mail
      RETURNING id, domain_id, position, recipient, sender
    )
    INSERT INTO deliveries (event_id, domain_id, webhook_id, position, status, due_at, recipient, sender)
    SELECT id, domain_id, domain_id, position, (ARRAY['held', 'pending', 'dead', 'delivered'])[1 + position % 4], now(),
      CASE WHEN position % 4 = 2 THEN recipient END, CASE WHEN position % 4 = 2 THEN sender END
    FROM inserted
  `
  return { workspaceId: WorkspaceId.make(workspaceId), ids }
}, Effect.provide(NodeCrypto.layer))

/** The subjects of all pages, and their number. */
const walk = Effect.fnUntraced(function* (workspaceId: WorkspaceId, filter: Filter, limit: number) {
  const events = yield* WorkspaceEvents
  const subjects: Array<string> = []
  let cursor: string | undefined
  let pages = 0
  do {
    const page = yield* events.list(workspaceId, filter, { limit, cursor })
    const loaded = yield* Stream.runCollect(events.payloads(page.items))
    subjects.push(...loaded.map(({ payload }) => JSON.parse(payload).subject))
    assert.isAtMost(page.items.length, limit)
    cursor = page.nextCursor ?? undefined
    pages++
  } while (cursor !== undefined)
  return { subjects, pages }
})

const World = Layer.mergeAll(Queues.layer(), WorkspaceEvents.layer).pipe(Layer.provideMerge(TestDatabase.layer))

layer(World, { excludeTestServices: true })("The events of all domains", (it) => {
  it.effect("are listed newest first, once each, with any filter and page size", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { workspaceId } = yield* withMail(6, 400)
      yield* withMail(3, 50)
      const [middle] = yield* sql<{ readonly time: Date }>`
        SELECT received_at AS time FROM events WHERE subject = 'Mail 200' ORDER BY received_at LIMIT 1
      `
      const time = DateTime.fromDateUnsafe(middle?.time ?? assert.fail())
      const filters: ReadonlyArray<readonly [Filter, string]> = [
        [{}, "true"],
        [{ recipient: "TO1@x.example" }, "events.recipient = 'to1@x.example'"],
        [{ from: "from2@y.example" }, "events.sender = 'from2@y.example'"],
        [{ since: time }, "received_at >= (SELECT received_at FROM events e WHERE e.id = 'middle')"],
        [{ until: time }, "received_at <= (SELECT received_at FROM events e WHERE e.id = 'middle')"],
        [{ has: "code" }, "traits & 1 = 1"],
        [{ subject: "mail 1" }, "subject LIKE 'Mail 1%'"],
        ...(["held", "pending", "dead", "delivered"] as const).map(
          (delivery) => [{ delivery }, `deliveries.status = '${delivery}'`] as const
        ),
        [
          { delivery: "dead", recipient: "to1@x.example" },
          "deliveries.status = 'dead' AND events.recipient = 'to1@x.example'"
        ],
        [
          { delivery: "held", from: "from2@y.example" },
          "deliveries.status = 'held' AND events.sender = 'from2@y.example'"
        ],
        [{ subject: "nothing" }, "false"]
      ]
      for (const [filter, condition] of filters) {
        const expected = yield* sql<{ readonly subject: string }>`
          SELECT subject FROM events JOIN deliveries ON event_id = events.id JOIN domains ON domains.id = events.domain_id
          WHERE workspace_id = ${workspaceId} AND ${sql.literal(
            condition.replace(
              "(SELECT received_at FROM events e WHERE e.id = 'middle')",
              `'${DateTime.formatIso(time)}'::timestamptz`
            )
          )}
          ORDER BY read_at DESC, events.domain_id DESC, events.position DESC
        `
        for (const limit of [1, 7, 100]) {
          if (limit === 1 && expected.length > 150) continue
          const { subjects } = yield* walk(workspaceId, filter, limit)
          assert.deepStrictEqual(
            subjects,
            expected.map(({ subject }) => subject),
            `${JSON.stringify(filter)}, ${limit} a page`
          )
        }
      }
    })
  )

  it.effect("name their domain, and follow the cursor when mail comes and a domain is removed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const events = yield* WorkspaceEvents
      const { ids, workspaceId } = yield* withMail(4, 60)
      const all = yield* walk(workspaceId, {}, 100)
      const first = yield* events.list(workspaceId, {}, { limit: 20 })
      for (const { domain, domainId } of first.items) assert.strictEqual(domain, `${domainId}.example`)
      const last = first.items.at(-1)?.domainId ?? assert.fail()
      // New mail, newer than all.
      yield* sql`
        WITH new AS (
          INSERT INTO events (id, domain_id, inbound_email_id, position, recipient, sender, received_at, subject, payload)
          SELECT gen_random_uuid(), id, id, 1000, 'a@x.example', 'b@y.example', now(), 'New', '{"subject":"New"}'
          FROM unnest(${ids}::uuid[]) AS id
          RETURNING id, domain_id
        )
        INSERT INTO deliveries (event_id, domain_id, webhook_id, position, status, due_at)
        SELECT id, domain_id, domain_id, 1000, 'held', now() FROM new
      `
      const rest = yield* events.list(workspaceId, {}, { limit: 100, cursor: first.nextCursor ?? "" })
      const loaded = yield* Stream.runCollect(events.payloads(rest.items))
      assert.deepStrictEqual(
        loaded.map(({ payload }) => JSON.parse(payload).subject),
        all.subjects.slice(20)
      )
      yield* sql`DELETE FROM domains WHERE id = ${last}`
      const others = yield* events.list(workspaceId, {}, { limit: 100, cursor: first.nextCursor ?? "" })
      assert.deepStrictEqual(
        others.items.map(({ id }) => id),
        rest.items.flatMap(({ domainId, id }) => (domainId === last ? [] : [id]))
      )
    })
  )

  it.effect("that a filter without an index searches are examined a part at a time", () =>
    Effect.gen(function* () {
      const { workspaceId } = yield* withMail(300, 1_000)
      const { pages, subjects } = yield* walk(workspaceId, { subject: "mail 3" }, 100)
      assert.strictEqual(subjects[0], "Mail 399")
      assert.strictEqual(subjects.at(-1), "Mail 3")
      assert.isAbove(pages, 10, "the busiest domain has 500 events, of which a page examines 20")
      const { pages: none } = yield* walk(workspaceId, { subject: "nothing" }, 100)
      assert.isAtMost(none, 500 / 20 + 1)
    })
  )

  it.effect("end a page at its bytes, and refuse a cursor of another workspace or list", () =>
    Effect.gen(function* () {
      const events = yield* WorkspaceEvents
      const { pageBytes } = yield* Settings.answers
      const sql = yield* SqlClient.SqlClient
      const { workspaceId } = yield* withMail(3, 20)
      const { workspaceId: other } = yield* withMail(3, 20)
      yield* sql`
        UPDATE events SET payload = json_build_object('subject', subject, 'text', repeat('x', ${pageBytes / 2}::int))::text
        WHERE domain_id IN (SELECT id FROM domains WHERE workspace_id = ${workspaceId})
      `
      const page = yield* events.list(workspaceId, {}, { limit: 10 })
      assert.lengthOf(page.items, 1)
      const { subjects } = yield* walk(workspaceId, {}, 10)
      assert.lengthOf(new Set(subjects), 20)
      for (const cursor of [page.nextCursor ?? "", "", "x", "x".repeat(51), `${page.nextCursor}x`]) {
        const { message } = yield* Effect.flip(events.list(other, {}, { limit: 10, cursor }))
        assert.strictEqual(message, "cursor: Expected the next_cursor of an earlier page of this list")
      }
    })
  )
})
