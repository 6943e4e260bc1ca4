import { createServer, type Socket } from "node:net"
import { Effect, Latch } from "effect"
import * as Marker from "./Marker.ts"

/** The outcome of one run. */
export interface Delivered {
  /** When the first webhook request for each message arrived, from `performance.now()`. Zero means never. */
  readonly arrivedAt: Float64Array
  /** Completes when every message has arrived. */
  readonly all: Effect.Effect<void>
  /** The number of arrived messages. */
  readonly count: () => number
  /** The number of missing messages. */
  readonly missing: () => number
  /** Repeated requests for a message with the same `webhook-id`. */
  readonly repeated: () => number
  /** Messages with more than one `webhook-id`. */
  readonly doubled: () => number
}

interface Run extends Delivered {
  arrived(number: number, eventId: string): void
}

const answer = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{"ok":true}'

/** The marker is in the first fields of every payload. */
const beginningBytes = 4_096

/**
 * A webhook that answers 200 and records the arrival of each message. It parses HTTP itself, and only the start of
 * each body, so that it uses little CPU beside the measured server.
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
    /** Starts recording the messages of this run. */
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

/** Answers the requests of one connection. They have a Content-Length, as those of all contestants do. */
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
  /** Consumes the bytes of this request and returns the rest. */
  const body = (bytes: Buffer) => {
    const own = bytes.subarray(0, missing)
    missing -= own.length
    if (beginning.length < beginningBytes) beginning = Buffer.concat([beginning, own.subarray(0, beginningBytes)])
    if (missing === 0) ended()
    return bytes.subarray(own.length)
  }
  const header = (bytes: Buffer) => {
    // Keep the header bytes when its end arrives in another chunk.
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
