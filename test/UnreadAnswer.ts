import { connect, type Socket } from "node:net"
import { Clock, Effect } from "effect"
import { eventually } from "./Eventually.ts"

export interface UnreadAnswer {
  /** The status of the answer, once its first bytes are received. They remain unread. */
  readonly status: Effect.Effect<number>
  /** Reads 1.6 MB/s, without an end. */
  readonly trickle: Effect.Effect<never>
  /** The bytes of the answer read so far. */
  readonly bytes: Effect.Effect<number>
  /** Reads until the server closes the connection. Returns all bytes of the answer. */
  readonly rest: Effect.Effect<number>
}

/** Sends a request over a connection of its own without reading the answer. Disconnects with the scope. */
export const ask = Effect.fnUntraced(function* (
  port: number,
  path: string,
  options: { readonly headers?: Readonly<Record<string, string>>; readonly localAddress?: string } = {}
) {
  const { headers = {}, localAddress = "127.0.0.1" } = options
  let bytes = 0
  let isClosed = false
  const socket: Socket = yield* Effect.acquireRelease(
    Effect.sync(() => connect({ port, host: "127.0.0.1", localAddress })),
    (socket) => Effect.sync(() => void socket.destroy())
  )
  socket.on("error", () => {
    isClosed = true
  })
  socket.on("close", () => {
    isClosed = true
  })
  const fields = Object.entries({ host: "inlet.example", ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`GET ${path} HTTP/1.1\r\n${fields.join("")}\r\n`)
  const answer: UnreadAnswer = {
    bytes: Effect.sync(() => bytes),
    status: Effect.callback((resume) => {
      socket.once("readable", () => {
        const start: Buffer = socket.read() ?? Buffer.alloc(0)
        socket.unshift(start)
        resume(Effect.succeed(Number(start.toString("latin1", 9, 12))))
      })
    }),
    trickle: Effect.gen(function* () {
      const began = yield* Clock.currentTimeMillis
      for (;;) {
        yield* Effect.sleep("5 millis")
        // By the time that has passed, because a busy machine sleeps longer.
        const due = 1_600 * ((yield* Clock.currentTimeMillis) - began)
        while (bytes < due) {
          const chunk: Buffer | null = socket.read(32_768)
          if (chunk === null) break
          bytes += chunk.length
        }
      }
    }),
    rest: Effect.andThen(
      Effect.sync(() => {
        socket.on("data", (chunk) => {
          bytes += chunk.length
        })
      }),
      eventually(
        Effect.sync(() => isClosed),
        (yes) => yes,
        "20 seconds"
      )
    ).pipe(Effect.map(() => bytes))
  }
  return answer
})
