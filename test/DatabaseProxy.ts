import { connect, createServer, type Socket } from "node:net"
import { Deferred, Effect } from "effect"
import * as Ports from "./Ports.ts"

/**
 * What the proxy does with the traffic: passes, holds or cuts it, or delays every answer. It can also cut connections
 * instead of answering the next COMMIT, or the statement that stores messages, which is a transaction of its own.
 * That statement can also be dropped on its way to the server, or its answer on its way back.
 */
type Mode = "pass" | "hold" | "cut" | "slow" | "lose commit" | "swallow statement" | "swallow answer"

/** A delay after which several statements exceed any timeout. */
const slow = "1700 millis"

/** Recognizes the statement that stores messages, also by the name under which a connection prepared it. */
const keeping = () => {
  const names = new Set<string>()
  return (sent: string) => {
    const [, name] = /P[\s\S]{4}([^\0]+)\0[^\0]*INSERT INTO inbound_emails/.exec(sent) ?? []
    if (name !== undefined) names.add(name)
    return sent.includes("INSERT INTO inbound_emails") || [...names].some((one) => sent.includes(`\0${one}\0`))
  }
}

/**
 * A loopback port in front of a PostgreSQL server, for the lifetime of the scope. It accepts no connections until
 * `open`.
 */
export const before = Effect.fnUntraced(function* (server: URL) {
  const port = yield* Ports.free
  const sockets = new Set<Socket>()
  const lost = yield* Deferred.make<void>()
  const swallowed = yield* Deferred.make<void>()
  const fork = Effect.runForkWith(yield* Effect.context())
  let mode: Mode = "pass"

  const pass = (from: Socket, to: Socket, change: (chunk: Buffer, write: () => void) => void) => {
    sockets.add(from)
    from.on("data", (chunk: Buffer) => change(chunk, () => void (to.destroyed || to.write(chunk))))
    if (mode === "hold") from.pause()
    from.on("error", () => {})
    from.on("close", () => {
      to.destroy()
      sockets.delete(from)
    })
  }

  const listener = createServer((client) => {
    if (mode === "cut") return void client.on("error", () => {}).destroy()
    const upstream = connect(Number(server.port), server.hostname)
    const isToKeep = keeping()
    let delayed = 0
    pass(client, upstream, (chunk, write) => {
      const isIt = isToKeep(chunk.toString("latin1"))
      if (mode === "swallow statement" && isIt) {
        Deferred.doneUnsafe(swallowed, Effect.void)
      } else write()
    })
    pass(upstream, client, (chunk, write) => {
      // No answer may overtake a delayed one.
      if (mode === "slow" || delayed > 0) {
        delayed++
        const late = Effect.sync(() => {
          delayed--
          write()
        })
        fork(Effect.delay(late, slow))
      } else if (mode === "lose commit" && (chunk.includes("COMMIT\0") || chunk.includes("kept"))) {
        client.destroy()
        Deferred.doneUnsafe(lost, Effect.void)
      } else if (mode === "swallow answer" && chunk.includes("kept")) Deferred.doneUnsafe(swallowed, Effect.void)
      else write()
    })
  })
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const socket of sockets) socket.destroy()
      listener.close()
    })
  )

  const url = new URL(server)
  url.hostname = "127.0.0.1"
  url.port = `${port}`
  return {
    /** The server's URL through the proxy. */
    url: url.href,
    open: Effect.callback<void>((resume) => void listener.listen(port, "127.0.0.1", () => resume(Effect.void))),
    turn: (next: Mode) =>
      Effect.sync(() => {
        mode = next
        for (const socket of sockets) {
          if (next === "cut") socket.destroy()
          else if (next === "hold") socket.pause()
          else socket.resume()
        }
      }),
    /** Waits until a COMMIT was executed and its answer dropped. */
    commitLost: Deferred.await(lost),
    /** Waits until the statement or its answer was dropped. */
    swallowed: Deferred.await(swallowed)
  }
})
