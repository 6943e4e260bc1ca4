import { randomUUID } from "node:crypto"
import { type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import { Duration, Effect } from "effect"
import { Tally } from "../cache/Tally.ts"
import * as ClientNetwork from "../model/ClientNetwork.ts"
import * as OpenFiles from "../process/OpenFiles.ts"
import * as Settings from "../Settings.ts"

/**
 * Limits the connections of the API, in total and for each client network, disconnects a client that does not read its
 * answer, and gives what is no HTTP request the error of every other one. Behind a proxy all connections belong to the
 * proxy, so only requests are counted by client.
 */
export const make = Effect.gen(function* () {
  const { connections, connectionsPerAddress, readTimeout } = yield* Settings.answers
  const { trustProxy } = yield* Settings.clients
  const room = yield* OpenFiles.roomFor("HTTP_MAX_CONNECTIONS", connections, "quarter")
  const perClient = trustProxy === 0 ? connectionsPerAddress : 0

  return (server: Server): Server => {
    const open = new Tally()

    // Runs before the HTTP server sees the connection.
    server.prependListener("connection", (socket: Socket) => {
      const client = ClientNetwork.ofAnything(socket.remoteAddress ?? "unknown")
      if (perClient > 0 && open.of(client) >= perClient) {
        return refuse(socket, 429, `${perClient} connections are open from your address; close one first`)
      }
      if (room > 0 && open.total >= room)
        return refuse(socket, 503, "All connections are in use; try again in a moment")
      open.add(client, 1)
      socket.once("close", () => open.add(client, -1))
    })

    const underWay = new WeakMap<Socket, number>()
    const latest = new WeakMap<Socket, ServerResponse>()
    server.prependListener("request", ({ socket }, response) => {
      latest.set(socket, response)
      underWay.set(socket, (underWay.get(socket) ?? 0) + 1)
      response.once("close", () => underWay.set(socket, (underWay.get(socket) ?? 1) - 1))
    })
    server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
      const answer = latest.get(socket)
      const isAnswering = (underWay.get(socket) ?? 0) > 1 || (answer?.headersSent === true && !answer.writableFinished)
      // An error in the middle of an answer would be read as a part of it.
      if (!socket.writable || isAnswering) {
        socket.destroy()
        return
      }
      const [status, message] = malformed[error.code ?? ""] ?? notHttp
      refuse(socket, status, message)
    })
    server.on("checkExpectation", ({ socket }) =>
      refuse(socket, 417, "Expect: Expected 100-continue, or no such field")
    )
    // Node sees progress in the kernel's buffer, so a slow reader does not count as stalled.
    return server.setTimeout(Duration.toMillis(readTimeout), (socket: Socket) => {
      const isWaitingForUs = (underWay.get(socket) ?? 0) > 0 && socket.writableLength === 0
      // Also discards the kernel's buffer.
      if (!isWaitingForUs) socket.resetAndDestroy()
    })
  }
})

const notHttp = [400, "Expected an HTTP/1.1 request: check its method, header fields and length"] as const

/** What Node's HTTP parser refuses, by its code. No route sees it. */
const malformed: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "Expected a URL and header fields of at most 16 KiB together: shorten the query"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "Expected a body with at most 16 KiB of chunk extensions"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request did not arrive in time. Send it again"]
}

const refuse = (socket: Socket, status: number, message: string) => {
  const body = JSON.stringify({ error: message })
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${randomUUID()}`,
    ...(status === 429 || status === 503 ? ["Retry-After: 5"] : []),
    "Connection: close"
  ]
  socket.on("error", () => {})
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`)
  socket.destroy()
}
