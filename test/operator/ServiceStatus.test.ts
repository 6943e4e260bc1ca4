import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as AllWorkspaces from "../../src/operator/AllWorkspaces.ts"
import * as FakeScanner from "../../src/testing/FakeScanner.ts"
import * as Public from "../../src/testing/TestInlet.ts"
import { version } from "../../src/Version.ts"
import * as CommandLine from "../CommandLine.ts"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as ManyDomains from "../ManyDomains.ts"
import { database, TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

const token = "operator-token-sentinel"

layer(
  Layer.merge(
    TestInlet.layer({ ADMIN_TOKEN: token, SMTP_GREETING_DELAY: "0ms", RETENTION_DAYS: "3" }),
    WebhookReceiver.layer
  ),
  { excludeTestServices: true }
)("The status of the service", (it) => {
  const status = Effect.flatMap(TestInlet, (inlet) =>
    Effect.map(inlet.call("GET", "/admin/status", { key: token }), ({ json }) => json)
  )

  it.effect("says version, storage and the settings that are set, without secrets", () =>
    Effect.gen(function* () {
      const now = yield* status
      assert.strictEqual(now.version, version)
      assert.deepStrictEqual(now.roles, ["http", "smtp", "worker"])
      assert.isAbove(now.database.bytes, 1_000_000)
      assert.include(["embedded", "server"], now.database.kind)
      assert.isAbove(now.disks[0].free_bytes, 0)
      assert.isNull(now.scanner)
      const settings = new Map(now.settings.map((one: { name: string; value: string | null }) => [one.name, one.value]))
      assert.strictEqual(settings.get("RETENTION_DAYS"), "3")
      assert.isNull(settings.get("ADMIN_TOKEN"))
      assert.notInclude(JSON.stringify(now), "sentinel")
    })
  )

  it.effect("counts the queues and names failing webhooks by host", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      yield* receiver.answerAlways(500)
      const { address, domain } = yield* inlet.inbox(`${receiver.url}/?token=sentinel`)
      const { address: held } = yield* inlet.inbox()
      yield* Mail.send(inlet.smtpPort, { to: address })
      yield* Mail.send(inlet.smtpPort, { to: held })
      const now = yield* eventually(
        status,
        ({ failing_webhooks, queues }) => failing_webhooks.length === 1 && queues.unread === 0
      )
      assert.deepInclude(now.queues, { pending: 1, held: 1, dead: 0 })
      assert.deepInclude(now.failing_webhooks[0], { domain, workspace: "test", paused_at: null })
      assert.strictEqual(now.failing_webhooks[0].host, new URL(receiver.url).host)
    })
  )
})

for (const [mood, expected] of [
  ["work", { answers: true, error: null }],
  ["fail", { answers: false, error: "the fake scanner does not answer" }],
  ["hang", { answers: false, error: "no answer within 3s" }]
] as const) {
  const scanner = FakeScanner.make()
  const World = Layer.effect(TestInlet, Public.TestInlet).pipe(
    Layer.provideMerge(Public.TestInlet.layer({ settings: { ADMIN_TOKEN: token }, database, scanner: scanner.layer }))
  )
  layer(World, { excludeTestServices: true })(`A mail scanner told to ${mood}`, (it) => {
    it.effect("is in the status of the service, from one trial for requests of the same seconds", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        yield* scanner.will(mood)
        const look = inlet.call("GET", "/admin/status", { key: token })
        const all = yield* Effect.all([look, look, look], { concurrency: 3 })
        for (const { json } of all) assert.deepInclude(json.scanner, expected)
        // The fake notes those that it scans.
        if (mood === "work") assert.lengthOf(scanner.mails, 1)
      })
    )
  })
}

layer(TestInlet.layer({ ADMIN_TOKEN: token }), { excludeTestServices: true })("The list of all workspaces", (it) => {
  it.effect("has pages, newest first, and loses a workspace that is removed with its domains", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const made = []
      for (let count = 0; count < 3; count++) made.unshift((yield* inlet.inbox()).key)
      const page = (query: string) =>
        Effect.map(inlet.call("GET", `/admin/workspaces${query}`, { key: token }), ({ json }) => json)
      const first = yield* page("?limit=2")
      const second = yield* page(`?limit=2&cursor=${first.next_cursor}`)
      assert.lengthOf(first.workspaces, 2)
      assert.lengthOf(second.workspaces, 1)
      assert.isNull(second.next_cursor)
      assert.deepInclude(first.workspaces[0], { name: "test", domains: 1, emails_today: 0 })

      const [{ workspace_id: id }] = first.workspaces
      const remove = inlet.call("DELETE", `/admin/workspaces/${id}`, { key: token })
      assert.strictEqual((yield* remove).status, 204)
      assert.strictEqual((yield* remove).status, 404)
      assert.strictEqual((yield* inlet.call("GET", "/api/domains", { key: made[0] ?? "" })).status, 401)
      assert.lengthOf((yield* page("")).workspaces, 2)
      const names = (query: string) =>
        Effect.map(page(query), ({ workspaces }) => workspaces.map(({ name }: { readonly name: string }) => name))
      yield* inlet.call("POST", "/api/workspaces", { body: { name: "Café 50%" } })
      const last = (yield* page("?limit=1")).workspaces[0]
      assert.deepStrictEqual(yield* names("?search=CAF%C3%89%2050%25"), ["Café 50%"])
      assert.deepStrictEqual(yield* names(`?search=${last.workspace_id}`), ["Café 50%"])
      assert.deepStrictEqual(yield* names("?search=nobody"), [])
      const found = yield* page("?search=test&limit=1")
      assert.lengthOf((yield* page(`?search=test&limit=1&cursor=${found.next_cursor}`)).workspaces, 1)
      const wrong = yield* inlet.call("GET", "/admin/workspaces?cursor=x", { key: token })
      assert.strictEqual(wrong.status, 400)
    })
  )

  it.effect("keeps a workspace for 14 days after an order expired, because a bank debit can still pay it", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const { id } = yield* inlet.workspace
      const order = yield* sql`
          INSERT INTO orders (
            id, workspace_id, name, years, registrar, billing, price_cents, status, success_url, cancel_url, created_at
          )
          VALUES (
            gen_random_uuid(), ${id}, 'late.example', 1, 'mock', 'stripe', 1000, 'expired', '', '',
            now() - interval '13 days'
          )
          RETURNING id
        `
      const remove = inlet.call("DELETE", `/admin/workspaces/${id}`, { key: token })
      assert.strictEqual((yield* remove).status, 409)
      yield* sql`UPDATE orders SET created_at = now() - interval '15 days' WHERE id = ${order[0]?.id}`
      assert.strictEqual((yield* remove).status, 204)
    })
  )
})

layer(
  TestInlet.layer({ ADMIN_TOKEN: token, MAX_DOMAINS_PER_WORKSPACE: "0" }).pipe(
    Layer.provide(Layer.succeed(AllWorkspaces.RemovalMillis, 0))
  ),
  { excludeTestServices: true }
)("A workspace with very many domains", (it) => {
  it.effect("is removed by several requests, each of which removes a part", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const { workspaceId: id } = yield* ManyDomains.workspaceWith(150)
      const remove = inlet.call("DELETE", `/admin/workspaces/${id}`, { key: token })
      const left = Effect.map(sql`SELECT 1 FROM domains WHERE workspace_id = ${id}`, ({ length }) => length)
      const first = yield* remove
      assert.strictEqual(first.status, 503)
      assert.match(first.json.error, /Repeat this until it succeeds$/)
      assert.strictEqual(yield* left, 50)
      yield* remove
      assert.strictEqual((yield* remove).status, 204)
      assert.strictEqual((yield* remove).status, 404)
    })
  )

  it.effect("is removed by one command, which repeats the request", () =>
    Effect.gen(function* () {
      const { folder, url } = yield* TestInlet
      const { workspaceId } = yield* ManyDomains.workspaceWith(150)
      const { code, stderr, stdout } = yield* CommandLine.run(
        ["admin", "workspaces", "remove", workspaceId, "--yes", "--url", url],
        { DATA_DIR: folder, ADMIN_TOKEN: token }
      )
      const part = "A part of the domains of this workspace is removed. Repeat this until it succeeds\n"
      assert.deepStrictEqual([code, stdout, stderr], [0, `Removed ${workspaceId}\n`, part.repeat(2)])
    })
  )
})
