import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { S3Server } from "../simulators/S3Server.ts"
import { TestInlet } from "../TestInlet.ts"

layer(TestInlet.layer(), { excludeTestServices: true })("The health of a domain", (it) => {
  it.effect("says that mail can't be stored while the database takes no writes", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const { domainId, key } = yield* inlet.inbox()
      yield* sql`
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$
      `
      yield* sql`CREATE TRIGGER full_disk BEFORE INSERT ON write_trials EXECUTE FUNCTION refuse()`
      const { json } = yield* inlet.call("GET", `/api/domains/${domainId}/health`, { key })
      const storage = json.checks.find(({ check }: { readonly check: string }) => check === "storage")
      assert.deepInclude(storage, {
        status: "error",
        message: "The service can't store mail now. It answers 451, and senders retry, mostly for days"
      })
      assert.strictEqual(json.status, "error")
    })
  )
})

const HttpAlone = Layer.unwrap(
  Effect.map(S3Server, ({ settings }) => TestInlet.layer({ ...settings, ROLES: "http" }))
).pipe(Layer.provideMerge(S3Server.layer))

layer(HttpAlone, { excludeTestServices: true })("The health of a domain", (it) => {
  it.effect("says that mail can't be stored without the bucket, also in a process with the role http alone", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const server = yield* S3Server
      const { domainId, key } = yield* inlet.inbox()
      yield* server.drop(true)
      const { json } = yield* inlet.call("GET", `/api/domains/${domainId}/health`, { key })
      const storage = json.checks.find(({ check }: { readonly check: string }) => check === "storage")
      assert.deepInclude(storage, { status: "error" })
    })
  )
})
