import { connect, createServer, type Server } from "node:net"
import { Duplex } from "node:stream"
import { fileURLToPath } from "node:url"
import { Worker } from "node:worker_threads"
import { NodeServices } from "@effect/platform-node"
import { PgClient, type PgConnection, PgPool } from "@effect/sql-pg"
import type { PGlite } from "@electric-sql/pglite"
import {
  Cause,
  Context,
  Effect,
  FileSystem,
  Layer,
  Option,
  Path,
  Predicate,
  type Redacted,
  Schedule,
  Schema,
  Stream,
  String
} from "effect"
import { Reactivity } from "effect/reactivity"
import { Migrator, SqlClient, SqlError, Statement } from "effect/sql"
import * as MigratorFileSystem from "effect/sql/MigratorFileSystem"
import type { Connection } from "effect/sql/SqlConnection"
import * as Patience from "./Patience.ts"
import type * as PgliteThread from "./PgliteThread.ts"
import * as Settings from "./Settings.ts"

/** Another process uses this folder; its embedded database can serve only one. */
export class FolderTaken extends Schema.TaggedError<FolderTaken>()("FolderTaken", { message: Schema.String }) {}

const names = {
  transformQueryNames: String.camelToSnake,
  transformResultNames: String.snakeToCamel,
  transformJson: false
} as const

/** What other processes say through the database; the embedded one has no others. A stream ends with its connection. */
export const Notifications = Context.Reference<(channel: string) => Stream.Stream<string, SqlError.SqlError>>(
  "inlet/Database/Notifications",
  { defaultValue: () => () => Stream.never }
)

/**
 * PostgreSQL at `DATABASE_URL`. It differs from the driver's own client in two
 * ways: every statement ends in time, whatever has become of the server, and
 * what the server gave up in favour of a concurrent transaction is done again.
 */
export const layerPostgres = (url: Redacted.Redacted) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const pool = yield* PgPool.make({
        url,
        applicationName: "inlet",
        // A statement is planned once for each connection, not for each number of rows that a batch
        // may have: planning costs more than running it. None runs long enough for a compiler.
        startupParameters: { plan_cache_mode: "force_generic_plan", jit: "off" },
        maxConnections: 20,
        connectTimeout: "5 seconds"
      })

      const client = yield* SqlClient.make({
        driver: "pg",
        acquirer: Effect.map(Patience.within(pool.get), (session) => connectionOf(session)),
        borrower: (use) => again(Patience.within(pool.use((session) => use(connectionOf(session))))),
        transactionAcquirer: Effect.map(Patience.within(pool.reserve), (session) =>
          connectionOf(session, (statement, text) =>
            (text === "COMMIT" || text === "ROLLBACK"
              ? Patience.withinAnew(statement)
              : Patience.within(statement)
            ).pipe(
              // The transaction may still be open there.
              Effect.tapError((error) => (isLost(error) ? pool.invalidate(session) : Effect.void))
            )
          )
        ),
        prepareTransactionControls: true,
        commit,
        releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
        compiler: PgClient.makeCompiler(names.transformQueryNames, names.transformJson),
        transformRows: Statement.defaultTransforms(names.transformResultNames, names.transformJson).array,
        spanAttributes: [["db.system.name", "postgresql"]]
      })
      const { withTransaction } = client
      const sql = Object.assign(client, {
        withTransaction: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
          Effect.flatMap(Effect.serviceOption(client.transactionService), (outer) =>
            Option.isSome(outer) ? withTransaction(effect) : again(withTransaction(effect))
          )
      })
      return Context.make(SqlClient.SqlClient, sql).pipe(
        Context.add(Notifications, (channel) =>
          Stream.unwrap(
            Effect.gen(function* () {
              const session = yield* pool.reserve
              return Stream.fromQueue(yield* session.listen(channel))
            })
          ).pipe(Stream.map(({ payload }) => payload))
        )
      )
    })
  ).pipe(Layer.provide(Reactivity.layer))

/** A session of the driver as the client's connection, with `limit` around each statement. */
const connectionOf = (
  session: PgConnection.PgConnection,
  limit: <A>(statement: Effect.Effect<A, SqlError.SqlError>, text: string) => Effect.Effect<A, SqlError.SqlError> = (
    statement
  ) => statement
): Connection => {
  const execute =
    (prepare: boolean): Connection["execute"] =>
    (text, params, transform) =>
      limit(session.query(text, params, prepare), text).pipe(
        Effect.map(({ rows }) => (transform === undefined ? rows : transform(rows))),
        // A transaction does not outlive its connection, so this one is rolled back.
        Effect.catchIf(
          (error) => text === "ROLLBACK" && isLost(error),
          () => Effect.succeed([])
        )
      )
  return {
    execute: execute(true),
    executeUnprepared: execute(false),
    executeRaw: (text, params) => limit(session.query(text, params), text),
    executeValues: (text, params) => limit(session.queryValues(text, params), text),
    executeValuesUnprepared: (text, params) => limit(session.queryValues(text, params, false), text),
    executeStream: (text, params, transform) => {
      const rows = session.stream(text, params)
      return transform === undefined ? rows : Stream.flatMap(rows, (row) => Stream.fromIterable(transform([row])))
    }
  }
}

/** PostgreSQL answers ROLLBACK to the COMMIT of a transaction in which something failed. */
const commit = (connection: Connection) =>
  Effect.flatMap(connection.executeRaw("COMMIT", []), (result) =>
    Predicate.hasProperty(result, "command") && result.command === "ROLLBACK"
      ? Effect.fail(
          new SqlError.SqlError({
            reason: new SqlError.UnknownError({ cause: new Error("The transaction had failed"), operation: "commit" })
          })
        )
      : Effect.void
  )

/** Deadlocks and serialization failures are rolled back whole, so nothing of what is repeated has been done. */
const again = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.sandbox(effect).pipe(
    Effect.retry({ times: 4, while: (cause) => errorsOf(cause).some(isConflict) }),
    Effect.catch(Effect.failCause)
  )

const errorsOf = (cause: Cause.Cause<unknown>) =>
  cause.reasons
    .map((reason) =>
      Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined
    )
    .filter(SqlError.isSqlError)

const isLost = ({ reason }: SqlError.SqlError) => reason._tag === "ConnectionError"

const isConflict = ({ reason }: SqlError.SqlError) =>
  reason._tag === "DeadlockError" || reason._tag === "SerializationError"

const migrate = Migrator.make({})

/** Passes a piece of Postgres' wire protocol to a database, and succeeds with its answer. */
type Exchange = (piece: Uint8Array) => Promise<Uint8Array>

/** The client of a database with one session, which a Duplex stands before. */
const layerWire = (exchange: Exchange) =>
  PgClient.layer({
    ...names,
    stream: () => {
      const duplex = new Duplex({
        read() {},
        write(chunk, _encoding, done) {
          exchange(new Uint8Array(chunk)).then((answer) => {
            if (answer.length > 0) duplex.push(answer)
            done()
          }, done)
        }
      })
      return duplex
    },
    maxConnections: 1,
    username: "postgres",
    database: "postgres"
  })

/** The client of a PGlite that somebody else opens and closes. */
export const layerOf = (database: PGlite) => layerWire((piece) => database.execProtocolRaw(piece))

/** A PGlite in a thread of its own, so that its work is not that of the process; closed with the scope. */
const inThread = (folder: string) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly exchange: Exchange; readonly close: Effect.Effect<void> }>((resume) => {
      const thread = new Worker(new URL("./PgliteThread.ts", import.meta.url), {
        workerData: folder,
        execArgv: [],
        env: {}
      })
      const waiting: Array<PromiseWithResolvers<Uint8Array>> = []
      const ended = Promise.withResolvers<void>()
      const fail = (error: unknown) => {
        for (const { reject } of waiting.splice(0)) reject(error)
        resume(Effect.die(error))
      }
      thread.on("error", fail)
      thread.on("exit", () => {
        ended.resolve()
        fail(new Error("The embedded database has ended"))
      })
      const exchange: Exchange = (piece) => {
        const answer = Promise.withResolvers<Uint8Array>()
        waiting.push(answer)
        const asked: PgliteThread.Asked = piece
        thread.postMessage(asked)
        return answer.promise
      }
      const close = Effect.promise(() => {
        const asked: PgliteThread.Asked = "close"
        thread.postMessage(asked)
        return ended.promise
      })
      thread.on("message", (said: PgliteThread.Said) => {
        if (said === "open") resume(Effect.succeed({ exchange, close }))
        else if ("answer" in said) waiting.shift()?.resolve(said.answer)
        else if (waiting.length > 0) waiting.shift()?.reject(said.failure)
        else fail(said.failure)
      })
    }),
    ({ close }) => close
  )

/** Postgres inside this process, kept under `folder`. */
export const layerEmbedded = (folder: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
      yield* lock(folder, path.join(folder, "lock"))
      const files = path.join(folder, "postgres")
      yield* fs.makeDirectory(files, { recursive: true })
      // PGlite opens its files to everybody, so nobody else may come near them.
      yield* fs.chmod(files, 0o700)
      const { exchange } = yield* inThread(files)
      return layerWire(exchange)
    })
  ).pipe(Layer.provide(NodeServices.layer))

/** Runs whatever is new in `migrations/`, once, in order; several processes may start at once. */
export const migrations = Layer.effectDiscard(
  migrate({
    loader: MigratorFileSystem.fromFileSystem(fileURLToPath(new URL("../migrations", import.meta.url))),
    table: "migrations"
  }).pipe(
    // One that runs in another process is waited for.
    Patience.forMuch,
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

/** Whether the database could not do it now, as opposed to having refused. */
export const isUnreachable = ({ reason }: SqlError.SqlError): boolean =>
  reason.isRetryable || (Predicate.hasProperty(reason.cause, "code") && isOutage(`${reason.cause.code}`))

/**
 * The states in which a server is for a while: out of resources (53), shutting
 * down or starting up (57P), an error of its machine (58), or a standby (25006).
 */
const isOutage = (sqlState: string) => /^(53...|57P..|58...|25006)$/.test(sqlState)

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
