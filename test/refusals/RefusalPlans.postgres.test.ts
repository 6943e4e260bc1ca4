import { assert, describe, it } from "@effect/vitest"
import { Config, Context, DateTime, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../src/database/Database.ts"
import * as Patience from "../../src/database/Patience.ts"
import { type DomainId, DomainName } from "../../src/model/Domain.ts"
import { WorkspaceId } from "../../src/model/Workspace.ts"
import * as Platform from "../../src/process/Platform.ts"
import * as ExpiredRefusals from "../../src/refusals/ExpiredRefusals.ts"
import { Bounds, RefusalNotes } from "../../src/refusals/RefusalNotes.ts"
import { Refusals } from "../../src/refusals/Refusals.ts"
import { UnknownRefusals } from "../../src/refusals/UnknownRefusals.ts"
import { DomainStatistics } from "../../src/statistics/DomainStatistics.ts"
import { eventually } from "../Eventually.ts"
import * as Mailbox from "../Mailbox.ts"
import * as StatementPlans from "../StatementPlans.ts"
import { TestPostgres } from "../TestPostgres.ts"

const tables = ["refusals", "unknown_refusals", "domain_day_refusals"]

/** The most pages that one search may read, however many rows the ledger has. */
const mostPages = 500

/** 100,000 refusals of 13 days: half of them for one domain, with a subject to find in every thousandth. */
const seed = Effect.fnUntraced(function* (domains: ReadonlyArray<DomainId>) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO refusals (
      id, domain_id, hour, key, first_at, last_at, count, code, reply, reason, client_address, helo, envelope_from,
      recipient, subject, message_id, bytes
    )
    SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '70008000' ||
        substr(md5(number::text), 1, 12))::uuid,
      (${domains}::uuid[])[CASE WHEN number % 2 = 0 THEN 1 ELSE 1 + number % ${domains.length} END],
      date_trunc('hour', at), decode(md5(number::text), 'hex'), at, at, 1, 452, '452 4.2.2 The recipient is full',
      CASE WHEN number % 1000 = 0 THEN 'loop' ELSE 'quota' END, '203.0.113.' || number % 250, 'client.example',
      'sender' || number % 5000 || '@sender.example', 'to' || number % 5000 || '@known.example',
      CASE WHEN number % 1000 = 0 THEN 'needle' ELSE 'hay' END, '<' || number || '@sender.example>', 1000
    FROM generate_series(1, 100000) AS number, LATERAL (
      SELECT now() - number * interval '11 seconds'
    ) AS time (at)
  `
  yield* sql`
    INSERT INTO unknown_refusals (id, hour, reason, name, client, first_at, last_at, count, reply, helo)
    SELECT gen_random_uuid(), date_trunc('hour', now()) - (number / 100) * interval '1 hour', 'unknown',
      'n' || number || '.example', '203.0.113.' || number % 250, now(), now(), 1, '', ''
    FROM generate_series(1, 20000) AS number
  `
  for (const table of tables) yield* sql`VACUUM (ANALYZE) ${sql(table)}`
}, Patience.forMuch)

describe.each(["force_custom_plan", "force_generic_plan"])("With plan_cache_mode = %s", (mode) => {
  it.live("the ledger of refusals is listed, searched, written and removed by index in a bounded number of pages", () =>
    Effect.gen(function* () {
      const server = yield* Config.Redacted("TEST_DATABASE_URL")
      const { url } = yield* Effect.map(Layer.build(TestPostgres.layerOn(server)), Context.get(TestPostgres))
      const plans = yield* StatementPlans.before(new URL(Redacted.value(url)), {
        plan_cache_mode: mode,
        "auto_explain.log_analyze": "on",
        "auto_explain.log_buffers": "on"
      })
      const direct = yield* Layer.build(
        Database.migrations.pipe(Layer.provideMerge(Database.layerPostgres(url)), Layer.provideMerge(Platform.layer))
      )
      const [mine, second, ...others] = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, number) => `planned-${number}.example`),
        (name) => Mailbox.attach(name)
      ).pipe(Effect.provideContext(direct))
      if (mine === undefined || second === undefined) return assert.fail()
      yield* seed([mine, second, ...others].map(({ domainId }) => domainId)).pipe(Effect.provideContext(direct))
      const services = Layer.mergeAll(
        Refusals.layer,
        UnknownRefusals.layer,
        DomainStatistics.layer,
        RefusalNotes.layer.pipe(
          Layer.provide(Layer.succeed(Bounds, { limits: {}, idleMillis: 20, afterFailureMillis: 20 }))
        )
      )
      const world = yield* Layer.build(
        services.pipe(
          Layer.provideMerge(Database.layerPostgres(Redacted.make(plans.url))),
          Layer.provideMerge(Platform.layer)
        )
      )
      const refusals = Context.get(world, Refusals)
      const sql = Context.get(world, SqlClient.SqlClient)
      const [row] = yield* sql<{ readonly workspaceId: string; readonly id: string }>`
          SELECT workspace_id, (SELECT id FROM refusals WHERE domain_id = domains.id ORDER BY id LIMIT 1 OFFSET 5000)
          FROM domains WHERE id = ${mine.domainId}
        `
      yield* plans.taken

      const now = yield* DateTime.now
      const ago = (hours: number) => DateTime.subtract(now, { hours })
      const filters = [
        {},
        { reason: "loop" as const },
        { from: "sender4@sender.example" },
        { recipient: "to4@known.example" },
        { since: ago(2) },
        { until: ago(200) },
        { from: "nobody@sender.example" }
      ]
      for (const filter of filters) {
        for (const cursor of [undefined, row?.id]) yield* refusals.list(mine.domainId, filter, { limit: 50, cursor })
      }
      const searches = [
        {},
        { messageId: "<40000@SENDER.example>" },
        { from: "sender4@sender.example" },
        { recipient: "to4@known.example" },
        { subject: "needle" },
        { subject: "nothing" },
        { fromDomain: "nowhere.example" },
        { since: ago(2) },
        { until: ago(200) }
      ]
      for (const search of searches) {
        for (const scope of ["all" as const, { workspaceId: WorkspaceId.make(row?.workspaceId ?? "") }]) {
          yield* refusals.search({ ...search, scope, limit: 50 })
        }
      }
      const unknown = Context.get(world, UnknownRefusals)
      yield* unknown.list({ limit: 50 })
      yield* unknown.list({ limit: 50, domain: "n77.example", cursor: row?.id })
      yield* Context.get(world, DomainStatistics).of(mine.domainId, 30)
      const notes = Context.get(world, RefusalNotes)
      for (const domain of [{ id: second.domainId }, { name: DomainName.make("planned-0.example") }, null]) {
        const envelope = { client: "203.0.113.9", helo: "", from: "a@b.example", recipient: "c@d.example" }
        notes.note({ domain, reason: "unknown", code: 550, reply: "", ...envelope })
      }
      notes.note({
        domain: { name: DomainName.make("nobody.example") },
        reason: "unknown",
        code: 550,
        reply: "",
        client: "203.0.113.9",
        helo: "",
        from: null,
        recipient: null
      })
      yield* eventually(sql`SELECT 1 FROM unknown_refusals WHERE name = 'nobody.example'`, (rows) => rows.length === 1)
      yield* ExpiredRefusals.removeSome(sql, 10, 500)
      yield* ExpiredRefusals.removeDays(sql, 90)

      const executed = yield* plans.taken
      assert.isAbove(executed.length, 30)
      const wrong = executed.flatMap(({ plan, statement }) => {
        const steps = StatementPlans.steps(plan)
        const scans = steps.filter(
          (step) => step["Node Type"] === "Seq Scan" && tables.some((table) => table === step["Relation Name"])
        )
        const pages = (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0)
        const isWrite = /^\s*(?:DELETE|WITH input|INSERT)/.test(statement)
        return scans.length > 0 || (pages > mostPages && !isWrite) ? [`${pages} pages: ${statement}`] : []
      })
      assert.deepStrictEqual(wrong, [])
    }).pipe(Effect.scoped)
  )
})
