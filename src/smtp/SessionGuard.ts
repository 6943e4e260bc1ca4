import type { Socket } from "node:net"
import { Context, Effect, FileSystem, Metric } from "effect"
import type { SMTPServer } from "smtp-server"
import * as BackgroundLoop from "../BackgroundLoop.ts"
import * as ClientNetwork from "../model/ClientNetwork.ts"
import * as Settings from "../Settings.ts"

/** What one session may take, in time and in commands. Tests shorten it. */
export const SessionBounds = Context.Reference("inlet/smtp/SessionBounds", {
  defaultValue: () => ({
    /** From our reply to the end of the client's next line, however many bytes of it have come. */
    commandMilliseconds: 60_000,
    /** From MAIL to the dot that ends the message. */
    transactionMilliseconds: 300_000,
    /** Without a single byte while it is the client's turn. */
    silenceMilliseconds: 60_000,
    /** Between two looks at all sessions: what the deadlines are measured in. */
    lookMilliseconds: 1_000,
    /** Replies of 4xx and 5xx. */
    errors: 20,
    /** Commands that move no mail, since the last message: relays send RSET before each. */
    idleCommands: 100,
    /** Recipients that are named again, or beyond what a message may have: a mailing list may overshoot, not for ever. */
    surplusRecipients: 5_000
  })
})

/** Why a client was answered 421; a label of the metric, so it takes these values alone. */
type Reason =
  | "connections"
  | "connections_per_address"
  | "command_timeout"
  | "transaction_timeout"
  | "errors"
  | "idle_commands"
  | "recipients"
  | "too_large"
  | "shutdown"
  /** smtp-server's own: silence, a line too long, who talks too soon or speaks HTTP, ten unknown commands. */
  | "protocol"

const texts = {
  connections: "Too many connections; please come back later",
  connections_per_address: "Too many connections from your address; please come back later",
  command_timeout: "Waited too long for a command",
  transaction_timeout: "This message took too long",
  errors: "Too many errors",
  idle_commands: "Too many commands that send no mail",
  recipients: "Too many recipients",
  too_large: "The message is far over the size limit",
  shutdown: "Shutting down; please come back"
} as const satisfies { readonly [Known in Exclude<Reason, "protocol">]: string }

const open = Metric.gauge("inlet_smtp_connections", { description: "SMTP connections that are open" })
const dismissals = Metric.counter("inlet_smtp_dismissals_total", {
  description: "SMTP clients that were answered 421, by reason"
})

/** RFC 5321 names them in sections 4.1.1 and 4.5.1. */
const idleCommands = new Set(["NOOP", "RSET", "VRFY", "EXPN", "HELP", "HELO", "EHLO"])

export type SessionGuard = Effect.Success<typeof make>

/** Recipients that a message may have. */
export const recipientsPerMessage = 100

/** Clients a log line about refused connections names. */
const namedClients = 5

interface Session {
  last: "MAIL" | "RCPT" | "idle" | "other"
  /** Whether the client waits for us, not we for it. */
  ours: boolean
  /** Between the 354 and our answer to the message. */
  inData: boolean
  repliedAt: number
  transactionAt: number
  recipients: number
  errors: number
  idle: number
  surplus: number
  reason: keyof typeof texts | undefined
}

type Connection = SMTPServer["connections"] extends Set<infer One> ? One : never

/**
 * Keeps clients from holding more than their share: connections are counted
 * before anything is done for them, and sessions end in time. It learns of
 * commands and replies through smtp-server's logger, the one public place that
 * sees all of them.
 */
export const make = Effect.gen(function* () {
  const { connections, connectionsPerAddress, mxHost } = yield* Settings.smtp
  const bounds = yield* SessionBounds
  const room = yield* roomFor(connections)

  /** Sockets rather than sessions: after a 421 the client may keep its socket for some seconds. */
  const sockets = new Map<Socket, string>()
  const perClient = new Map<string, number>()
  let sessions = new Map<string, Session>()
  // Counted in looks, so that a process that was stopped does not blame its clients, and no command reads a clock.
  let now = 0

  // What the next look tells.
  const dismissed = new Map<Reason, number>()
  let refused = new Map<string, number>()

  const count = (reason: Reason) => void dismissed.set(reason, (dismissed.get(reason) ?? 0) + 1)

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

  const overLimit = (client: string) => {
    if (room > 0 && sockets.size >= room) return "connections"
    if (connectionsPerAddress > 0 && (perClient.get(client) ?? 0) >= connectionsPerAddress) {
      return "connections_per_address"
    }
    return undefined
  }

  /** Whether a new connection of a client is served; one that is not has got its answer. */
  const admits = (socket: Socket, address: string): boolean => {
    const client = ClientNetwork.ofAnything(address)
    if (overLimit(client) !== undefined) forgetGone()
    const reason = overLimit(client)
    if (reason === undefined) {
      sockets.set(socket, client)
      perClient.set(client, (perClient.get(client) ?? 0) + 1)
      return true
    }
    count(reason)
    if (refused.size < namedClients || refused.has(client)) refused.set(client, (refused.get(client) ?? 0) + 1)
    socket.on("error", () => {})
    socket.write(`421 4.7.0 ${mxHost} ${texts[reason]}\r\n`)
    socket.destroySoon()
    return false
  }

  const sessionOf = (id: string): Session => {
    const known = sessions.get(id)
    if (known !== undefined) return known
    const session: Session = {
      last: "other",
      ours: false,
      inData: false,
      repliedAt: now,
      transactionAt: now,
      recipients: 0,
      errors: 0,
      idle: 0,
      surplus: 0,
      reason: undefined
    }
    sessions.set(id, session)
    return session
  }

  const end = (connection: Connection, reason: keyof typeof texts) => {
    sessionOf(connection.id).reason = reason
    // Here, for nothing is sent in the middle of a handshake.
    count(reason)
    connection.send(421, `4.7.0 ${texts[reason]}`, false)
  }

  const dismiss = (server: SMTPServer, id: string, reason: keyof typeof texts) => {
    for (const connection of server.connections) if (connection.id === id) end(connection, reason)
  }

  const overBudget = (session: Session) => {
    if (session.errors >= bounds.errors) return "errors"
    if (session.idle >= bounds.idleCommands) return "idle_commands"
    if (session.surplus >= bounds.surplusRecipients) return "recipients"
    return undefined
  }

  const commanded = (session: Session, command: string) => {
    session.ours = true
    session.last = command === "RCPT" || command === "MAIL" ? command : idleCommands.has(command) ? "idle" : "other"
  }

  const replied = (server: SMTPServer, id: string, line: string) => {
    const session = sessionOf(id)
    const code = line.slice(0, 3)
    if (code === "421") return session.reason === undefined ? count("protocol") : undefined
    if (session.inData && code === "250") session.idle = 0
    session.ours = false
    session.inData = code === "354"
    session.repliedAt = now
    const tooMany = line.startsWith("452 4.5.3")
    if (session.last === "idle") session.idle++
    if (session.last === "MAIL" && code === "250") {
      session.recipients = 0
      session.transactionAt = now
    }
    if (session.last === "RCPT" && code === "250") session.recipients++
    if (tooMany || (session.last === "RCPT" && code === "250" && session.recipients > recipientsPerMessage)) {
      session.surplus++
    } else if (code >= "400") session.errors++
    const reason = overBudget(session)
    if (reason !== undefined) dismiss(server, id, reason)
  }

  /** Every session that has kept us waiting is told so. */
  const endOverdue = (server: SMTPServer) => {
    const present = new Map<string, Session>()
    for (const connection of server.connections) {
      const session = sessionOf(connection.id)
      present.set(connection.id, session)
      if (session.ours) continue
      // One that has just been accepted has no envelope yet, whatever its type says.
      const inTransaction = Boolean(connection.session.envelope?.mailFrom)
      if (inTransaction && now - session.transactionAt > bounds.transactionMilliseconds) {
        end(connection, "transaction_timeout")
      } else if (!session.inData && now - session.repliedAt > bounds.commandMilliseconds) {
        end(connection, "command_timeout")
      }
    }
    sessions = present
  }

  const tell = Effect.gen(function* () {
    yield* Metric.update(open, sockets.size)
    for (const [reason, times] of dismissed) {
      yield* Metric.update(Metric.withAttributes(dismissals, { reason }), times)
    }
    dismissed.clear()
    // One line a look, however many knock.
    if (refused.size > 0) {
      yield* Effect.logInfo("SMTP connections were refused: too many are open", Object.fromEntries(refused))
      refused = new Map()
    }
  })

  const watch = (server: SMTPServer) =>
    BackgroundLoop.every(
      bounds.lookMilliseconds,
      "A look at the SMTP sessions failed",
      Effect.suspend(() => {
        now += bounds.lookMilliseconds
        forgetGone()
        endOverdue(server)
        return tell
      })
    )

  return {
    /** smtp-server's own deadline is for silence. */
    silenceMilliseconds: bounds.silenceMilliseconds,
    admits,
    /** Answers 421 and closes. */
    end,
    dismiss,
    /** Looks after the server's sessions for as long as it runs. */
    watch,
    /** The whole message has come, so it is our turn, however long that takes. */
    received: (id: string) => {
      sessionOf(id).ours = true
    },
    /** What smtp-server tells its logger. */
    heard: (server: SMTPServer, entry: { readonly [key: string]: unknown }, line: unknown) => {
      if (entry.tnx === "command") commanded(sessionOf(`${entry.cid}`), `${entry.command}`)
      else if (entry.tnx === "send") replied(server, `${entry.cid}`, `${line}`)
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
