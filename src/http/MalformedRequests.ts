import type { Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import * as SocketRefusal from "./SocketRefusal.ts"

const notHttp = [
  400,
  "Expected an HTTP/1.1 request: check its method, header fields and length, and that its URL is ASCII (%C3%BC for ü)"
] as const

/** What Node's HTTP parser refuses, by its code. */
const byCode: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "Expected a URL and header fields of at most 16 KiB together: shorten the query"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "Expected a body with at most 16 KiB of chunk extensions"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request did not arrive in time. Send it again"]
}

/** Answers what Node's HTTP parser refuses, which reaches no route. By itself Node answers without a body. */
export const answered = (server: Server): Server => {
  const open = new WeakMap<Socket, Set<ServerResponse>>()
  server.prependListener("request", ({ socket }, response) => {
    const responses = open.get(socket) ?? new Set()
    open.set(socket, responses.add(response))
    response.once("close", () => responses.delete(response))
  })
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    // An error in the middle of an answer would be read as a part of it.
    const isAnswering = [...(open.get(socket) ?? [])].some(({ headersSent }) => headersSent)
    if (!socket.writable || isAnswering) {
      socket.destroy()
      return
    }
    const [status, message] = byCode[error.code ?? ""] ?? notHttp
    SocketRefusal.refuse(socket, status, message)
  })
  return server.on("checkExpectation", ({ socket }) =>
    SocketRefusal.refuse(socket, 417, "Expect: Expected 100-continue, or no such field")
  )
}
