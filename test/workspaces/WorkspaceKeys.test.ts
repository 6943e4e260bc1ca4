import { createHash } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Array, ConfigProvider, type Duration, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { WorkspaceName } from "../../src/model/Workspace.ts"
import { Workspaces } from "../../src/workspaces/Workspaces.ts"
import { eventually } from "../Eventually.ts"
import * as TestDatabase from "../TestDatabase.ts"
import { TestInlet } from "../TestInlet.ts"

const create = Effect.fnUntraced(function* (key: string, body: unknown = { scope: "read" }) {
  const inlet = yield* TestInlet
  return yield* inlet.call("POST", "/api/workspaces/keys", { key, body })
})

const list = Effect.fnUntraced(function* (key: string) {
  const inlet = yield* TestInlet
  return (yield* inlet.call("GET", "/api/workspaces/keys", { key })).json.keys as ReadonlyArray<{
    readonly id: string
    readonly name: string | null
    readonly last_used_at: string | null
  }>
})

const revoke = Effect.fnUntraced(function* (key: string, id: string) {
  const inlet = yield* TestInlet
  return yield* inlet.call("DELETE", `/api/workspaces/keys/${id}`, { key })
})

const statusOf = Effect.fnUntraced(function* (key: string) {
  const inlet = yield* TestInlet
  return (yield* inlet.call("GET", "/api/domains", { key })).status
})

layer(TestInlet.layer(), { excludeTestServices: true })("Additional workspace keys", (it) => {
  it.effect("are shown once and listed by their first characters, newest first", () =>
    Effect.gen(function* () {
      const { key } = yield* (yield* TestInlet).workspace
      assert.deepStrictEqual(yield* list(key), [])
      const first = yield* create(key)
      assert.strictEqual(first.status, 201)
      const { api_key, ...rest } = first.json
      assert.match(api_key, /^ak_read_[\w-]{43}$/)
      assert.lengthOf(Buffer.from(api_key.slice("ak_read_".length), "base64url"), 32)
      assert.deepStrictEqual(rest, {
        id: rest.id,
        scope: "read",
        name: null,
        begins: api_key.slice(0, 12),
        pattern: null,
        domain_id: null,
        created_at: rest.created_at,
        last_used_at: null
      })
      const second = yield* create(key, { scope: "read", name: "  Ada's agent " })
      assert.strictEqual(second.json.name, "Ada's agent")
      const { api_key: _, ...listed } = second.json
      assert.deepStrictEqual(yield* list(key), [listed, rest])
    })
  )

  it.effect("are stored as SHA-256", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* (yield* TestInlet).workspace
      const { json } = yield* create(key)
      const [row] = yield* sql<{ readonly hash: Uint8Array; readonly text: string }>`
          SELECT hash, workspace_keys::text AS text FROM workspace_keys WHERE id = ${json.id}
        `
      const expected = createHash("sha256").update(json.api_key).digest("hex")
      assert.strictEqual(Buffer.from(row?.hash ?? []).toString("hex"), expected)
      assert.notInclude(row?.text, json.api_key.slice(0, 13))
    })
  )

  it.effect("open their workspace only, with their scope", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const { json: made } = yield* create(inbox.key)
      const { json } = yield* inlet.call("GET", "/api/domains", { key: made.api_key })
      assert.deepStrictEqual(
        json.domains.map(({ id }: { readonly id: string }) => id),
        [inbox.domainId]
      )
      const scope = (key: string) =>
        Effect.map(inlet.call("GET", "/api/workspace", { key }), ({ json }) => json.key_scope)
      assert.strictEqual(yield* scope(made.api_key), "read")
      assert.strictEqual(yield* scope(inbox.key), "full")
    })
  )

  it.effect("are refused with an unknown scope, or with an empty, overlong or malformed name", () =>
    Effect.gen(function* () {
      const { key } = yield* (yield* TestInlet).workspace
      for (const scope of ["full", "write", "", null, ["read"], undefined]) {
        const { json, status } = yield* create(key, { scope })
        assert.strictEqual(status, 400)
        assert.match(json.error, /^scope: Expected /)
      }
      for (const name of ["", "   ", "x".repeat(101), "a\nb", "a\0b", null, 5]) {
        const { json, status } = yield* create(key, { scope: "read", name })
        assert.strictEqual(status, 400)
        assert.match(json.error, /^name: Expected /)
      }
      assert.strictEqual((yield* create(key, { scope: "read", name: "x".repeat(100) })).status, 201)
      assert.lengthOf(yield* list(key), 1)
    })
  )

  it.effect("are limited to twenty, also for concurrent requests, without revoked ones", () =>
    Effect.gen(function* () {
      const { key } = yield* (yield* TestInlet).workspace
      const answers = yield* Effect.forEach(Array.range(1, 25), () => create(key), { concurrency: "unbounded" })
      const statuses = answers.map(({ status }) => status).toSorted()
      assert.deepStrictEqual(statuses, [...Array.replicate(201, 20), ...Array.replicate(409, 5)])
      const { json } = yield* create(key)
      assert.match(
        json.error,
        /^A workspace can have 20 additional keys\. Revoke one with DELETE \/api\/workspaces\/keys\/\{id\}/
      )
      const [first] = yield* list(key)
      assert.strictEqual((yield* revoke(key, first?.id ?? "")).status, 204)
      assert.strictEqual((yield* create(key)).status, 201)
      // Keys of another workspace do not count.
      assert.strictEqual((yield* create((yield* (yield* TestInlet).workspace).key)).status, 201)
    })
  )

  it.effect("open nothing once revoked, which only their workspace can do", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { key } = yield* inlet.workspace
      const other = yield* inlet.workspace
      const { json } = yield* create(key)
      const unknown = yield* revoke(key, other.id)
      assert.strictEqual(unknown.status, 404)
      const foreign = yield* revoke(other.key, json.id)
      assert.strictEqual(foreign.status, 404)
      assert.strictEqual(foreign.text, unknown.text)
      assert.strictEqual(yield* statusOf(json.api_key), 200)
      assert.strictEqual((yield* revoke(key, json.id)).status, 204)
      assert.strictEqual(yield* statusOf(json.api_key), 401)
      assert.strictEqual((yield* revoke(key, json.id)).status, 404)
      assert.strictEqual(yield* statusOf(key), 200)
    })
  )

  it.effect("remain valid when the workspace key is replaced, and are removed with the workspace", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const { id, key } = yield* inlet.workspace
      const { json } = yield* create(key)
      const { json: rotated } = yield* inlet.call("POST", "/api/workspaces/rotate-key", { key })
      assert.strictEqual(yield* statusOf(json.api_key), 200)
      assert.lengthOf(yield* list(rotated.api_key), 1)
      yield* sql`DELETE FROM workspaces WHERE id = ${id}`
      assert.strictEqual(yield* statusOf(json.api_key), 401)
      assert.lengthOf(yield* sql`SELECT 1 FROM workspace_keys WHERE id = ${json.id}`, 0)
    })
  )

  it.effect("report their last use to the hour", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* (yield* TestInlet).workspace
      const { json } = yield* create(key)
      const used = Effect.map(list(key), ([first]) => first?.last_used_at ?? null)
      yield* statusOf(json.api_key)
      const first = yield* eventually(used, (time) => time !== null)
      yield* statusOf(json.api_key)
      assert.strictEqual(yield* used, first)
      yield* sql`UPDATE workspace_keys SET last_used_at = last_used_at - interval '61 minutes' WHERE id = ${json.id}`
      const before = yield* used
      yield* statusOf(json.api_key)
      yield* eventually(used, (time) => time !== before)
    })
  )
})

const settings = Layer.provide(
  ConfigProvider.layer(ConfigProvider.fromEnv({ env: { SECRETS_KEY: Buffer.alloc(32, 7).toString("base64") } }))
)

layer(Workspaces.layer.pipe(settings, Layer.provideMerge(TestDatabase.layer)), {
  excludeTestServices: true
})("A request about to be held", (it) => {
  it.effect("is answered at once if its key was revoked or replaced between look-up and wait", () =>
    Effect.gen(function* () {
      const workspaces = yield* Workspaces
      const { apiKey, id } = yield* workspaces.create(WorkspaceName.make("a"))
      const made = yield* workspaces.createKey(id, { scope: "read", name: null, limit: null })
      const ofReader = yield* workspaces.authenticate(made.apiKey)
      const ofOwner = yield* workspaces.authenticate(apiKey)
      const outcome = (untilReplaced: typeof ofOwner.untilReplaced, limit: Duration.Input = "20 seconds") =>
        untilReplaced.pipe(
          Effect.catchTag("Unauthorized", ({ message }) => Effect.succeed(message)),
          Effect.timeoutOption(limit),
          Effect.map(Option.getOrNull)
        )
      yield* workspaces.revokeKey({ workspaceId: id, id: made.key.id })
      assert.match((yield* outcome(ofReader.untilReplaced)) ?? "", /it was revoked/)
      assert.isNull(yield* outcome(ofOwner.untilReplaced, "2 seconds"))
      yield* workspaces.rotateKey(ofOwner)
      assert.match((yield* outcome(ofOwner.untilReplaced)) ?? "", /it was replaced/)
    })
  )
})
