import { PgClient } from "@effect/sql-pg"
import { Config, Effect, Option, Redacted, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import * as ProcessUsage from "./ProcessUsage.ts"

/** A PostgreSQL server on this machine. */
export interface Server {
  readonly url: Redacted.Redacted
  readonly version: string
  /** The postmaster, whose children are the backends. */
  readonly postmaster: number
}

// Connects for each statement, because an idle connection is closed after a minute.
const connect = (url: Redacted.Redacted) =>
  PgClient.make({ url, maxConnections: 1 }).pipe(Effect.provide(Reactivity.layer))

const execute = (url: Redacted.Redacted, statement: string) =>
  Effect.scoped(Effect.flatMap(connect(url), (sql) => sql.unsafe(statement)))

/** The server cannot be used by the benchmark. */
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

/** The server at `BENCH_DATABASE_URL`, if set. */
export const server = Effect.flatMap(told, (url) => (Option.isNone(url) ? Effect.undefined : at(url.value)))

export const required = Effect.filterOrElse(
  server,
  (found) => found !== undefined,
  () => Effect.fail(new NoServer({ message: "BENCH_DATABASE_URL must name a PostgreSQL server on this machine" }))
)

/** The URL of a new database, which is dropped with the scope. */
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

/** The number of connections to a database, without the one of this query. */
export const connections = Effect.fnUntraced(function* (database: string) {
  const sql = yield* connect(Redacted.make(database))
  const [row] = yield* sql<{ count: number }>`
    SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`
  return row?.count ?? 0
}, Effect.scoped)
