import { Duplex } from "node:stream"
import { PgPool } from "@effect/sql-pg"
import { Cause, Context, Effect, Exit, FiberSet, FileSystem, Layer, Path, Schedule, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import * as DurableFolder from "../files/DurableFolder.ts"
import * as FullDisk from "../files/FullDisk.ts"
import * as WorkerThread from "../threads/WorkerThread.ts"
import * as Batcher from "./Batcher.ts"
import * as Checkpoints from "./Checkpoints.ts"
import * as FolderLock from "./FolderLock.ts"
import * as InitialDatabase from "./InitialDatabase.ts"
import * as Patience from "./Patience.ts"
import type * as PgliteThread from "./PgliteThread.ts"
import * as PgSqlClient from "./PgSqlClient.ts"
import * as Turns from "./Turns.ts"
import type { WirePglite } from "./WirePglite.ts"

/** Passes a chunk of Postgres' wire protocol to a database, and returns its answer. */
type Exchange = (piece: Uint8Array<ArrayBuffer>) => Effect.Effect<Uint8Array, WorkerThread.ThreadLost>

/** Limits of a batch, because all other statements wait for the session meanwhile. */
const bounds = { most: 16, mostBytes: 512 * 1024 }

/**
 * The client of a database with one session behind a Duplex. Statements queue for the session: mail first, then the
 * API's clients alternating. `connect` is called for each new connection.
 */
const layerWire = (connect: () => Exchange) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const pool = yield* PgPool.make({
        stream: () => duplexOf(connect()),
        maxConnections: 1,
        username: "postgres",
        database: "postgres"
      })
      const sql = yield* PgSqlClient.make({
        // There is no other server to lead to.
        poolOf: () => ({ ...pool, suspect: () => Effect.void }),
        turns: Turns.make({ places: 1, mailShares: true }),
        patience: Patience.endless
      })
      return Context.make(SqlClient.SqlClient, sql).pipe(Context.add(Batcher.Bounds, bounds))
    })
  ).pipe(Layer.provide(Reactivity.layer))

const duplexOf = (exchange: Exchange) => {
  const duplex = new Duplex({
    read() {},
    write(chunk, _encoding, done) {
      Effect.runCallback(exchange(new Uint8Array(chunk)), {
        onExit: (exit) => {
          if (Exit.isFailure(exit)) return done(toError(Cause.squash(exit.cause)))
          if (exit.value.length > 0) duplex.push(exit.value)
          done()
        }
      })
    }
  })
  return duplex
}

const toError = (cause: unknown) => (cause instanceof Error ? cause : new Error(String(cause)))

/** The client of a database that the caller opens and closes. */
export const layerOf = (database: WirePglite) =>
  layerWire(() => (piece) => Effect.promise(() => database.exchange(piece)))

/** A database in a separate thread, closed with the scope. */
const inThread = Effect.fnUntraced(function* (folder: string, script: URL) {
  const thread = yield* WorkerThread.make<PgliteThread.Task, Uint8Array>(script, { workerData: folder })
  yield* thread.ready
  yield* Effect.addFinalizer(() => Effect.ignore(thread.ask("close")))
  const exchange: Exchange = (piece) => thread.ask(piece, [piece.buffer])
  return exchange
})

const reopenEvery = "1 second"

/**
 * The same, reopened when its thread has ended. PostgreSQL then recovers from its log, as after a crash. Running
 * statements fail, and so do all others until it is open.
 */
const lasting = Effect.fnUntraced(function* (folder: string, script: URL) {
  const scope = yield* Effect.scope
  const fork = yield* FiberSet.makeRuntime()
  let isOpening = false

  const open = Effect.gen(function* () {
    const own = yield* Scope.fork(scope)
    const exchange = yield* inThread(folder, script).pipe(
      Scope.provide(own),
      Effect.onError((cause) => Scope.close(own, Exit.failCause(cause)))
    )
    // A thread that Inlet ends itself, as at a stop during a statement, is not lost.
    let isEnded = false
    yield* Scope.addFinalizer(
      own,
      Effect.sync(() => {
        isEnded = true
      })
    )
    const watched: Exchange = (piece) =>
      Effect.tapError(exchange(piece), (lost) => (isEnded ? Effect.void : replace(own, lost)))
    return watched
  })
  let current = yield* open

  const replace = (own: Scope.Closeable, lost: WorkerThread.ThreadLost) =>
    Effect.sync(() => {
      // The thread of a closed scope was ended, not lost.
      if (isOpening || own.state._tag === "Closed") return
      isOpening = true
      const failed: Exchange = () => Effect.fail(lost)
      current = failed
      fork(
        Effect.gen(function* () {
          yield* Effect.logError("The embedded database stopped and is reopened", lost)
          yield* Scope.close(own, Exit.void)
          current = yield* open.pipe(
            Effect.tapError((error) => Effect.logError("Reopening the embedded database failed and is retried", error)),
            Effect.retry(Schedule.spaced(reopenEvery))
          )
          isOpening = false
          yield* Effect.logInfo("The embedded database is open again")
        })
      )
    })

  return () => current
})

const pgliteThread = new URL("./PgliteThread.ts", import.meta.url)

const unusable = (what: string) =>
  Effect.mapError((lost: WorkerThread.ThreadLost) => {
    const { message } = lost
    const remedy = FullDisk.isCause(lost) ? FullDisk.remedy : "Restore it from a backup, or move it away to start anew"
    return new InitialDatabase.FolderUnusable({ message: `${what}: ${message}. ${remedy}` })
  })

/** Creates a database in an empty folder with PostgreSQL's initdb, in a thread that ends afterwards. */
export const initdb = (folder: string) =>
  Effect.scoped(inThread(folder, pgliteThread)).pipe(unusable(`No database can be made in ${folder}`))

/** Postgres inside this process, stored under `folder`. */
export const layer = (folder: string, script = pgliteThread) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      yield* DurableFolder.make(folder)
      yield* FolderLock.hold(folder)
      const files = path.join(folder, "postgres")
      yield* InitialDatabase.ensure(files, initdb)
      // PGlite makes its files readable for all users, so the folder must be private.
      yield* fs.chmod(files, 0o700)
      const connect = yield* lasting(files, script).pipe(unusable(`The database in ${files} can't be opened`))
      return Checkpoints.layer.pipe(Layer.provideMerge(layerWire(connect)))
    })
  )
