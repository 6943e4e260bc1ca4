import { randomUUID } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { CurrentTransformer, type Transformer } from "effect/sql/Statement"
import { CurrentWorkspace } from "../../../src/http/requests/CurrentWorkspace.ts"
import { Idempotency } from "../../../src/http/requests/Idempotency.ts"
import { WorkspaceId } from "../../../src/model/Workspace.ts"
import { eventually } from "../../Eventually.ts"
import * as TestDatabase from "../../TestDatabase.ts"

layer(Idempotency.layer.pipe(Layer.provideMerge(TestDatabase.layer)), {
  excludeTestServices: true
})("The answer of a request with an Idempotency-Key", (it) => {
  it.effect("is given and stored later, if the database fails after the work", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const middleware = yield* Idempotency
      const id = WorkspaceId.make(randomUUID())
      yield* sql`INSERT INTO workspaces (id, name, api_key_hash, signing_secret) VALUES (${id}, '', ${id}, '')`
      let runs = 0
      let failures = 0
      const failing: Transformer = (self, make) =>
        Effect.sync(() => {
          if (!self.compile()[0].includes("UPDATE idempotency_keys SET answer") || failures === 2) return self
          failures++
          return make`SELECT 1 / 0`
        })
      const work = Effect.sync(() => HttpServerResponse.jsonUnsafe({ runs: ++runs }, { status: 201 }))
      const request = Effect.suspend(() =>
        // The options name the endpoint, which it does not look at.
        middleware(work, Object.create(null)).pipe(
          Effect.provideService(
            HttpServerRequest.HttpServerRequest,
            HttpServerRequest.fromWeb(
              new Request("http://localhost/work", { method: "POST", headers: { "idempotency-key": "once" } })
            )
          ),
          Effect.provideService(CurrentWorkspace, {
            id,
            keyId: null,
            limit: null,
            keyHash: null,
            scope: "full",
            untilReplaced: Effect.never,
            stillValid: Effect.void
          }),
          Effect.provideService(HttpServerRequest.ParsedSearchParams, {}),
          Effect.provideService(HttpRouter.RouteContext, { params: {}, route: Object.create(null) }),
          Effect.provideService(CurrentTransformer, failing),
          Effect.map((response) => [response.status, response.headers["idempotency-replayed"]])
        )
      )
      assert.deepStrictEqual(yield* request, [201, undefined])
      yield* eventually(
        sql`SELECT 1 FROM idempotency_keys WHERE answer IS NOT NULL AND workspace_id = ${id}`,
        ({ length }) => length === 1
      )
      assert.strictEqual(failures, 2)
      assert.deepStrictEqual(yield* request, [201, "true"])
      assert.strictEqual(runs, 1)
    }).pipe(Effect.scoped, Effect.provide(Logger.layer([])))
  )
})
