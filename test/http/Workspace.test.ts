import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as DayCounter from "../../src/statistics/DayCounter.ts"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"

const settings = {
  HTTP_REQUESTS_PER_SECOND: "100",
  MAX_EMAILS_PER_DAY: "5",
  MAX_MESSAGE_BYTES: "2000000",
  RETENTION_DAYS: "0"
}

layer(TestInlet.layer(settings), { excludeTestServices: true })("GET /api/workspace", (it) => {
  it.effect("returns the workspace of the key, its limits and its usage of today", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const { json, status } = yield* inlet.call("GET", "/api/workspace", { key: inbox.key })
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(json, {
        workspace_id: json.workspace_id,
        name: "test",
        opsWebhookUrl: null,
        created_at: json.created_at,
        key_scope: "full",
        key_limit: null,
        limits: {
          domains: 1,
          emails_per_day: 5,
          message_bytes: 2_000_000,
          retention_days: null,
          waits_and_streams: 20,
          requests_at_once: 32,
          requests_per_second: 100
        },
        used: { domains: 0, emails_today: 0 },
        day_ends_at: json.day_ends_at
      })
      assert.match(json.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.match(json.day_ends_at, /T00:00:00\.000Z$/)
      const day = Date.parse(json.day_ends_at) - Date.parse(json.created_at)
      assert.isTrue(day > 0 && day <= 86_400_000)

      for (const subject of ["1", "2"]) yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject })
      yield* Mailbox.events(inbox)
      yield* inlet.call("POST", "/api/domains", { key: inbox.key, body: { domain: "used.example.com" } })
      const after = yield* inlet.call("GET", "/api/workspace", { key: inbox.key })
      assert.deepStrictEqual(after.json.used, { domains: 1, emails_today: 2 })
    })
  )

  it.effect("excludes yesterday and other workspaces", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* inlet.inbox()
      yield* Mail.send(inlet.smtpPort, { to: inbox.address })
      yield* sql`
        UPDATE daily_intake SET day = day - 1
        WHERE workspace_id = (SELECT workspace_id FROM domains WHERE id = ${inbox.domainId})
      `
      const { json } = yield* inlet.call("GET", "/api/workspace", { key: inbox.key })
      assert.strictEqual(json.used.emails_today, 0)
      const other = yield* inlet.workspace
      assert.strictEqual((yield* inlet.call("GET", "/api/workspace", { key: other.key })).json.workspace_id, other.id)
    })
  )
})

const often = Layer.succeed(DayCounter.Interval, "50 millis")

layer(TestInlet.layer({ MAX_EMAILS_PER_DAY: "0" }).pipe(Layer.provide(often)), {
  excludeTestServices: true
})("GET /api/workspace without a daily limit", (it) => {
  it.effect("returns the usage of today by the statistics", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      for (const subject of ["1", "2"]) yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject })
      const asked = inlet.call("GET", "/api/workspace", { key: inbox.key })
      const { json } = yield* eventually(asked, ({ json }) => json.used.emails_today === 2)
      assert.isNull(json.limits.emails_per_day)
    })
  )
})
