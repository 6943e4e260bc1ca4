import type { Socket } from "node:net"
import { Effect } from "effect"
import { Tally } from "../cache/Tally.ts"
import * as ClientNetwork from "../model/ClientNetwork.ts"
import * as OpenFiles from "../process/OpenFiles.ts"
import * as Settings from "../Settings.ts"

/** Fractions of the limit at which connections are scarce, and no longer scarce. */
const shortAt = 7 / 8
const easyAt = 3 / 4

/**
 * Counts open connections, in total and for each client network, against `SMTP_MAX_CONNECTIONS` and
 * `SMTP_MAX_CONNECTIONS_PER_IP`.
 */
export const make = Effect.gen(function* () {
  const { connections, connectionsPerAddress } = yield* Settings.smtp
  const room = yield* OpenFiles.roomFor("SMTP_MAX_CONNECTIONS", connections, "half")
  /** Sockets rather than sessions, because a client may keep its socket open for some seconds after a 421. */
  const sockets = new Map<Socket, string>()
  const perClient = new Tally()

  // STARTTLS removes every listener of a socket, so ended connections are found by polling.
  const forgetGone = () => {
    for (const socket of sockets.keys()) if (socket.destroyed) leave(socket)
  }

  const overLimit = (client: string): "connections" | "connections_per_address" | undefined => {
    if (room > 0 && sockets.size >= room) return "connections"
    if (connectionsPerAddress > 0 && perClient.of(client) >= connectionsPerAddress) {
      return "connections_per_address"
    }
    return undefined
  }

  const leave = (socket: Socket) => {
    const client = sockets.get(socket)
    if (client === undefined) return
    sockets.delete(socket)
    perClient.add(client, -1)
  }

  return {
    /** Counts a new connection of a client address, or returns the exceeded limit. */
    enter: (socket: Socket, address: string) => {
      const client = ClientNetwork.ofAnything(address)
      if (overLimit(client) !== undefined) forgetGone()
      const reason = overLimit(client)
      if (reason === undefined) {
        sockets.set(socket, client)
        perClient.add(client, 1)
      }
      return { client, reason }
    },
    /** Stops counting a connection that is about to end. */
    leave,
    /** The network of a connection's client. */
    clientOf: (socket: Socket) => sockets.get(socket),
    /** Connections of a network. */
    of: (client: string) => perClient.of(client),
    /** Number of connections to end until a quarter of the limit is free. 0 up to 7/8 of the limit. */
    surplus: () => {
      forgetGone()
      return room > 0 && sockets.size > room * shortAt ? sockets.size - Math.floor(room * easyAt) : 0
    },
    /** The number of open connections. */
    open: () => {
      forgetGone()
      return sockets.size
    }
  }
})
