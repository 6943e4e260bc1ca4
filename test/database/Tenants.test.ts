import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as SqlTemplates from "../SqlTemplates.ts"
import * as TestDatabase from "../TestDatabase.ts"

const src = fileURLToPath(new URL("../../src", import.meta.url))

/** The tables that grow with mail, with refusals and with operational events, and the column that names their tenant. */
const tenantOf = {
  inbound_emails: "domain_id",
  events: "domain_id",
  deliveries: "domain_id",
  delivery_attempts: "domain_id",
  refusals: "domain_id",
  domain_day_refusals: "domain_id",
  domain_days: "domain_id",
  domain_day_latencies: "domain_id",
  replays: "domain_id",
  operational_events: "workspace_id",
  operational_deliveries: "workspace_id",
  daily_intake: "workspace_id",
  idempotency_keys: "workspace_id",
  given_codes: "workspace_id"
}

/** The tables that grow and have no such column. */
const without = {
  received_once: "its key is a hash over the domain's id",
  raw_erasures: "places in the log, whose mail is gone",
  unknown_refusals: "for the operator: refusals for a name that no workspace has",
  client_limits: "counts a client address, which may write to every workspace"
}

/** Tables of the installation, which do not grow with mail. */
const ofInstallation = [
  "certificate_challenges",
  "certificates",
  "migrations",
  "mock_registrations",
  "mock_zone_records",
  "mx_watch_turns",
  "payment_events",
  "secrets_key_check",
  "sweeper_rounds",
  "workspaces",
  "write_trials"
]

/** The tables of which a statement could read very much. */
const searched = [
  "inbound_emails",
  "received_once",
  "events",
  "deliveries",
  "delivery_attempts",
  "refusals",
  "operational_events",
  "operational_deliveries"
]

/**
 * Statements that read a growing table across workspaces, as file and condition, and why they may. None answers a
 * request of a workspace.
 */
const across: ReadonlyArray<readonly [reason: string, ...statements: ReadonlyArray<string>]> = [
  [
    "the operator's trace. That of a workspace has a condition for each of its domains in the same place",
    "trace/TraceSearch.ts: WHERE message_key = … AND … LIMIT …",
    "trace/TraceSearch.ts: WHERE … ORDER BY received_at DESC LIMIT …",
    "refusals/Refusals.ts: WHERE … OFFSET 0"
  ],
  [
    "the operator's figures, which count up to a limit",
    "operator/ServiceStatus.ts: WHERE … LIMIT …",
    "delivery/QueueMetrics.ts: WHERE status = 'pending' LIMIT …",
    "delivery/QueueMetrics.ts: WHERE status = 'dead' LIMIT …"
  ],
  [
    "the queues: from one domain or webhook with waiting mail to the next",
    "delivery/Claims.ts: WHERE status = 'pending' ORDER BY … LIMIT 1",
    "delivery/Claims.ts: WHERE status = 'pending' AND … > waiting.webhook_id ORDER BY … LIMIT 1",
    "delivery/QueueMetrics.ts: WHERE state = 'received' ORDER BY domain_id LIMIT 1",
    "delivery/QueueMetrics.ts: WHERE state = 'received' AND domain_id > waiting.domain_id ORDER BY domain_id LIMIT 1",
    "reading/UnreadMail.ts: WHERE state = 'received' ORDER BY domain_id LIMIT 1",
    "reading/UnreadMail.ts: WHERE state = 'received' AND domain_id > waiting.domain_id ORDER BY domain_id LIMIT 1"
  ],
  [
    "the look for background work, at any one row",
    "delivery/DeliveryRows.ts: WHERE status = 'pending' ORDER BY … LIMIT 1"
  ],
  [
    "the start of a process with the embedded database, whose earlier leases are void",
    "delivery/DeliveryRows.ts: SET leased_until = now() WHERE status = 'pending' AND leased_until > now() AND claimed_url IS DISTINCT FROM 'pull'",
    "reading/UnreadMail.ts: SET leased_until = now() WHERE state = 'received' AND leased_until > now()"
  ],
  [
    "the sweeper: the oldest rows, and the rows of one segment of the log",
    "retention/ExpiredMail.ts: WHERE received_at < now() - make_interval(days => …) AND state = … AND NOT EXISTS () ORDER BY received_at LIMIT … FOR UPDATE SKIP LOCKED",
    "retention/Sweeper.ts: WHERE received_at < now() - interval '7 days' ORDER BY received_at LIMIT … FOR UPDATE SKIP LOCKED",
    "retention/OldSegments.ts: WHERE segment = asked.id AND received_at BETWEEN asked.opened_at - interval '1 minute' AND asked.opened_at + interval '10 minutes' LIMIT 1",
    "retention/OldSegments.ts: WHERE segment = asked.id AND received_at > asked.opened_at - interval '1 hour' AND received_at < asked.opened_at + interval '2 hours' LIMIT 1",
    "retention/WithoutRow.ts: WHERE segment = ANY(…[]) AND received_at > … - interval '1 hour' AND received_at < … + interval '3 hours' GROUP BY segment",
    "refusals/ExpiredRefusals.ts: WHERE id < … ORDER BY id LIMIT … FOR UPDATE SKIP LOCKED",
    "operations/ExpiredOperationalEvents.ts: WHERE id < … AND period < now() - make_interval(days => …) ORDER BY id LIMIT … FOR UPDATE SKIP LOCKED"
  ]
]

/** Statements whose conditions are made elsewhere, and what binds them there. */
const elsewhere: ReadonlyArray<readonly [binding: string, ...statements: ReadonlyArray<string>]> = [
  [
    "the domain comes first of the conditions",
    "events/Attempts.ts: WHERE … ORDER BY requested_at DESC, id DESC LIMIT …",
    "events/Attempts.ts: WHERE … ORDER BY requested_at DESC, id DESC OFFSET … LIMIT 1",
    "refusals/Refusals.ts: JOIN domains ON domains.id = refusals.domain_id WHERE … ORDER BY refusals.id DESC LIMIT …",
    "refusals/Refusals.ts: WHERE … ORDER BY refusals.id DESC LIMIT …"
  ],
  [
    "the domain and the bounds of positions, as for every list of a domain",
    "events/EventQuery.ts: WHERE … ORDER BY ….position … LIMIT …"
  ],
  [
    "the range of a domain's positions, for the domains of one workspace",
    "events/WorkspaceEvents.ts: WHERE … ORDER BY position DESC OFFSET … LIMIT 1",
    "events/WorkspaceEvents.ts: WHERE … ORDER BY position DESC LIMIT …"
  ],
  [
    "the workspace or the domain is `subject`",
    "statistics/NewDeadLetters.ts: WHERE subject = domain_days.domain_id::text AND kind = 'delivery.dead' AND period = date_trunc('hour', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'",
    "operations/Quotas.ts: WHERE subject = reached.workspace_id::text AND kind = 'quota.reached ' || percent AND period = day_began_at"
  ]
]

const reads = new RegExp(
  `\\b(?:FROM|JOIN|UPDATE)\\s+(?:(?:ONLY )?(?:${searched.join("|")})\\b|\\$\\{(?:sql\\(|joined\\[)[^}]+\\})`,
  "g"
)

/** A comparison with the key of a tenant or of a row. The table of another row's `id` is not the growing one. */
const bound =
  /(?:(?<!\b(?:domains|webhooks|workspaces)\.)\b(?:domain_id|workspace_id|event_id|inbound_email_id|id|key)|ofDelivery\(sql\)\})\s*(?:=|IN\b)|USING \(event_id\)|sql\.in\("id"/

/** Where a template reads a growing table without a comparison with a key. */
const unboundIn = (template: string) =>
  [...template.matchAll(reads)].flatMap((read) => {
    const rest = SqlTemplates.withoutSubqueries(SqlTemplates.untilClosed(template, read.index + read[0].length))
    return bound.test(rest) ? [] : [SqlTemplates.shortened(rest)]
  })

const unbound = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .flatMap((file) =>
    SqlTemplates.of(readFileSync(join(src, file), "utf8")).flatMap((template) =>
      unboundIn(template).map((condition) => `${file}: ${condition}`)
    )
  )

describe("Statements on tables that grow", () => {
  it("stay within a domain, a workspace or the keys of rows, except those of the operator and of background work", () => {
    const known = [...across, ...elsewhere].flatMap(([, ...statements]) => statements)
    assert.deepStrictEqual([...new Set(unbound)].sort(), [...known].sort())
  })

  it.each([
    ["SELECT id FROM events WHERE received_at > now()", true],
    ["SELECT id FROM events WHERE domain_id = $1 AND received_at > now()", false],
    ["SELECT 1 FROM events JOIN domains ON domains.id = domain_id WHERE subject = 'x'", true],
    ["UPDATE deliveries SET status = 'held' WHERE status = 'pending' AND (SELECT id = domain_id FROM domains)", true],
    ["UPDATE deliveries SET status = 'held' WHERE event_id = ANY($1::uuid[])", false]
  ])("%s", (template, isUnbound) => {
    assert.strictEqual(unboundIn(template).length > 0, isUnbound)
  })
})

layer(TestDatabase.layer)("Tables that grow", (it) => {
  it.effect("have the domain or the workspace in each row", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = yield* sql<{ readonly table: string; readonly tenants: ReadonlyArray<string> }>`
        SELECT relname AS table, coalesce(array_agg(attname::text) FILTER (WHERE attname IN ('domain_id', 'workspace_id')), '{}') AS tenants
        FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') GROUP BY relname
      `
      const found = new Map(columns.map(({ table, tenants }) => [table, tenants]))
      for (const [table, column] of Object.entries(tenantOf)) assert.include(found.get(table) ?? [], column, table)
      assert.deepStrictEqual(
        columns.flatMap(({ table, tenants }) => (tenants.length === 0 ? [table] : [])).sort(),
        [...Object.keys(without), ...ofInstallation].sort()
      )
    })
  )
})
