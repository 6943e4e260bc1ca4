import { connect, createServer, type Server } from "node:net"
import { Duplex } from "node:stream"
import { PgClient } from "@effect/sql-pg"
import { Cause, Effect, Exit, FileSystem, Layer, Path, Schema } from "effect"
import * as WorkerThread from "../threads/WorkerThread.ts"
import * as InitialDatabase from "./InitialDatabase.ts"
import type * as PgliteThread from "./PgliteThread.ts"
import * as SqlNames from "./SqlNames.ts"
import type { WirePglite } from "./WirePglite.ts"

/** Another process uses this folder; its embedded database can serve only one. */
export class FolderTaken extends Schema.TaggedError<FolderTaken>()("FolderTaken", { message: Schema.String }) {}

/** Passes a piece of Postgres' wire protocol to a database, and succeeds with its answer. */
type Exchange = (piece: Uint8Array<ArrayBuffer>) => Effect.Effect<Uint8Array, WorkerThread.ThreadLost>

/** The client of a database with one session, which a Duplex stands before. */
const layerWire = (exchange: Exchange) =>
  PgClient.layer({
    ...SqlNames.transforms,
    stream: () => {
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
    },
    maxConnections: 1,
    username: "postgres",
    database: "postgres"
  })

const toError = (cause: unknown) => (cause instanceof Error ? cause : new Error(String(cause)))

/** The client of a database that somebody else opens and closes. */
export const layerOf = (database: WirePglite) => layerWire((piece) => Effect.promise(() => database.exchange(piece)))

/** A database in a thread of its own, so that its work is not that of the process; closed with the scope. */
const inThread = Effect.fnUntraced(function* (folder: string, script: URL) {
  const thread = yield* WorkerThread.make<PgliteThread.Task, Uint8Array>(script, { workerData: folder })
  yield* thread.ready
  yield* Effect.addFinalizer(() => Effect.ignore(thread.ask("close")))
  const exchange: Exchange = (piece) => thread.ask(piece, [piece.buffer])
  return exchange
})

const pgliteThread = new URL("./PgliteThread.ts", import.meta.url)

const unusable = (what: string) =>
  Effect.mapError(
    ({ message }: WorkerThread.ThreadLost) => new InitialDatabase.FolderUnusable({ message: `${what}: ${message}` })
  )

/** Makes a database in an empty folder, as PGlite does: PostgreSQL's initdb, in a thread that ends with it. */
export const initdb = (folder: string) =>
  Effect.scoped(inThread(folder, pgliteThread)).pipe(unusable(`No database can be made in ${folder}`))

/** Postgres inside this process, kept under `folder`. A thread that has ended is not started again: every statement fails. */
export const layer = (folder: string, script = pgliteThread) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
      yield* lock(folder, path.join(folder, "lock"))
      const files = path.join(folder, "postgres")
      yield* InitialDatabase.ensure(files, initdb)
      // PGlite opens its files to everybody, so nobody else may come near them.
      yield* fs.chmod(files, 0o700)
      return layerWire(yield* inThread(files, script).pipe(unusable(`The database in ${files} can't be opened`)))
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
