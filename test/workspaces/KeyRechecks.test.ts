import { assert, layer } from "@effect/vitest"
import { Array, ConfigProvider, Context, Effect, Fiber, Layer, Tracer } from "effect"
import { SqlClient } from "effect/sql"
import { WorkspaceName } from "../../src/model/Workspace.ts"
import { Workspaces } from "../../src/workspaces/Workspaces.ts"
import { eventually } from "../Eventually.ts"
import * as TestDatabase from "../TestDatabase.ts"

/** The statements that check keys, as the tracer of the layer sees them. */
class Looks extends Context.Service<Looks, Array<string>>()("test/Looks") {}

const looks = Layer.unwrap(
  Effect.sync(() => {
    const texts: Array<string> = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        const { attribute } = span
        span.attribute = (key, value) => {
          if (/query/.test(key) && /\b(?:api_key_hash|hash) (?:=|IN)/.test(String(value))) texts.push(String(value))
          attribute.call(span, key, value)
        }
        return span
      }
    })
    return Layer.merge(Layer.succeed(Tracer.Tracer, tracer), Layer.succeed(Looks, texts))
  })
)

const settings = ConfigProvider.layer(
  ConfigProvider.fromEnv({ env: { SECRETS_KEY: Buffer.alloc(32, 7).toString("base64") } })
)

layer(
  Workspaces.layer.pipe(Layer.provide(settings), Layer.provideMerge(TestDatabase.layer), Layer.provideMerge(looks)),
  { excludeTestServices: true }
)("Requests that are held", (it) => {
  it.effect("share the checks of their keys, which count as uses, and end after a change by another process", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const workspaces = yield* Workspaces
      const { apiKey, id } = yield* workspaces.create(WorkspaceName.make("a"))
      const other = yield* workspaces.create(WorkspaceName.make("b"))
      const read = yield* workspaces.createKey(id, { scope: "read", name: null, limit: null })
      const limited = yield* workspaces.createKey(id, {
        scope: "read",
        name: null,
        limit: { pattern: "agent-*", domainId: null }
      })
      const keys = [apiKey, read.apiKey, limited.apiKey, other.apiKey]
      const opened = yield* Effect.forEach(Array.range(0, 39), (number) =>
        workspaces.authenticate(keys[number % 4] ?? apiKey)
      )
      const held = yield* Effect.forEach(opened, ({ untilReplaced }) => Effect.forkChild(Effect.flip(untilReplaced)))
      const texts = yield* Looks
      texts.length = 0
      yield* sql`UPDATE workspace_keys SET last_used_at = now() - interval '2 hours' WHERE workspace_id = ${id}`
      yield* eventually(
        sql`SELECT 1 FROM workspace_keys WHERE workspace_id = ${id} AND last_used_at > now() - interval '1 minute'`,
        (rows) => rows.length === 2
      )
      yield* Effect.sleep("2.5 seconds")
      // A look of each key would make eighty.
      assert.isAtMost(texts.length, 10)
      assert.isTrue(held.every((one) => one.pollUnsafe() === undefined))

      yield* sql`DELETE FROM workspace_keys WHERE workspace_id = ${id}`
      yield* sql`UPDATE workspaces SET api_key_hash = sha256('new') WHERE id = ${id}`
      const ofA = held.filter((_, number) => number % 4 < 3)
      const messages = yield* Fiber.joinAll(ofA).pipe(
        Effect.map(Array.map(({ message }) => message)),
        Effect.timeout("10 seconds")
      )
      assert.lengthOf(messages, 30)
      assert.match(messages[0] ?? "", /it was replaced/)
      assert.match(messages[1] ?? "", /it was revoked/)
      assert.match(messages[2] ?? "", /it was revoked/)
      assert.isTrue(held.every((one, number) => number % 4 < 3 || one.pollUnsafe() === undefined))
    })
  )
})
