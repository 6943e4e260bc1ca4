import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "../Eventually.ts"
import { TestInlet } from "../TestInlet.ts"

const isWaiting = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
)

layer(TestInlet.layer({ MAX_DOMAINS_PER_WORKSPACE: "0" }), { excludeTestServices: true })(
  "A request for a domain or workspace that is removed meanwhile",
  (it) => {
    const cases = {
      "a webhook": { of: "domain", path: "/webhooks", body: { pattern: "agent", action: "hold" }, expected: 404 },
      "a sender rule": {
        of: "domain",
        path: "/sender-rules",
        body: { list: "block", value: "x.example" },
        expected: 404
      },
      "a domain": { of: "workspace", path: "/api/domains", body: { domain: "new.example" }, expected: 401 },
      "a key": { of: "workspace", path: "/api/workspaces/keys", body: { scope: "read" }, expected: 401 },
      "an order": {
        of: "workspace",
        path: "/api/domains/purchase",
        body: { domain: "bought-meanwhile.com", years: 1 },
        expected: 401
      }
    } as const

    it.effect.each(Object.entries(cases))(
      "is answered 503 for %s, and then as if it came later",
      ([, { body, expected, of, path }]) =>
        Effect.gen(function* () {
          const inlet = yield* TestInlet
          const sql = yield* SqlClient.SqlClient
          const { domainId, key } = yield* inlet.inbox()
          const { json } = yield* inlet.call("GET", "/api/workspace", { key })
          const isRemoved = yield* Deferred.make<void>()
          const mayCommit = yield* Deferred.make<void>()
          const removal = Effect.gen(function* () {
            if (of === "domain") yield* sql`DELETE FROM domains WHERE id = ${domainId}`
            else yield* sql`DELETE FROM workspaces WHERE id = ${json.workspace_id}`
            yield* Deferred.succeed(isRemoved, undefined)
            yield* Deferred.await(mayCommit)
          }).pipe(sql.withTransaction)
          const removing = yield* Effect.forkChild(removal)
          yield* Deferred.await(isRemoved)
          const request = inlet.call("POST", of === "domain" ? `/api/domains/${domainId}${path}` : path, { key, body })
          const answering = yield* Effect.forkChild(request)
          yield* eventually(isWaiting, (rows) => rows.length > 0)
          yield* Deferred.succeed(mayCommit, undefined)
          yield* Fiber.join(removing)
          const answer = yield* Fiber.join(answering)
          assert.strictEqual(answer.status, 503, JSON.stringify(answer.json))
          assert.strictEqual(answer.headers["retry-after"], "5")
          assert.match(answer.json.error, /^What the request is about was removed meanwhile\. Retry in 5 s$/)
          assert.strictEqual((yield* request).status, expected)
        })
    )
  }
)
