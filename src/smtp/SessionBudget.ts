import { Context } from "effect"

/** What one session may take, in time and in commands. Tests shorten it. */
export const SessionBounds = Context.Reference("inlet/smtp/SessionBounds", {
  defaultValue: () => ({
    /** Time from a reply to the end of the client's next line. */
    commandMilliseconds: 60_000,
    /** From MAIL to the dot that ends the message. */
    transactionMilliseconds: 300_000,
    /** Without a single byte while it is the client's turn. */
    silenceMilliseconds: 60_000,
    /** Interval between checks of all sessions, and so the resolution of deadlines. */
    lookMilliseconds: 1_000,
    /** Replies of 4xx and 5xx. */
    errors: 20,
    /** Commands that move no mail, since the last message: relays send RSET before each. */
    idleCommands: 100,
    /** Recipients that are named again, or beyond what a message may have: a mailing list may overshoot, not for ever. */
    surplusRecipients: 5_000
  })
})

/** RFC 5321 names them in sections 4.1.1 and 4.5.1. */
const idleCommands = new Set(["NOOP", "RSET", "VRFY", "EXPN", "HELP", "HELO", "EHLO"])

/** Recipients that a message may have. */
export const recipientsPerMessage = 100

/** Counts what a session did. The caller passes the time. */
export interface SessionBudget {
  last: "MAIL" | "RCPT" | "idle" | "other"
  /** True while the client waits for the server. */
  ours: boolean
  /** Between the 354 and our answer to the message. */
  inData: boolean
  repliedAt: number
  transactionAt: number
  recipients: number
  errors: number
  idle: number
  surplus: number
}

/** A session that begins now. */
export const begin = (now: number): SessionBudget => ({
  last: "other",
  ours: false,
  inData: false,
  repliedAt: now,
  transactionAt: now,
  recipients: 0,
  errors: 0,
  idle: 0,
  surplus: 0
})

/** The client has sent a command. */
export const commanded = (session: SessionBudget, command: string) => {
  session.ours = true
  session.last = command === "RCPT" || command === "MAIL" ? command : idleCommands.has(command) ? "idle" : "other"
}

/** We have answered with this line. */
export const replied = (session: SessionBudget, line: string, now: number) => {
  const code = line.slice(0, 3)
  if (session.inData && code === "250") session.idle = 0
  session.ours = false
  session.inData = code === "354"
  session.repliedAt = now
  if (session.last === "idle") session.idle++
  if (session.last === "MAIL" && code === "250") {
    session.recipients = 0
    session.transactionAt = now
  }
  const isRecipient = session.last === "RCPT" && code === "250"
  if (isRecipient) session.recipients++
  if (line.startsWith("452 4.5.3") || (isRecipient && session.recipients > recipientsPerMessage)) session.surplus++
  else if (code >= "400") session.errors++
}

type Bounds = typeof SessionBounds.Service

/** What a session has had too much of. */
export const exceeded = (session: SessionBudget, bounds: Bounds) => {
  if (session.errors >= bounds.errors) return "errors"
  if (session.idle >= bounds.idleCommands) return "idle_commands"
  if (session.surplus >= bounds.surplusRecipients) return "recipients"
  return undefined
}

/** Idle times in a transaction and within a message after which another client may take the connection's slot. */
const thinkingMilliseconds = 2_000
const sendingMilliseconds = 30_000

/** Idle time of a client, if its slot may go to another. */
export const waiting = (session: SessionBudget, now: number, inTransaction: boolean): number | undefined => {
  if (session.ours) return undefined
  const milliseconds = now - session.repliedAt
  const allowed = session.inData ? sendingMilliseconds : inTransaction ? thinkingMilliseconds : 0
  return milliseconds >= allowed ? milliseconds : undefined
}

/** The deadline that a session exceeded. */
export const overdue = (session: SessionBudget, bounds: Bounds, now: number, inTransaction: boolean) => {
  if (session.ours) return undefined
  if (inTransaction && now - session.transactionAt > bounds.transactionMilliseconds) return "transaction_timeout"
  if (!session.inData && now - session.repliedAt > bounds.commandMilliseconds) return "command_timeout"
  return undefined
}
