import { PgClient } from "@effect/sql-pg"
import { Config, Effect, Option, Redacted } from "effect"
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

/** The one at `BENCH_DATABASE_URL`, if that is set. */
export const server = Effect.scoped(
  Effect.gen(function* () {
    const url = yield* Config.option(Config.Redacted("BENCH_DATABASE_URL"))
    if (Option.isNone(url)) return undefined
    const sql = yield* connect(url.value)
    const [row] = yield* sql<{ pid: number; version: string }>`
    SELECT pg_backend_pid() AS pid, split_part(current_setting('server_version'), ' ', 1) AS version`
    if (row === undefined) return undefined
    const own: Server = {
      url: url.value,
      version: row.version,
      postmaster: (yield* ProcessUsage.parentOf(row.pid)) ?? 0
    }
    return own
  })
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
