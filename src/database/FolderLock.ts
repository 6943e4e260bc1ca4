import { connect, createServer, type Server } from "node:net"
import { dirname } from "node:path"
import { Effect, FileSystem, Path, Random, Schema } from "effect"
import * as Elapsed from "../schedule/Elapsed.ts"

/** Another process uses this folder, whose embedded database can serve only one. */
export class FolderTaken extends Schema.TaggedError<FolderTaken>()("FolderTaken", { message: Schema.String }) {}

/** The message a folder lock sends on a connection. */
type Said = "wants" | "has" | "nothing"

/** A stopped process cannot answer, but still holds its lock. */
const answerTime = "2 seconds"

/** How long a starting process waits for the folder lock of another one. */
const patienceMillis = 10_000

const Name = /^lock\.[a-z0-9]{4}$/

/**
 * Holds a folder for the lifetime of the scope by files `lock.*` that are listening Unix sockets. The kernel closes
 * them with their owner, so a socket that refuses connections is stale. Each process first listens under its own name
 * and then looks at all others. Of two processes, the one that looks last sees the other, so that they never both
 * consider themselves alone, whatever stale sockets they remove meanwhile.
 */
export const hold = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const end = (yield* Elapsed.millis) + patienceMillis

  const taken = new FolderTaken({
    message: `${folder} is in use by another process. Stop it, choose another DATA_DIR, or set DATABASE_URL to share one database`
  })

  const names = fs.readDirectory(folder).pipe(Effect.map((all) => all.filter((name) => Name.test(name))))

  /** Holds the folder, or the names of other processes that want it. */
  const look = Effect.fnUntraced(function* (own: string) {
    const found = yield* names
    // Its remover held the folder then, and need not have seen this process.
    if (!found.includes(own)) return undefined
    const others = found.filter((name) => name !== own)
    const said = yield* Effect.forEach(others, (name) =>
      Effect.map(ask(path.join(folder, name)), (what) => ({ name, what }))
    )
    if (said.some(({ what }) => what === "has")) return yield* taken
    return {
      rivals: said.flatMap(({ name, what }) => (what === "wants" ? [name] : [])),
      stale: said.flatMap(({ name, what }) => (what === "nothing" ? [name] : []))
    }
  })

  /** Returns the held lock, or undefined if another process goes first. */
  const attempt = Effect.gen(function* () {
    const own = `lock.${yield* word}`
    const lock = yield* listen(path.join(folder, own))
    if (lock === undefined) return undefined
    const give = <A>(result: A) => Effect.as(lock.close, result)
    return yield* Effect.gen(function* () {
      while (true) {
        const found = yield* look(own)
        if (found === undefined || found.rivals.some((name) => name < own)) return yield* give(undefined)
        if (found.rivals.length === 0) {
          lock.take()
          yield* Effect.forEach(found.stale, (name) => fs.remove(path.join(folder, name), { force: true }))
          return lock.close
        }
        if ((yield* Elapsed.millis) > end) return yield* taken
        yield* pause
      }
    }).pipe(Effect.onError(() => lock.close))
  })

  const acquire = Effect.gen(function* () {
    while (true) {
      const held = yield* attempt
      if (held !== undefined) return held
      if ((yield* Elapsed.millis) > end) return yield* taken
      yield* pause
    }
  })
  yield* Effect.asVoid(Effect.acquireRelease(acquire, (close) => close))
})

const word = Effect.map(Random.nextIntBetween(0, 36 ** 4 - 1), (number) => number.toString(36).padStart(4, "0"))

const pause = Effect.flatMap(Random.nextIntBetween(5, 50), (millis) => Effect.sleep(millis))

interface Lock {
  /** From now on the lock reports that this process holds the folder. */
  take(): void
  readonly close: Effect.Effect<void>
}

/** The path of a socket has at most 103 bytes (macOS) or 107 (Linux), of which the name takes ten. */
const longestFolder = 90

const unlockable = (folder: string, { code, message }: NodeJS.ErrnoException): string =>
  code === "ENOTDIR"
    ? `${folder} is not a folder. Choose another one`
    : code === "EINVAL" || code === "ENAMETOOLONG"
      ? `The path ${folder} is too long for the lock in it. Choose one of at most ${longestFolder} bytes, or a relative one`
      : `Cannot lock ${folder}: ${message}`

/** Undefined if the name exists. */
const listen = (socket: string) =>
  Effect.callback<Lock | undefined, FolderTaken>((resume) => {
    let said: Said = "wants"
    const server: Server = createServer((peer) => {
      peer.on("error", () => undefined)
      peer.end(said)
    })
    // All of them, because later ones, such as of a connection without a file descriptor, would end the process.
    server.on("error", (error: NodeJS.ErrnoException) =>
      resume(
        error.code === "EADDRINUSE"
          ? Effect.succeed(undefined)
          : Effect.fail(new FolderTaken({ message: unlockable(dirname(socket), error) }))
      )
    )
    server.listen(socket, () =>
      resume(
        Effect.succeed({
          take: () => {
            said = "has"
          },
          close: Effect.callback<void>((closed) => void server.close(() => closed(Effect.void)))
        })
      )
    )
  })

/** `nothing` if the socket refuses connections. An owner that does not answer that it only wants the folder has it. */
const ask = (socket: string) =>
  Effect.callback<Said>((resume) => {
    const peer = connect(socket)
    let heard = ""
    const answer = (said: Said) => resume(Effect.succeed(said))
    peer.on("data", (piece) => {
      heard += piece.toString("latin1")
    })
    peer.once("end", () => answer(heard === "wants" ? "wants" : "has"))
    peer.once("error", (error: NodeJS.ErrnoException) =>
      answer(error.code === "ECONNREFUSED" || error.code === "ENOENT" ? "nothing" : "has")
    )
    return Effect.sync(() => peer.destroy())
  }).pipe(Effect.timeoutOrElse({ duration: answerTime, orElse: () => Effect.succeed<Said>("has") }))
