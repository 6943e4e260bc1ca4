import { assert, describe, it } from "@effect/vitest"
import { Config, Context, DateTime, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../src/database/Database.ts"
import { WorkspaceEvents } from "../../src/events/WorkspaceEvents.ts"
import { WorkspaceId } from "../../src/model/Workspace.ts"
import * as Platform from "../../src/process/Platform.ts"
import * as MailHistory from "../MailHistory.ts"
import * as StatementPlans from "../StatementPlans.ts"
import { TestPostgres } from "../TestPostgres.ts"

const workspaceId = WorkspaceId.make("01890000-0000-7000-8000-000000000001")

/** The pages of 8 KiB that one statement may read, for 200 domains. */
const mostPages = 35_000

describe.each(["force_custom_plan", "force_generic_plan"])("With plan_cache_mode = %s", (mode) => {
  it.live("a page of the events of 200 domains reads by index, and hardly more after four times as much mail", () =>
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
      const sql = Context.get(direct, SqlClient.SqlClient)
      const world = yield* Layer.build(
        WorkspaceEvents.layer.pipe(
          Layer.provideMerge(Database.layerPostgres(Redacted.make(plans.url))),
          Layer.provideMerge(Platform.layer)
        )
      )
      const events = Context.get(world, WorkspaceEvents)
      yield* sql`
          INSERT INTO workspaces (id, name, api_key_hash, signing_secret) VALUES (${workspaceId}, 'test', '', '')
        `
      const domains = yield* sql<{ readonly id: string }>`
          INSERT INTO domains (id, workspace_id, name, origin, status, verified_at)
          SELECT gen_random_uuid(), ${workspaceId}, 'd' || number || '.example', 'byo', 'live', now()
          FROM generate_series(1, 200) AS number
          RETURNING id
        `
      yield* Effect.provideContext(MailHistory.keepStatistics, direct)
      const seed = (messages: number, from: number, to: number) =>
        MailHistory.seed({ domains: domains.map(({ id }) => id), messages, from, to }).pipe(
          Effect.provideContext(direct)
        )
      const now = yield* DateTime.now
      const filters = [
        {},
        { recipient: "user0@d1.example" },
        { from: "sender1@shop1.example" },
        { since: DateTime.subtract(now, { days: 6 }) },
        { until: DateTime.subtract(now, { days: 7 }) },
        { delivery: "dead" as const },
        { delivery: "pending" as const },
        { delivery: "delivered" as const },
        { delivery: "pending" as const, from: "sender1@shop1.example" },
        { has: "code" as const },
        { subject: "needle" },
        { sender: "bounce" as const },
        { only: "user-1" },
        { only: "user0", recipient: "user0@d1.example" }
      ]
      /** The pages of the most expensive statement of each filter. */
      const measured = Effect.fnUntraced(function* () {
        const { nextCursor } = yield* events.list(workspaceId, {}, { limit: 20 })
        const cursor = nextCursor ?? assert.fail("no second page")
        return yield* Effect.forEach(filters, (filter) =>
          Effect.gen(function* () {
            yield* plans.taken
            for (const at of [undefined, cursor]) yield* events.list(workspaceId, filter, { limit: 20, cursor: at })
            const executed = yield* plans.taken
            const scans = executed.flatMap(({ plan }) =>
              StatementPlans.steps(plan).filter(
                (step) =>
                  step["Node Type"] === "Seq Scan" &&
                  MailHistory.growing.some((table) => table === step["Relation Name"])
              )
            )
            assert.deepStrictEqual(scans, [], JSON.stringify(filter))
            return Math.max(
              ...executed.map(({ plan }) => (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0))
            )
          })
        )
      })
      yield* seed(20_000, 10, 5)
      const before = yield* measured()
      yield* seed(60_000, 5, 0.01)
      const after = yield* measured()
      for (const [index, pages] of after.entries()) {
        const filter = JSON.stringify(filters[index])
        assert.isBelow(pages, mostPages, filter)
        // A binary search takes two steps more for four times as many events.
        assert.isBelow(pages, 2 * Math.max(before[index] ?? 0, 2_000), filter)
      }
    }).pipe(Effect.scoped)
  )
})
