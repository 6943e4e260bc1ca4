import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Answer } from "../ApiCall.ts"
import * as CommandLine from "../CommandLine.ts"
import { eventually } from "../Eventually.ts"
import { TestInlet } from "../TestInlet.ts"

type Listed = Answer["json"]

const count = 60

/** A workspace with three domains that have mail, some of it received in the same statement and in odd orders. */
const seeded = Effect.gen(function* () {
  const inlet = yield* TestInlet
  const sql = yield* SqlClient.SqlClient
  const inbox = yield* inlet.inbox()
  const { id: workspaceId } = yield* Effect.map(
    sql<{ readonly id: string }>`SELECT workspace_id AS id FROM domains WHERE id = ${inbox.domainId}`,
    ([row]) => row ?? assert.fail()
  )
  yield* inlet.call("POST", `/api/domains/${inbox.domainId}/simulate?wait=10`, {
    key: inbox.key,
    body: { sample: "code" }
  })
  yield* sql`
    WITH own AS (
      INSERT INTO domains (id, workspace_id, name, origin, status, verified_at)
      SELECT gen_random_uuid(), ${workspaceId}::uuid, number || '-' || ${inbox.domainId}::text || '.example', 'byo', 'live', now()
      FROM generate_series(1, 2) AS number RETURNING id, name
    ), chosen AS (
      SELECT *, row_number() OVER (ORDER BY name) AS ordinal FROM own
    ), copies AS (
      INSERT INTO events (
        id, domain_id, inbound_email_id, position, recipient, sender, received_at, read_at, payload, subject, traits
      )
      SELECT gen_random_uuid(), chosen.id, inbound_email_id, number, 'to' || number % 3 || '@' || chosen.name, sender,
        received_at - (100 - number) / 4 * interval '1 second', received_at - (100 - number) / 4 * interval '1 second',
        payload, CASE WHEN number % 10 = 0 THEN 'Needle' ELSE 'Hay' END, CASE WHEN number % 5 = 0 THEN 1 ELSE 0 END
      FROM events, chosen, generate_series(1, ${count / 2}) AS number
      WHERE events.domain_id = ${inbox.domainId}
      RETURNING id, domain_id, position
    ), positions AS (
      INSERT INTO event_positions (domain_id, position)
      SELECT domain_id, max(position) FROM copies GROUP BY domain_id
    )
    INSERT INTO deliveries (event_id, domain_id, position, status, due_at)
    SELECT id, domain_id, position, CASE WHEN position % 2 = 0 THEN 'held' ELSE 'delivered' END, now() FROM copies
  `
  return inbox
})

const list = Effect.fnUntraced(function* (key: string, path: string, query: Readonly<Record<string, string>>) {
  const inlet = yield* TestInlet
  const { json, status } = yield* inlet.call("GET", `${path}?${new URLSearchParams(query)}`, { key })
  assert.strictEqual(status, 200, JSON.stringify(json))
  return json
})

const pages = Effect.fnUntraced(function* (key: string, path: string, query: Readonly<Record<string, string>>) {
  const events: Array<Listed> = []
  let cursor: string | null = null
  do {
    const page: Listed = yield* list(key, path, { ...query, ...(cursor === null ? {} : { cursor }) })
    events.push(...page.events)
    cursor = page.next_cursor
  } while (cursor !== null)
  return events
})

const idsOf = (events: ReadonlyArray<Listed>) => events.map(({ event_id }) => event_id as string)

layer(TestInlet.layer({ MAX_DOMAINS_PER_WORKSPACE: "0" }), { excludeTestServices: true, timeout: "60 seconds" })(
  "The list of all domains",
  (it) => {
    it.effect("has exactly the events of each domain's list for every filter, newest first, on pages of any size", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { key } = yield* seeded
        const { domains } = yield* list(key, "/api/domains", {})
        // The payloads are copies, so the rows say which event is meant.
        const places = Effect.fnUntraced(function* (query: Readonly<Record<string, string>>) {
          const all = yield* Effect.forEach(domains as ReadonlyArray<Listed>, ({ id }) =>
            Effect.map(pages(key, `/api/domains/${id}/events`, query), (events) => events.map(() => id as string))
          )
          return all.flat().sort()
        })
        const since = yield* sql<{
          readonly at: Date
        }>`SELECT max(received_at) - interval '20 seconds' AS at FROM events`
        const at = since[0]?.at.toISOString() ?? ""
        for (const query of [
          {},
          { has: "code" },
          { subject: "needle" },
          { delivery: "held" },
          { delivery: "delivered" },
          { since: at },
          { until: at },
          { since: at, delivery: "held" },
          { sender: "person", until: at }
        ]) {
          const whole = yield* pages(key, "/api/events", { ...query, limit: "100" })
          assert.deepStrictEqual(
            whole.map(({ domain_id }) => domain_id as string).sort(),
            yield* places({ ...query, limit: "100" }),
            JSON.stringify(query)
          )
          for (const limit of ["1", "7"]) {
            const small = yield* pages(key, "/api/events", { ...query, limit })
            assert.deepStrictEqual(
              small.map(({ domain_id }) => domain_id),
              whole.map(({ domain_id }) => domain_id),
              `${limit} a page of ${JSON.stringify(query)}`
            )
          }
        }
        const all = yield* list(key, "/api/events", { view: "brief", limit: "100" })
        assert.strictEqual(all.events.length, count + 1)
        assert.isTrue(
          all.events.every(({ domain, domain_id }: Listed) =>
            domains.some((own: Listed) => own.id === domain_id && own.domain === domain)
          )
        )
      })
    )

    it.effect("shows nothing of another workspace, and refuses its cursors", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const bob = yield* seeded
        const ada = yield* inlet.inbox()
        assert.deepStrictEqual((yield* list(ada.key, "/api/events", {})).events, [])
        const { next_cursor } = yield* list(bob.key, "/api/events", { limit: "1" })
        for (const cursor of [next_cursor, "x", bob.domainId]) {
          const answer = yield* inlet.call("GET", `/api/events?cursor=${cursor}`, { key: ada.key })
          assert.strictEqual(answer.status, 400)
        }
      })
    )

    it.effect("is what the command lists without a domain", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        yield* inlet.call("POST", "/api/domains", { key: inbox.key, body: { domain: `${inbox.domainId}.example` } })
        const { json } = yield* inlet.call("POST", `/api/domains/${inbox.domainId}/simulate?wait=10`, {
          key: inbox.key,
          body: { sample: "code" }
        })
        const run = CommandLine.run(["events", "list"], { INLET_URL: inlet.url, INLET_API_KEY: inbox.key })
        const { stdout } = yield* eventually(run, ({ stdout }) => stdout !== "")
        assert.deepStrictEqual(
          stdout
            .trimEnd()
            .split("\n")
            .slice(1)
            .map((line: string) => line.split("\t")[0]),
          idsOf(json.events)
        )
      })
    )
  }
)
