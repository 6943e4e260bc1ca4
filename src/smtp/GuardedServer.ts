import { randomUUID } from "node:crypto"
import type { Socket } from "node:net"
import { SMTPServer, type SMTPServerOptions } from "smtp-server"
import { RelayedConnection } from "./ForwardedClient.ts"
import { ReadTurns } from "./ReadTurns.ts"
import type * as SessionGuard from "./SessionGuard.ts"

/** 60 random bits of a UUID, of which Node makes many at a time. */
const idOf = (uuid: string) => `${uuid.slice(0, 8)}${uuid.slice(9, 13)}${uuid.slice(15, 18)}`

/** Refuses connections before smtp-server builds a session. The library itself limits only their total, afterwards. */
export class GuardedServer extends SMTPServer {
  readonly #turns: ReadTurns
  readonly #guard: SessionGuard.SessionGuard
  readonly #greet: (greeting: () => void) => void
  readonly #isBalancer: (address: string) => boolean
  readonly #isRelay: (address: string) => boolean

  constructor(
    options: SMTPServerOptions,
    guard: SessionGuard.SessionGuard,
    own: {
      readonly greet: (greeting: () => void) => void
      readonly isBalancer: (address: string) => boolean
      /** Says that a mail server in front names its clients. */
      readonly isRelay: (address: string) => boolean
      readonly now: () => number
    }
  ) {
    super(options)
    this.#turns = new ReadTurns(own.now)
    this.#guard = guard
    this.#greet = own.greet
    this.#isBalancer = own.isBalancer
    this.#isRelay = own.isRelay
  }

  /** The library accepts only addresses here, not ranges. */
  override _expectsProxyHeader(socket: Socket): boolean {
    return this.#isBalancer(socket.remoteAddress ?? "")
  }

  /** Reports a balancer that sends another header. A health check that closes its connection sends none. */
  override _handleProxy(...[socket, callback]: Parameters<SMTPServer["_handleProxy"]>) {
    if (!this._expectsProxyHeader(socket)) {
      // In the next turn, as the library does. Its id of a session costs ten times as much.
      setImmediate(() => callback(null, { id: idOf(randomUUID()) }))
      return
    }
    super._handleProxy(socket, (error, details) => {
      if (error !== null && /^(?:Invalid PROXY|PROXY header)/.test(error.message)) {
        this.#guard.misled(socket.remoteAddress ?? "")
      }
      callback(error, details)
    })
  }

  override connect(...[socket, details]: Parameters<SMTPServer["connect"]>) {
    if (!this.#guard.admits(this, socket, details?.remoteAddress ?? socket.remoteAddress ?? "")) return
    const connection = new RelayedConnection(this.#isRelay, this.#turns, this, socket, details)
    // The library calls it 100 ms later.
    const greeting = connection.connectionReady
    connection.connectionReady = () => undefined
    this.connections.add(connection)
    this.#guard.began(connection, socket)
    connection.on("error", (error) => this._onError(error))
    connection.on("connect", (client) => this._onClientConnect(client))
    connection.init()
    this.#greet(() => greeting.call(connection))
  }
}
