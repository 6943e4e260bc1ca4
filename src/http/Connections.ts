import type { Server } from "node:http"
import type { Socket } from "node:net"
import { Duration, Effect } from "effect"
import { Tally } from "../cache/Tally.ts"
import * as ClientNetwork from "../model/ClientNetwork.ts"
import * as OpenFiles from "../process/OpenFiles.ts"
import * as Settings from "../Settings.ts"
import * as SocketRefusal from "./SocketRefusal.ts"

/**
 * Limits the connections of the API, in total and for each client network, and disconnects a client that does not
 * read its answer. Behind a proxy all connections belong to the proxy, so only requests are counted by client.
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
        return SocketRefusal.refuse(socket, 429, `${perClient} connections are open from your address; close one first`)
      }
      if (room > 0 && open.total >= room)
        return SocketRefusal.refuse(socket, 503, "All connections are in use; try again in a moment")
      open.add(client, 1)
      socket.once("close", () => open.add(client, -1))
    })

    const underWay = new WeakMap<Socket, number>()
    server.prependListener("request", ({ socket }, response) => {
      underWay.set(socket, (underWay.get(socket) ?? 0) + 1)
      response.once("close", () => underWay.set(socket, (underWay.get(socket) ?? 1) - 1))
    })
    // Node sees progress in the kernel's buffer, so a slow reader does not count as stalled.
    return server.setTimeout(Duration.toMillis(readTimeout), (socket: Socket) => {
      const isWaitingForUs = (underWay.get(socket) ?? 0) > 0 && socket.writableLength === 0
      // Also discards the kernel's buffer.
      if (!isWaitingForUs) socket.resetAndDestroy()
    })
  }
})
