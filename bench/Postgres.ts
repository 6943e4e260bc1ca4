import { PgClient } from "@effect/sql-pg"
import { Config, Effect, Option, Redacted, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import * as ProcessUsage from "./ProcessUsage.ts"

/** A PostgreSQL server on this machine. */
export interface Server {
  readonly url: Redacted.Redacted
  readonly version: string
  /** Its backends are children of this process. */
  readonly postmaster: number
}

// A connection for each statement: one that is kept is closed when nobody uses it for a minute.
const connect = (url: Redacted.Redacted) =>
  PgClient.make({ url, maxConnections: 1 }).pipe(Effect.provide(Reactivity.layer))

const execute = (url: Redacted.Redacted, statement: string) =>
  Effect.scoped(Effect.flatMap(connect(url), (sql) => sql.unsafe(statement)))

/** The server can't be used here. */
export class NoServer extends Schema.TaggedError<NoServer>()("NoServer", { message: Schema.String }) {}

const told = Config.option(Config.Redacted("BENCH_DATABASE_URL"))

const at = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const sql = yield* connect(url)
  const [row] = yield* sql<{ pid: number; version: string }>`
    SELECT pg_backend_pid() AS pid, split_part(current_setting('server_version'), ' ', 1) AS version`
  const postmaster = row === undefined ? undefined : yield* ProcessUsage.parentOf(row.pid, "postgres")
  if (row === undefined || postmaster === undefined) {
    return yield* new NoServer({ message: "The server at BENCH_DATABASE_URL does not run on this machine" })
  }
  const server: Server = { url, version: row.version, postmaster }
  return server
}, Effect.scoped)

/** The one at `BENCH_DATABASE_URL`, if that is set. */
export const server = Effect.flatMap(told, (url) => (Option.isNone(url) ? Effect.undefined : at(url.value)))

export const required = Effect.filterOrElse(
  server,
  (found) => found !== undefined,
  () => Effect.fail(new NoServer({ message: "BENCH_DATABASE_URL has to name a PostgreSQL server of this machine" }))
)

/** The URL of a new database, dropped with the scope. */
export const database = Effect.fnUntraced(function* ({ url }: Server, name: string) {
  yield* Effect.acquireRelease(
    Effect.andThen(
      execute(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
      execute(url, `CREATE DATABASE ${name}`)
    ),
    () => Effect.ignore(execute(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
  )
  const own = new URL(Redacted.value(url))
  own.pathname = `/${name}`
  return own.href
})

/** How many connections to a database there are, without the one that asks. */
export const connections = Effect.fnUntraced(function* (database: string) {
  const sql = yield* connect(Redacted.make(database))
  const [row] = yield* sql<{ count: number }>`
    SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`
  return row?.count ?? 0
}, Effect.scoped)
