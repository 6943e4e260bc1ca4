import { createServer, type Socket } from "node:net"
import { Effect, Latch } from "effect"
import * as Marker from "./Marker.ts"

/** What came of one run. */
export interface Delivered {
  /** When the webhook about each message came first, by `performance.now()`; zero is never. */
  readonly arrivedAt: Float64Array
  /** Ends when every message has come. */
  readonly all: Effect.Effect<void>
  /** How many messages have come. */
  readonly count: () => number
  /** How many have not. */
  readonly missing: () => number
  /** Requests about a message that had come before, under the same `webhook-id`. */
  readonly repeated: () => number
  /** Messages that came under more than one `webhook-id`. */
  readonly doubled: () => number
}

interface Run extends Delivered {
  arrived(number: number, eventId: string): void
}

const answer = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{"ok":true}'

/** The marker is in the first fields of every payload. */
const beginningBytes = 4_096

/**
 * A webhook that answers 200 and notes when each message came. It reads HTTP
 * itself, and of a body only the beginning, so that it costs little beside
 * what is measured.
 */
export const make = Effect.gen(function* () {
  const runs = new Map<number, Run>()
  const sockets = new Set<Socket>()

  const server = createServer((socket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on("error", () => {})
    socket.on("close", () => sockets.delete(socket))
    requests(socket, (head, body) => {
      const marker = Marker.find(body)
      if (marker === undefined) return
      runs.get(marker.run)?.arrived(marker.number, /^webhook-id: (\S+)/im.exec(head)?.[1] ?? "")
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.sync(() => {
        server.close()
        for (const socket of sockets) socket.destroy()
      })
  )
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0

  return {
    url: `http://127.0.0.1:${port}/`,
    /** The messages of this run are noted from now on. */
    expect: (run: number, messages: number) =>
      Effect.sync((): Delivered => {
        const delivered = nothing(messages)
        runs.set(run, delivered)
        return delivered
      })
  }
})

export type Sink = Effect.Success<typeof make>

const nothing = (messages: number): Run => {
  const arrivedAt = new Float64Array(messages)
  const ids: Array<string | undefined> = new Array(messages)
  const doubled = new Set<number>()
  const all = Latch.makeUnsafe(false)
  let count = 0
  let repeated = 0
  return {
    arrivedAt,
    all: all.await,
    count: () => count,
    missing: () => messages - count,
    repeated: () => repeated,
    doubled: () => doubled.size,
    arrived: (number, eventId) => {
      const known = ids[number]
      if (known === undefined) {
        ids[number] = eventId
        arrivedAt[number] = performance.now()
        if (++count === messages) all.openUnsafe()
      } else if (known === eventId) repeated++
      else doubled.add(number)
    }
  }
}

/** Answers the requests of one connection. They have a Content-Length, as all of the contestants' do. */
const requests = (socket: Socket, onRequest: (head: string, body: Buffer) => void) => {
  let head = ""
  let beginning: Buffer = Buffer.alloc(0)
  let missing = 0

  const ended = () => {
    onRequest(head, beginning)
    head = ""
    beginning = Buffer.alloc(0)
    socket.write(answer)
  }
  /** Takes what belongs to this request, and returns the rest. */
  const body = (bytes: Buffer) => {
    const own = bytes.subarray(0, missing)
    missing -= own.length
    if (beginning.length < beginningBytes) beginning = Buffer.concat([beginning, own.subarray(0, beginningBytes)])
    if (missing === 0) ended()
    return bytes.subarray(own.length)
  }
  const header = (bytes: Buffer) => {
    // No byte of a header is lost when its end comes with another chunk.
    const known = beginning.length
    const together = known === 0 ? bytes : Buffer.concat([beginning, bytes])
    const end = together.indexOf("\r\n\r\n")
    if (end < 0) {
      beginning = together
      return bytes.subarray(bytes.length)
    }
    head = together.toString("latin1", 0, end)
    beginning = Buffer.alloc(0)
    missing = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
    const rest = together.subarray(end + 4)
    if (missing === 0) ended()
    return rest
  }
  socket.on("data", (chunk: Buffer) => {
    for (let rest = chunk; rest.length > 0; ) rest = missing > 0 ? body(rest) : header(rest)
  })
}
