import { connect, createServer, type Server } from "node:net"
import { Duplex } from "node:stream"
import { fileURLToPath } from "node:url"
import { NodeServices } from "@effect/platform-node"
import { PgClient, PgMigrator } from "@effect/sql-pg"
import { PGlite } from "@electric-sql/pglite"
import { Effect, FileSystem, Layer, Path, type Redacted, Schedule, Schema, String } from "effect"
import { SqlClient } from "effect/sql"
import * as MigratorFileSystem from "effect/sql/MigratorFileSystem"
import type { SqlError } from "effect/sql/SqlError"
import * as Settings from "./Settings.ts"

/** Another process uses this folder; its embedded database can serve only one. */
export class FolderTaken extends Schema.TaggedError<FolderTaken>()("FolderTaken", { message: Schema.String }) {}

const names = {
  transformQueryNames: String.camelToSnake,
  transformResultNames: String.snakeToCamel,
  transformJson: false
} as const

/** PostgreSQL at `DATABASE_URL`. */
export const layerPostgres = (url: Redacted.Redacted) =>
  PgClient.layer({ ...names, url, applicationName: "inlet", maxConnections: 20, connectTimeout: "5 seconds" })

/** A Duplex that speaks Postgres' wire protocol to an in-process PGlite. */
const wire = (database: PGlite) => () => {
  const duplex = new Duplex({
    read() {},
    write(chunk, _encoding, done) {
      database.execProtocolRaw(new Uint8Array(chunk)).then((answer) => {
        if (answer.length > 0) duplex.push(answer)
        done()
      }, done)
    }
  })
  return duplex
}

/** The client of a PGlite that somebody else opens and closes. */
export const layerOf = (database: PGlite) =>
  PgClient.layer({
    ...names,
    stream: wire(database),
    // PGlite has one session.
    maxConnections: 1,
    username: "postgres",
    database: "postgres"
  })

/** Postgres inside this process, kept under `folder`. */
export const layerEmbedded = (folder: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
      yield* lock(folder, path.join(folder, "lock"))
      const database = yield* Effect.acquireRelease(
        Effect.promise(() => PGlite.create(path.join(folder, "postgres"))),
        (database) => Effect.promise(() => database.close())
      )
      return layerOf(database)
    })
  ).pipe(Layer.provide(NodeServices.layer))

/** Runs whatever is new in `migrations/`, once, in order; several processes may start at once. */
export const migrations = Layer.effectDiscard(
  PgMigrator.run({
    loader: MigratorFileSystem.fromFileSystem(fileURLToPath(new URL("../migrations", import.meta.url))),
    table: "migrations"
  }).pipe(
    Effect.tapErrorTag("SqlError", (error) =>
      isUnreachable(error) ? Effect.logWarning("The database does not answer yet; it is asked again") : Effect.void
    ),
    // A database that starts beside us may not answer yet. Migrations that have run are not run again.
    Effect.retry({
      schedule: Schedule.spaced("1 second"),
      times: 60,
      while: (error) => error._tag === "SqlError" && isUnreachable(error)
    })
  )
).pipe(Layer.provide(NodeServices.layer))

/** Whether the database could not be asked, as opposed to having refused. */
export const isUnreachable = (error: SqlError): boolean => error.reason._tag === "ConnectionError"

/** An embedded database has one process, so whatever was leased before this one started is free: nobody waits for it. */
const leasesOfTheDead = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`UPDATE inbound_emails SET leased_until = now() WHERE state = 'received' AND leased_until > now()`
    yield* sql`UPDATE deliveries SET leased_until = now() WHERE status = 'pending' AND leased_until > now()`
    yield* sql`UPDATE orders SET leased_until = NULL WHERE leased_until > now()`
  })
)

/** Postgres as the settings choose it, migrated. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { dataDirectory, url } = yield* Settings.database
    return url === undefined
      ? leasesOfTheDead.pipe(Layer.provideMerge(migrations), Layer.provideMerge(layerEmbedded(dataDirectory)))
      : migrations.pipe(Layer.provideMerge(layerPostgres(url)))
  })
)

/**
 * Holds a listening Unix socket in the folder for as long as the scope lives.
 * The kernel drops it with its owner, so one that nobody answers is stale.
 */
const lock = (folder: string, socket: string) =>
  Effect.acquireRelease(
    listen(socket).pipe(
      Effect.catch(() =>
        Effect.gen(function* () {
          if (yield* isAnswered(socket)) {
            return yield* new FolderTaken({
              message: `${folder} is in use by another process. Stop it, choose another DATA_DIR, or set DATABASE_URL to share one database`
            })
          }
          const fs = yield* FileSystem.FileSystem
          yield* fs.remove(socket, { force: true })
          return yield* listen(socket)
        })
      )
    ),
    (server) => Effect.callback<void>((resume) => void server.close(() => resume(Effect.void)))
  )

const listen = (socket: string) =>
  Effect.callback<Server, FolderTaken>((resume) => {
    const server = createServer((peer) => peer.destroy())
    server.once("error", (error) =>
      resume(Effect.fail(new FolderTaken({ message: `${socket} can't be listened on: ${error.message}` })))
    )
    server.listen(socket, () => resume(Effect.succeed(server)))
  })

const isAnswered = (socket: string) =>
  Effect.callback<boolean>((resume) => {
    const peer = connect(socket)
    const answer = (yes: boolean) => {
      peer.destroy()
      resume(Effect.succeed(yes))
    }
    peer.once("connect", () => answer(true))
    peer.once("error", () => answer(false))
  })
