import { PgClient } from "@effect/sql-pg"
import { Config, Context, Effect, FileSystem, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import * as Database from "../src/database/Database.ts"
import * as InletProcess from "../test/InletProcess.ts"

/** A database for the benchmark on the PostgreSQL server at BENCH_DATABASE_URL, with a client. */
const database = Effect.fnUntraced(function* (name: string) {
  const server = yield* Config.Redacted("BENCH_DATABASE_URL")
  // Connects for each statement, because a connection that was idle for long may be closed.
  const tell = (statement: string) =>
    PgClient.make({ url: server, maxConnections: 1 }).pipe(
      Effect.flatMap((admin) => admin.unsafe(statement)),
      Effect.provide(Reactivity.layer),
      Effect.scoped
    )
  const drop = tell(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  yield* Effect.acquireRelease(Effect.andThen(drop, tell(`CREATE DATABASE ${name}`)), () => Effect.orDie(drop))
  const url = new URL(Redacted.value(server))
  url.pathname = `/${name}`
  const world = yield* Layer.build(
    Database.migrations.pipe(Layer.provideMerge(Database.layerPostgres(Redacted.make(url.href))))
  )
  return { url, sql: Context.get(world, SqlClient.SqlClient), world }
})

/** Ten workspaces with live domains, five each by default, and the settings of processes that serve them. */
export const make = Effect.fnUntraced(function* (name: string, webhook: string, domainsOfWorkspace = 5) {
  const fs = yield* FileSystem.FileSystem
  const { sql, url, world } = yield* database(name)
  const settings = {
    DATA_DIR: yield* fs.makeTempDirectoryScoped({ prefix: "inlet-bench-" }),
    DATABASE_URL: url.href,
    ADMIN_TOKEN: "operator",
    SECRETS_KEY: Buffer.alloc(32, 5).toString("base64"),
    SMTP_MAX_CONNECTIONS_PER_IP: "0",
    HTTP_REQUESTS_PER_SECOND: "0"
  }
  const api = yield* InletProcess.start({ ...settings, ROLES: "http" })
  const keys: Array<string> = []
  const domains: Array<string> = []
  for (let workspace = 0; workspace < 10; workspace++) {
    const { json } = yield* api.call("POST", "/api/workspaces", { body: { name: "growth" } })
    keys.push(json.api_key)
    const rows = yield* sql<{ readonly id: string }>`
      INSERT INTO domains (id, workspace_id, name, origin, status, verified_at, live_at)
      SELECT gen_random_uuid(), ${json.workspace_id}, 'customer' || (${workspace * domainsOfWorkspace}::int + number) || '.example',
        'byo', 'live', now(), now()
      FROM generate_series(0, ${domainsOfWorkspace - 1}::int) AS number RETURNING id
    `
    yield* sql`UPDATE webhooks SET action = 'webhook', url = ${webhook} WHERE id = ANY(${rows.map(({ id }) => id)}::uuid[])`
    domains.push(...rows.map(({ id }) => id))
  }
  return { sql, world, url, settings, api, domains, keys, key: keys[0] ?? "", large: domains[0] ?? "" }
})

export type Installation = Effect.Success<ReturnType<typeof make>>

/** A process of the installation with all roles. Retention is off by default. */
export const process = Effect.fnUntraced(function* (own: Installation, settings: Record<string, string>) {
  const inlet = yield* InletProcess.start({ RETENTION_DAYS: "0", ...own.settings, ...settings })
  const stop = Effect.andThen(inlet.signal("SIGTERM"), inlet.ending)
  return { port: inlet.smtpPort, call: inlet.call, stop }
})
