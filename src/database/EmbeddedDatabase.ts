import { connect, createServer, type Server } from "node:net"
import { Duplex } from "node:stream"
import { Worker } from "node:worker_threads"
import { PgClient } from "@effect/sql-pg"
import type { PGlite } from "@electric-sql/pglite"
import { Effect, FileSystem, Layer, Path, Schema } from "effect"
import type * as PgliteThread from "./PgliteThread.ts"
import * as SqlNames from "./SqlNames.ts"

/** Another process uses this folder; its embedded database can serve only one. */
export class FolderTaken extends Schema.TaggedError<FolderTaken>()("FolderTaken", { message: Schema.String }) {}

/** Passes a piece of Postgres' wire protocol to a database, and succeeds with its answer. */
type Exchange = (piece: Uint8Array) => Promise<Uint8Array>

/** The client of a database with one session, which a Duplex stands before. */
const layerWire = (exchange: Exchange) =>
  PgClient.layer({
    ...SqlNames.transforms,
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
const inThread = (folder: string, script: URL) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly exchange: Exchange; readonly close: Effect.Effect<void> }>((resume) => {
      const thread = new Worker(script, {
        workerData: folder,
        execArgv: [],
        env: {}
      })
      const waiting: Array<PromiseWithResolvers<Uint8Array>> = []
      const ended = Promise.withResolvers<void>()
      let isOver = false
      const fail = (error: unknown) => {
        isOver = true
        for (const { reject } of waiting.splice(0)) reject(error)
        resume(Effect.die(error))
      }
      thread.on("error", fail)
      thread.on("exit", () => {
        ended.resolve()
        fail(new Error("The embedded database has ended"))
      })
      const exchange: Exchange = (piece) => {
        // A thread that is no more would leave whoever asks it waiting.
        if (isOver) return Promise.reject(new Error("The embedded database has ended"))
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

/** Postgres inside this process, kept under `folder`. A thread that has ended is not started again: every statement fails. */
export const layer = (folder: string, script = new URL("./PgliteThread.ts", import.meta.url)) =>
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
      const { exchange } = yield* inThread(files, script)
      return layerWire(exchange)
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
