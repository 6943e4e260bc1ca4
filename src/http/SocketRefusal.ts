import { randomUUID } from "node:crypto"
import { STATUS_CODES } from "node:http"
import type { Socket } from "node:net"

/** Answers a connection without a request that a route could see, in the form of every error, and ends it. */
export const refuse = (socket: Socket, status: number, message: string): void => {
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
