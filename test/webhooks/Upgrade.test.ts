import { fileURLToPath } from "node:url"
import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Option } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import * as MigratorFileSystem from "effect/sql/MigratorFileSystem"
import * as Database from "../../src/database/Database.ts"
import * as EarlierVersion from "../../src/database/EarlierVersion.ts"
import * as EmbeddedDatabase from "../../src/database/EmbeddedDatabase.ts"
import * as InitialDatabase from "../../src/database/InitialDatabase.ts"
import { WebhookId } from "../../src/model/Webhook.ts"
import * as WebhookTarget from "../../src/webhooks/WebhookTarget.ts"
import * as MigratedDatabase from "../MigratedDatabase.ts"
import { server, TestPostgres } from "../TestPostgres.ts"

/** The last migration of the version before webhooks. */
const before = 11

/** An empty database, embedded or on the server of the suite. */
const empty = Layer.unwrap(
  Effect.gen(function* () {
    const url = yield* server
    if (Option.isNone(url)) {
      return EmbeddedDatabase.layerOf(yield* MigratedDatabase.inMemory(yield* InitialDatabase.image))
    }
    const own = yield* Effect.map(Layer.build(TestPostgres.layerOn(url.value)), Context.get(TestPostgres))
    return Database.layerPostgres(own.url)
  })
).pipe(Layer.provideMerge(NodeServices.layer))

const migrations = MigratorFileSystem.fromFileSystem(fileURLToPath(new URL("../../migrations", import.meta.url)))
const migrateTo = (last: number) =>
  Migrator.make({})({
    loader: Effect.map(migrations, (all) => all.filter(([id]) => id <= last)),
    table: "migrations"
  })

/** A domain of the version before, with a delivery of each status, one of which is leased. */
const insertOld = Effect.fnUntraced(function* (columns: string, values: string) {
  const sql = yield* SqlClient.SqlClient
  const [domain] = yield* sql<{ readonly id: string }>`
    WITH workspace AS (
      INSERT INTO workspaces (id, name, api_key_hash, signing_secret)
      VALUES (gen_random_uuid(), 'old', decode(md5(random()::text), 'hex'), ''::bytea) RETURNING id
    )
    INSERT INTO domains (id, workspace_id, name, origin, status, verified_at ${sql.literal(columns)})
    SELECT gen_random_uuid(), id, id || '.example', 'byo', 'live', now() ${sql.literal(values)} FROM workspace RETURNING id
  `
  const id = domain?.id ?? ""
  yield* sql`
    WITH mail AS (
      INSERT INTO inbound_emails (
        id, domain_id, received_at, sha256, mail_from, helo, remote_address, recipients, state, trace_bytes
      )
      VALUES (gen_random_uuid(), ${id}, now(), ''::bytea, '', 'old.example', '127.0.0.1', '{}', 'read', 0) RETURNING id
    ), event AS (
      INSERT INTO events (id, domain_id, inbound_email_id, position, recipient, sender, received_at, payload)
      SELECT gen_random_uuid(), ${id}, mail.id, number, 'a@b.example', 'c@d.example', now(), '{"n": ' || number || ' }'
      FROM mail, generate_series(1, 5) AS number RETURNING id, position
    )
    INSERT INTO deliveries (event_id, domain_id, position, status, due_at, attempts, leased_until, claimed_at)
    SELECT id, ${id}, position, (ARRAY['pending', 'pending', 'dead', 'held', 'delivered'])[position],
      now() - interval '1 hour', position, CASE WHEN position = 2 THEN now() + interval '1 minute' END,
      CASE WHEN position = 2 THEN now() END
    FROM event
  `
  return id
})

const deliveries = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    SELECT deliveries.domain_id, deliveries.position, status, due_at, attempts, leased_until, claimed_at, payload
    FROM deliveries JOIN events ON events.id = event_id ORDER BY deliveries.domain_id, deliveries.position
  `
)

const webhook = (id: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<Record<string, unknown>>`
      SELECT pattern, action, url, failures, paused_at IS NOT NULL AS is_paused, failing_since IS NOT NULL AS is_failing
      FROM webhooks WHERE id = ${id}
    `
  ).pipe(Effect.map(([row]) => row))

layer(empty, { excludeTestServices: true })("An upgrade from one webhook for a domain", (it) => {
  it.effect("keeps every delivery, the signed bytes and the state of every webhook", () =>
    Effect.gen(function* () {
      yield* migrateTo(before)
      const held = yield* insertOld("", "")
      const pulled = yield* insertOld(", pull", ", true")
      const paused = yield* insertOld(
        ", webhook_url, webhook_paused_at, webhook_probe_at, webhook_failing_since, webhook_failures",
        ", 'https://old.example/', now(), now(), now(), 12"
      )
      const all = yield* deliveries
      assert.lengthOf(all, 15)
      yield* migrateTo(1_000)
      assert.deepStrictEqual(yield* deliveries, all)
      const state = { failures: 0, isPaused: false, isFailing: false, pattern: "*", url: null }
      assert.deepStrictEqual(yield* webhook(held), { ...state, action: "hold" })
      assert.deepStrictEqual(yield* webhook(pulled), { ...state, action: "pull" })
      assert.deepStrictEqual(yield* webhook(paused), {
        pattern: "*",
        action: "webhook",
        url: "https://old.example/",
        failures: 12,
        isPaused: true,
        isFailing: true
      })
    })
  )

  it.effect("goes on beside the previous version: what one sets, the other sees", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const id = yield* insertOld("", "")
      assert.deepInclude(yield* webhook(id), { action: "hold" })
      // As the previous version does.
      yield* sql`UPDATE domains SET webhook_url = 'https://set.example/', pull = false WHERE id = ${id}`
      assert.deepInclude(yield* webhook(id), { action: "webhook", url: "https://set.example/" })
      yield* sql`
        UPDATE domains SET webhook_failing_since = now(), webhook_failures = 3,
          webhook_paused_at = now(), webhook_probe_at = now() WHERE id = ${id}
      `
      assert.deepInclude(yield* webhook(id), { failures: 3, isPaused: true, isFailing: true })
      // As this version does.
      const old = sql`SELECT webhook_url, pull, webhook_paused_at FROM domains WHERE id = ${id}`
      yield* sql`UPDATE webhooks SET url = 'https://new.example/', paused_at = NULL, probe_at = NULL WHERE id = ${id}`
      assert.deepStrictEqual(yield* old, [{ webhookUrl: "https://new.example/", pull: false, webhookPausedAt: null }])
      yield* sql`UPDATE webhooks SET url = NULL, action = 'pull' WHERE id = ${id}`
      assert.deepStrictEqual(yield* old, [{ webhookUrl: null, pull: true, webhookPausedAt: null }])
      assert.deepInclude(yield* webhook(id), { action: "pull", url: null })
      yield* EarlierVersion.refuse(sql)
    })
  )

  it.effect("refuses patterns, formats and rejection while the previous version is connected", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const id = WebhookId.make(yield* insertOld("", ""))
      const wire = { format: "raw", credentials: null, basicAuth: false }
      const changes = [
        WebhookTarget.change(sql, id, { action: "reject", url: null }),
        WebhookTarget.change(sql, id, { action: "webhook", url: "https://raw.example/", wire })
      ]
      for (const change of [EarlierVersion.refuse(sql), ...changes]) {
        const refused = yield* sql.withTransaction(
          Effect.andThen(sql`SET LOCAL application_name = 'inlet'`, Effect.flip(change))
        )
        assert.strictEqual(refused._tag, "Conflict")
        assert.match(refused.message, /being upgraded/)
      }
      assert.deepInclude(yield* webhook(id), { action: "hold" })
    })
  )
})
