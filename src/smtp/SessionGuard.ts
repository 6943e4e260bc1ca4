import type { Socket } from "node:net"
import { Effect, Metric } from "effect"
import type { SMTPServer } from "smtp-server"
import * as AddressRange from "../model/AddressRange.ts"
import * as Settings from "../Settings.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import * as BalancerNews from "./BalancerNews.ts"
import * as ConnectionCount from "./ConnectionCount.ts"
import * as ErrorFlood from "./ErrorFlood.ts"
import * as SessionBudget from "./SessionBudget.ts"
import * as Yielding from "./Yielding.ts"

/** The reason for a 421. Also the metric's label, with only these values. */
export type Reason =
  | "connections"
  | "connections_per_address"
  | "idle"
  | "command_timeout"
  | "transaction_timeout"
  | "errors"
  | "errors_per_address"
  | "idle_commands"
  | "recipients"
  | "too_large"
  | "shutdown"
  /** A load balancer in SMTP_PROXY_FROM that began without a PROXY header of version 1. */
  | "proxy_header"
  /** Reasons of smtp-server: silence, long lines, early talkers, HTTP, ten unknown commands. */
  | "protocol"

const texts = {
  connections: "Too many connections; please come back later",
  connections_per_address: "Too many connections from your address; please come back later",
  idle: "Too many connections, and this one is idle; please come back later",
  command_timeout: "Waited too long for a command",
  transaction_timeout: "This message took too long",
  errors: "Too many errors",
  errors_per_address: "Too many errors from your address; please come back later",
  idle_commands: "Too many commands that send no mail",
  recipients: "Too many recipients",
  too_large: "The message is far over the size limit",
  shutdown: "Shutting down; please come back"
} as const satisfies { readonly [Known in Exclude<Reason, "protocol" | "proxy_header">]: string }

const open = Metric.gauge("inlet_smtp_connections", { description: "SMTP connections that are open" })
const dismissals = Metric.counter("inlet_smtp_dismissals_total", {
  description: "SMTP clients that were answered 421, by reason"
})

export type SessionGuard = Effect.Success<ReturnType<typeof make>>

/** Clients a log line about refused connections names. */
const namedClients = 5

interface Session {
  /** The counted connection. */
  socket: Socket | undefined
  connection: Connection | undefined
  readonly budget: SessionBudget.SessionBudget
  /** The reason of its end. */
  reason: keyof typeof texts | undefined
}

type Connection = SMTPServer["connections"] extends Set<infer One> ? One : never

// A new session has no envelope yet, despite its type.
const isInTransaction = (connection: Connection) => Boolean(connection.session.envelope?.mailFrom)

/**
 * Limits connections before they cost anything, and ends sessions in time. Learns of commands and replies through
 * smtp-server's logger, its only public hook for all of them. `refused` hears of clients that get no session.
 */
export const make = Effect.fnUntraced(function* (refused: (address: string, reason: Reason, reply: string) => void) {
  const { mxHost, xforwardFrom } = yield* Settings.smtp
  // A mail server in front carries the mail of all senders, so it always gets a session.
  const isRelay = AddressRange.contains(xforwardFrom)
  const bounds = yield* SessionBudget.SessionBounds
  const connections = yield* ConnectionCount.make
  const flood = ErrorFlood.make(yield* ErrorFlood.FloodBounds)
  let sessions = new Map<string, Session>()
  // Time is counted in checks, so that a suspended process does not blame its clients, and no command reads a clock.
  let now = 0

  // Dismissals since the last check, which counts them in the metric.
  const dismissed = new Map<Reason, number>()
  let crowd = new Map<string, number>()
  let isFloodTold = false
  const balancers = yield* BalancerNews.make

  const count = (reason: Reason) => void dismissed.set(reason, (dismissed.get(reason) ?? 0) + 1)

  /** Sessions that wait for their clients. */
  const waiting = (server: SMTPServer) => {
    const found: Array<Yielding.Waiting<Connection>> = []
    for (const connection of server.connections) {
      const { budget, reason, socket } = sessionOf(connection.id)
      const client = socket && connections.clientOf(socket)
      const milliseconds = SessionBudget.waiting(budget, now, isInTransaction(connection))
      if (client === undefined || reason !== undefined || milliseconds === undefined) continue
      found.push({ session: connection, client, milliseconds })
    }
    return found
  }

  /** Ends an idle session. Its slot is free at once. */
  const giveUp = (connection: Connection) => {
    const { socket } = sessionOf(connection.id)
    end(connection, "idle")
    if (socket === undefined) return
    connections.leave(socket)
    socket.destroySoon()
  }

  /** Admits a new connection, or answers and closes it. */
  const admits = (server: SMTPServer, socket: Socket, address: string): boolean => {
    let { client, reason } = connections.enter(socket, address)
    if (reason === "connections") {
      const yielding = Yielding.forOneMore(waiting(server), client, connections.of)
      if (yielding !== undefined) {
        giveUp(yielding)
        reason = connections.enter(socket, address).reason
      }
    }
    const isShut = reason === undefined && flood.isShut(client, now) && !isRelay(address)
    if (isShut) connections.leave(socket)
    const refusal = isShut ? "errors_per_address" : reason
    if (refusal === undefined) return true
    count(refusal)
    if (crowd.size < namedClients || crowd.has(client)) crowd.set(client, (crowd.get(client) ?? 0) + 1)
    const reply = `421 4.7.0 ${mxHost} ${texts[refusal]}`
    refused(address, refusal, reply)
    socket.on("error", () => {})
    socket.write(`${reply}\r\n`)
    socket.destroySoon()
    return false
  }

  const sessionOf = (id: string): Session => {
    const known = sessions.get(id)
    if (known !== undefined) return known
    const session: Session = {
      socket: undefined,
      connection: undefined,
      budget: SessionBudget.begin(now),
      reason: undefined
    }
    sessions.set(id, session)
    return session
  }

  const end = (connection: Connection, reason: keyof typeof texts) => {
    sessionOf(connection.id).reason = reason
    // Deferred, because nothing is sent during a handshake.
    count(reason)
    connection.send(421, `4.7.0 ${texts[reason]}`, false)
  }

  const dismiss = (server: SMTPServer, id: string, reason: keyof typeof texts) => {
    for (const connection of server.connections) if (connection.id === id) end(connection, reason)
  }

  const replied = (server: SMTPServer, id: string, line: string) => {
    const { budget, reason, socket } = sessionOf(id)
    if (line.startsWith("421")) return reason === undefined ? count("protocol") : undefined
    const outcome = SessionBudget.replied(budget, line, now)
    const network = socket && connections.clientOf(socket)
    if (outcome === "mail" && network !== undefined) flood.sent(network, now)
    if (outcome === "refusal") flood.erred(now)
    const exceeded = SessionBudget.exceeded(budget, bounds, flood.errorsOfSession(now))
    if (exceeded === undefined) return
    if (exceeded === "errors" && network !== undefined) flood.ended(network, now)
    dismiss(server, id, exceeded)
  }

  /** Ends every session that exceeded a deadline. */
  const endOverdue = (server: SMTPServer) => {
    const present = new Map<string, Session>()
    for (const connection of server.connections) {
      const session = sessionOf(connection.id)
      present.set(connection.id, session)
      const overdue = SessionBudget.overdue(session.budget, bounds, now, isInTransaction(connection))
      if (overdue !== undefined) end(connection, overdue)
    }
    sessions = present
  }

  const tell = Effect.gen(function* () {
    yield* Metric.update(open, connections.open())
    for (const [reason, times] of dismissed) {
      yield* Metric.update(Metric.withAttributes(dismissals, { reason }), times)
    }
    dismissed.clear()
    const isFlood = flood.isOn(now)
    if (isFlood && !isFloodTold) {
      yield* Effect.logInfo("Many SMTP commands are refused, so sessions without an accepted recipient end sooner")
    }
    isFloodTold = isFlood
    yield* balancers.tell(now)
    // One line for each check, however many connections were refused.
    if (crowd.size > 0) {
      const clients = Array.from(crowd, ([client, connections]) => `${client} (${connections})`).join(", ")
      yield* Effect.annotateLogs(Effect.logInfo("SMTP connections were refused"), { clients })
      crowd = new Map()
    }
  })

  const watch = (server: SMTPServer) =>
    BackgroundLoop.every(
      bounds.lookMilliseconds,
      "A look at the SMTP sessions failed",
      Effect.suspend(() => {
        now += bounds.lookMilliseconds
        flood.looked()
        endOverdue(server)
        const surplus = connections.surplus()
        if (surplus > 0) Yielding.idle(waiting(server), connections.of).slice(0, surplus).forEach(giveUp)
        return tell
      })
    )

  return {
    /** smtp-server's own timeout covers inactivity only. */
    silenceMilliseconds: bounds.silenceMilliseconds,
    admits,
    /** Records a session on an admitted connection. */
    began: (connection: Connection, socket: Socket) => {
      const session = sessionOf(connection.id)
      session.socket = socket
      session.connection = connection
    },
    /** What a reply answers, before `heard` learns of it. Undefined for a session that was never admitted. */
    answering: (id: string) => {
      const { budget, connection, reason } = sessionOf(id)
      if (connection === undefined) return undefined
      const { inData, last } = budget
      const command = inData ? "DATA" : last === "MAIL" || last === "RCPT" ? last : "other"
      return { session: connection.session, command, reason } as const
    },
    /** A load balancer began without the header that is expected of it. */
    misled: (address: string) => {
      count("proxy_header")
      balancers.heard("misled", address)
    },
    /** Answers 421 and closes. */
    end,
    dismiss,
    /** Checks the server's sessions while it runs. */
    watch,
    /** The message is complete, so the client waits for the server. */
    received: (id: string) => {
      sessionOf(id).budget.ours = true
    },
    /** The messages that smtp-server passes to its logger. */
    heard: (server: SMTPServer, entry: { readonly [key: string]: unknown }, line: unknown) => {
      if (entry.tnx === "command") {
        const { budget, connection } = sessionOf(`${entry.cid}`)
        SessionBudget.commanded(budget, `${entry.command}`)
        if (entry.command === "PROXY") balancers.heard("unlisted", connection?.session.remoteAddress ?? "")
      } else if (entry.tnx === "send") replied(server, `${entry.cid}`, `${line}`)
    }
  }
})
