import type { Socket } from "node:net"
import { Effect, FileSystem } from "effect"
import * as ClientNetwork from "../model/ClientNetwork.ts"
import * as Settings from "../Settings.ts"

/** Counts open connections, in all and for each client network, against `SMTP_MAX_CONNECTIONS` and `SMTP_MAX_CONNECTIONS_PER_IP`. */
export const make = Effect.gen(function* () {
  const { connections, connectionsPerAddress } = yield* Settings.smtp
  const room = yield* roomFor(connections)
  /** Sockets rather than sessions: after a 421 the client may keep its socket for some seconds. */
  const sockets = new Map<Socket, string>()
  const perClient = new Map<string, number>()

  // STARTTLS takes away every listener of a socket, so what is gone is seen, not heard.
  const forgetGone = () => {
    for (const [socket, client] of sockets) {
      if (!socket.destroyed) continue
      sockets.delete(socket)
      const others = (perClient.get(client) ?? 1) - 1
      if (others === 0) perClient.delete(client)
      else perClient.set(client, others)
    }
  }

  const overLimit = (client: string): "connections" | "connections_per_address" | undefined => {
    if (room > 0 && sockets.size >= room) return "connections"
    if (connectionsPerAddress > 0 && (perClient.get(client) ?? 0) >= connectionsPerAddress) {
      return "connections_per_address"
    }
    return undefined
  }

  return {
    /** Counts a new connection of the client at this address, or says which limit it is beyond. */
    enter: (socket: Socket, address: string) => {
      const client = ClientNetwork.ofAnything(address)
      if (overLimit(client) !== undefined) forgetGone()
      const reason = overLimit(client)
      if (reason === undefined) {
        sockets.set(socket, client)
        perClient.set(client, (perClient.get(client) ?? 0) + 1)
      }
      return { client, reason }
    },
    /** Connections that are open now. */
    open: () => {
      forgetGone()
      return sockets.size
    }
  }
})

/**
 * The connections there is room for: half of the files that the process may
 * still open, so that those it has can be served. Zero is no limit.
 */
const roomFor = Effect.fnUntraced(function* (wanted: number) {
  const fs = yield* FileSystem.FileSystem
  // Linux alone has these.
  const limits = yield* Effect.orElseSucceed(fs.readFileString("/proc/self/limits"), () => "")
  const opened = yield* Effect.orElseSucceed(fs.readDirectory("/proc/self/fd"), (): Array<string> => [])
  const files = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY) - opened.length
  const most = Math.max(1, Math.floor(files / 2))
  if (wanted <= most) return wanted
  yield* Effect.logWarning(
    `SMTP_MAX_CONNECTIONS: ${wanted} is more than half of the ${files} files that this process may still open; ${most} it is`
  )
  return most
})
