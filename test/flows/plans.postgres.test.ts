import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Array, Context, DateTime, Effect, FileSystem, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../src/database/Database.ts"
import * as Platform from "../../src/process/Platform.ts"
import * as Segments from "../../src/providers/storage/Segments.ts"
import { eventually } from "../Eventually.ts"
import * as InletProcess from "../InletProcess.ts"
import * as Mail from "../Mail.ts"
import * as MailHistory from "../MailHistory.ts"
import * as StatementPlans from "../StatementPlans.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

const nothing: Readonly<Record<string, string>> = {}

/** Every combination of one choice each. */
const combined = (...choices: ReadonlyArray<ReadonlyArray<Readonly<Record<string, string>>>>) =>
  choices.reduce((all, choice) => all.flatMap((one) => choice.map((other) => ({ ...one, ...other }))), [nothing])

/** Statements with a sequential scan of a table that grows with mail. */
const readingAll = (executed: ReadonlyArray<StatementPlans.Executed>) =>
  new Set(
    executed
      .filter(({ plan }) =>
        StatementPlans.steps(plan).some(
          (step) =>
            step["Node Type"] === "Seq Scan" && MailHistory.growing.some((table) => table === step["Relation Name"])
        )
      )
      .map(({ statement }) => statement)
  )

/** Plan nodes that need their whole input before they return a row. */
const gathers = ["Sort", "Aggregate", "Bitmap Heap Scan", "Materialize", "Hash"]

/** Indexes of growing tables that a plan scans without a key and without a limit. */
const readWhole = (step: StatementPlans.Step, isLimited = false): ReadonlyArray<string> => {
  const index = step["Index Name"]
  const isOfGrowing = MailHistory.growing.some((table) => index?.startsWith(table) || step["Relation Name"] === table)
  const here = index !== undefined && isOfGrowing && step["Index Cond"] === undefined && !isLimited ? [index] : []
  const isLimitedBelow = step["Node Type"] === "Limit" || (isLimited && !gathers.includes(step["Node Type"]))
  return [...here, ...(step.Plans ?? []).flatMap((next) => readWhole(next, isLimitedBelow))]
}

/** A comparison with the key of a domain, a webhook or a row. */
const isKey = /\b(?:domain_id|event_id|inbound_email_id|id|key)\)* = |COALESCE\([\w.]*webhook_id, [\w.]*domain_id\) = /

/** Statements that read rows of a growing table by anything else than keys, across domains. */
const acrossDomains = (executed: ReadonlyArray<StatementPlans.Executed>) =>
  new Set(
    executed
      .filter(({ plan }) =>
        StatementPlans.steps(plan).some(
          (step) =>
            MailHistory.growing.some((table) => table === step["Relation Name"]) &&
            step["Node Type"].includes("Scan") &&
            !isKey.test(step["Index Cond"] ?? "")
        )
      )
      .map(({ statement }) => statement)
  )

/** Words of statements of the operator and of background work. `database/Tenants.test.ts` lists them all. */
const mayCross = [
  "AS mail JOIN events ON events.inbound_email_id = mail.id",
  "message_key = $1 AND true",
  "FROM deliveries WHERE status = 'dead' LIMIT",
  "waiting AS (",
  // The look for background work.
  "SELECT json_build_array(coalesce((SELECT true FROM",
  "received_at < now() - make_interval(days => ",
  "received_at < now() - interval '7 days'",
  "SELECT asked.id FROM unnest"
]

it.live("On an empty database, statements are planned as lookups by key, not as full index scans", () =>
  Effect.gen(function* () {
    const { DATABASE_URL = "", DATA_DIR } = yield* InletProcess.installation
    const plans = yield* StatementPlans.before(new URL(DATABASE_URL))
    const inlet = yield* InletProcess.start({
      DATABASE_URL: plans.url,
      DATA_DIR,
      WEBHOOK_RETRY_DELAYS: "1s",
      ROLES: "http,smtp,worker"
    })
    const receiver = yield* WebhookReceiver.make
    const [inbox, asked] = [yield* inlet.inbox(receiver.url), yield* inlet.inbox(receiver.url)]
    for (const body of [{ webhookUrl: null }, { pull: true }]) {
      yield* inlet.call("PATCH", `/api/domains/${asked.domainId}/delivery`, { key: asked.key, body })
    }
    yield* receiver.answerWith(500)
    yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "refused once" })
    yield* Mail.send(inlet.smtpPort, { to: [inbox.address, asked.address], subject: "to both" })
    for (const _ of ["refused", "to both", "tried again"]) yield* receiver.next
    const deliveries = `/api/domains/${asked.domainId}/deliveries`
    const leased = yield* inlet.call("POST", `${deliveries}/lease`, { key: asked.key, body: { wait: 20 } })
    const [{ attempt, event_id }] = leased.json.deliveries
    yield* inlet.call("POST", `${deliveries}/settle`, {
      key: asked.key,
      body: { outcomes: [{ event_id, attempt, statusCode: 200, durationMs: 1 }] }
    })
    yield* inlet.signal("SIGTERM")
    yield* inlet.ending

    const executed = yield* plans.taken
    for (const words of ["UPDATE inbound_emails", "INTO events", "settled AS", "waiting AS", "room.places"]) {
      assert.isTrue(
        executed.some(({ statement }) => statement.includes(words)),
        `no statement with ${words} was seen`
      )
    }
    assert.deepStrictEqual(
      executed.flatMap(({ plan, statement }) => readWhole(plan).map((index) => `${index}: ${statement}`)),
      []
    )
  }).pipe(Effect.provide(NodeServices.layer))
)

describe.each(["force_custom_plan", "force_generic_plan"])("With plan_cache_mode = %s", (mode) => {
  it.live(
    "no statement on mail, its lists or its removal scans a growing table",
    () =>
      Effect.gen(function* () {
        const { DATABASE_URL = "", DATA_DIR } = yield* InletProcess.installation
        const plans = yield* StatementPlans.before(new URL(DATABASE_URL), { plan_cache_mode: mode })
        const world = yield* Layer.build(
          Database.migrations.pipe(
            Layer.provideMerge(Database.layerPostgres(Redacted.make(DATABASE_URL))),
            Layer.provide(Platform.layer)
          )
        )
        const sql = Context.get(world, SqlClient.SqlClient)
        const settings = {
          DATABASE_URL: plans.url,
          DATA_DIR,
          SECRETS_KEY: Buffer.alloc(32, 5).toString("base64"),
          ADMIN_TOKEN: "operator",
          WEBHOOK_RETRY_DELAYS: "1s"
        }
        const inlet = yield* InletProcess.start({ ...settings, ROLES: "http,smtp" })
        const receiver = yield* WebhookReceiver.make
        const inbox = yield* inlet.inbox(receiver.url)
        const others = yield* Effect.forEach(Array.range(1, 4), () => inlet.inbox(receiver.url))
        const domains = [inbox, ...others].map(({ domainId }) => domainId)
        yield* Effect.gen(function* () {
          yield* MailHistory.seed({ domains, messages: 3_000, from: 16, to: 14.1 })
          yield* MailHistory.seed({ domains, messages: 20_000, from: 13.9, to: 0.01 })
          yield* MailHistory.keepStatistics
        }).pipe(Effect.provideContext(world))
        const ask = (path: string) => inlet.call("GET", `/api/domains/${inbox.domainId}${path}`, { key: inbox.key })

        // Makes the sweeper ask which of them are referenced.
        const fs = yield* FileSystem.FileSystem
        for (const days of [20, 16, 15]) {
          const openedAt = DateTime.toEpochMillis(DateTime.subtract(yield* DateTime.now, { days }))
          const file = `${DATA_DIR}/raw/segments/${Segments.nameOf(Segments.idAt(openedAt, new Uint8Array(10)))}`
          yield* fs.writeFileString(file, "")
          yield* fs.utimes(file, openedAt / 1_000, openedAt / 1_000)
        }

        yield* plans.taken
        yield* sql`INSERT INTO domain_changes (domain_id, change, paused_at) VALUES (${inbox.domainId}, 'resumed', now())`
        const worker = yield* InletProcess.start({ ...settings, ROLES: "worker" })
        yield* receiver.answerWith(500)
        const recipients = [inbox.address, inbox.address, ...others.map(({ address }) => address)]
        yield* Effect.forEach(
          Array.range(1, 60),
          (number) =>
            Mail.send(inlet.smtpPort, { to: recipients[number % recipients.length] ?? "", subject: `${number}` }),
          { concurrency: 10 }
        )
        yield* Mail.send(inlet.smtpPort, { to: recipients, subject: "to several" })
        yield* eventually(
          sql`
            SELECT 1 FROM inbound_emails WHERE state = 'received' OR received_at < now() - interval '14 days'
            UNION ALL SELECT 1 FROM deliveries WHERE status = 'pending' AND due_at < now() + interval '1 hour' LIMIT 1
          `,
          (rows) => rows.length === 0
        )

        const [example] = yield* sql<{
          readonly id: string
          readonly attempt: string
          readonly recipient: string
          readonly sender: string
          readonly thread: string
        }>`
          SELECT events.id, delivery_attempts.id AS attempt, events.recipient, events.sender, thread_id AS thread
          FROM events JOIN delivery_attempts ON event_id = events.id
          WHERE events.domain_id = ${inbox.domainId} ORDER BY position OFFSET 4000 LIMIT 1
        `
        if (example === undefined) return assert.fail("no event to ask for")
        const daysAgo = (days: number) =>
          Effect.map(
            sql<{ readonly time: Date }>`SELECT now() - make_interval(days => ${days}) AS time`,
            ([row]) => row?.time.toISOString() ?? ""
          )
        const lists = combined(
          [nothing, { recipient: example.recipient }],
          [nothing, { from: example.sender }],
          [nothing, ...["delivered", "pending", "dead", "held"].map((delivery) => ({ delivery }))],
          [nothing, { since: yield* daysAgo(2) }, { until: yield* daysAgo(10) }],
          [nothing, { until: yield* daysAgo(1) }],
          [nothing, { cursor: example.id }, { after: example.id }]
        )
        const told = combined(
          [
            { has: "code" },
            { has: "link" },
            { fromDomain: "shop0.example" },
            { subject: "needle" },
            { recipientPart: "needle" },
            { fromPart: "needle" },
            { tag: "needle" },
            { thread: example.thread },
            { sender: "bounce" },
            { webhook: inbox.domainId },
            { newerThan: "2h" }
          ],
          [nothing, { recipient: example.recipient }, { from: example.sender }],
          [nothing, { delivery: "dead" }, { delivery: "held" }],
          [nothing, { cursor: example.id }]
        )
        const paths = [
          ...[...lists, ...told].map((query) => `/events?${new URLSearchParams(query)}`),
          "/events?wait=1&delivery=held",
          `/events/${example.id}`,
          `/events/${example.id}/raw`,
          "/delivery-attempts",
          `/delivery-attempts?cursor=${example.attempt}`,
          `/delivery-attempts?event_id=${example.id}`,
          "/delivery-attempts?ok=false",
          `/delivery-attempts?status_code=404&since=${yield* daysAgo(2)}&cursor=${example.attempt}`,
          "",
          "/webhook/health",
          "/health"
        ]
        const answers = yield* Effect.forEach(paths, (path) => Effect.map(ask(path), ({ status }) => [path, status]), {
          concurrency: 4
        })
        const limited = yield* inlet.call("POST", "/api/workspaces/keys", {
          key: inbox.key,
          body: { scope: "read", pattern: "user*" }
        })
        const ofLimited = yield* Effect.forEach(
          [
            ...combined(
              [nothing, { recipient: example.recipient }, { delivery: "held" }, { delivery: "dead" }, { has: "code" }],
              [nothing, { since: yield* daysAgo(2) }, { after: example.id }]
            ).map((query) => `/events?${new URLSearchParams(query)}`),
            `/events/${example.id}`,
            "/refusals"
          ].map((path) => `/api/domains/${inbox.domainId}${path}`),
          (path) =>
            Effect.map(inlet.call("GET", path, { key: limited.json.api_key }), ({ status }) => [path, status] as const)
        )
        assert.deepStrictEqual(
          ofLimited.filter(([, status]) => status !== 200),
          []
        )
        for (const path of ["/api/events", "/api/trace", `/api/trace?to=${example.recipient}`]) {
          assert.strictEqual((yield* inlet.call("GET", path, { key: limited.json.api_key })).status, 200)
        }
        assert.deepStrictEqual(
          answers.filter(([path, status]) => status !== 200 && path !== `/events/${example.id}/raw`),
          []
        )
        const traces = combined(
          [nothing, { message_id: "nowhere@shop0.example" }, { from: example.sender }, { from: "shop0.example" }],
          [nothing, { to: example.recipient }, { to: example.recipient.split("@")[1] ?? "" }],
          [nothing, { subject: "needle" }],
          [nothing, { since: yield* daysAgo(2) }, { until: yield* daysAgo(10) }]
        )
        yield* Effect.forEach(
          traces,
          Effect.fnUntraced(function* (query) {
            for (const [path, key] of [["/api/trace", inbox.key] as const, ["/admin/trace", "operator"] as const]) {
              const traced = yield* inlet.call("GET", `${path}?${new URLSearchParams(query)}`, { key })
              assert.strictEqual(traced.status, 200, JSON.stringify(query))
            }
          }),
          { concurrency: 4, discard: true }
        )
        const all = [...lists, ...told].filter((query) => query.cursor === undefined && query.after === undefined)
        yield* Effect.forEach(
          [
            ...all.map((query) => `/api/events?${new URLSearchParams(query)}`),
            "/api/domains",
            "/api/domains/wallet",
            "/admin/domains"
          ],
          Effect.fnUntraced(function* (path) {
            const { status } = yield* inlet.call("GET", path, {
              key: path.startsWith("/admin") ? "operator" : inbox.key
            })
            assert.strictEqual(status, 200, path)
          }),
          { concurrency: 4, discard: true }
        )
        const replayed = yield* inlet.call(
          "POST",
          `/api/domains/${inbox.domainId}/events/${example.id}/replay?force=true`,
          { key: inbox.key }
        )
        assert.strictEqual(replayed.status, 202)
        for (const status of ["dead", "held", "delivered"]) {
          for (const body of [{ status }, { status, since: yield* daysAgo(2), recipient: example.recipient }]) {
            const counted = yield* inlet.call("POST", `/api/domains/${inbox.domainId}/replays`, {
              key: inbox.key,
              body: { ...body, dry_run: true }
            })
            assert.strictEqual(counted.status, 200)
          }
        }
        const job = yield* inlet.call("POST", `/api/domains/${inbox.domainId}/replays`, {
          key: inbox.key,
          body: { status: "dead" }
        })
        assert.strictEqual(job.status, 202)
        yield* eventually(
          inlet.call("GET", `/api/domains/${inbox.domainId}/replays/${job.json.id}`, { key: inbox.key }),
          ({ json }) => json.state === "done" || json.queued > 50
        )
        for (const webhookUrl of [null, receiver.url]) {
          yield* inlet.call("PATCH", `/api/domains/${inbox.domainId}/delivery`, {
            key: inbox.key,
            body: { webhookUrl }
          })
        }
        for (const body of [{ webhookUrl: null }, { pull: true }]) {
          yield* inlet.call("PATCH", `/api/domains/${inbox.domainId}/delivery`, { key: inbox.key, body })
        }
        yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "asked for" })
        const deliveries = `/api/domains/${inbox.domainId}/deliveries`
        const leased = yield* inlet.call("POST", `${deliveries}/lease`, { key: inbox.key, body: { wait: 20 } })
        const [{ attempt, event_id }] = leased.json.deliveries
        const settled = yield* inlet.call("POST", `${deliveries}/settle`, {
          key: inbox.key,
          body: { outcomes: [{ event_id, attempt, statusCode: 200, durationMs: 1 }] }
        })
        assert.strictEqual(settled.json.outcomes[0].status, 200)
        yield* worker.signal("SIGTERM")
        yield* worker.ending

        const executed = yield* plans.taken
        for (const words of [
          "INTO inbound_emails",
          "INTO events",
          "INTO delivery_attempts",
          "FROM inbound_emails WHERE",
          "SELECT asked.id",
          "FROM taken JOIN domains",
          "FOR UPDATE OF deliveries"
        ]) {
          assert.isTrue(
            executed.some(({ statement }) => statement.includes(words)),
            `no statement with ${words} was seen`
          )
        }
        assert.deepStrictEqual([...readingAll(executed)], [])
        assert.deepStrictEqual(
          [...acrossDomains(executed)].filter((statement) => !mayCross.some((words) => statement.includes(words))),
          []
        )
      }).pipe(Effect.provide(NodeServices.layer)),
    480_000
  )
})
