import { Context } from "effect"

/** The limits of one session, in time and commands. Tests shorten them. */
export const SessionBounds = Context.Reference("inlet/smtp/SessionBounds", {
  defaultValue: () => ({
    /** Time from a reply to the end of the client's next line. */
    commandMilliseconds: 60_000,
    /** From MAIL to the dot that ends the message. */
    transactionMilliseconds: 300_000,
    /** Time without a byte while the server waits for the client. */
    silenceMilliseconds: 60_000,
    /** Interval between checks of all sessions, and so the resolution of deadlines. */
    lookMilliseconds: 1_000,
    /** Replies of 4xx and 5xx. */
    errors: 20,
    /** Commands without mail since the last message, because relays send RSET before each. */
    idleCommands: 100,
    /** Recipients that are repeated or exceed a message's maximum, because a mailing list may exceed it somewhat. */
    surplusRecipients: 5_000
  })
})

/** The command names of RFC 5321, sections 4.1.1 and 4.5.1. */
const idleCommands = new Set(["NOOP", "RSET", "VRFY", "EXPN", "HELP", "HELO", "EHLO"])

/** Maximum recipients of a message. */
export const recipientsPerMessage = 100

/** Counts the actions of a session. The caller passes the time. */
export interface SessionBudget {
  last: "MAIL" | "RCPT" | "idle" | "other"
  /** True while the client waits for the server. */
  ours: boolean
  /** Between the 354 and the answer to the message. */
  inData: boolean
  repliedAt: number
  transactionAt: number
  recipients: number
  /** Any message of the session has an accepted recipient. */
  isWelcome: boolean
  errors: number
  /** Replies of 5xx, after which the client must not retry. */
  permanent: number
  idle: number
  surplus: number
}

/** A new session. */
export const begin = (now: number): SessionBudget => ({
  last: "other",
  ours: false,
  inData: false,
  repliedAt: now,
  transactionAt: now,
  recipients: 0,
  isWelcome: false,
  errors: 0,
  permanent: 0,
  idle: 0,
  surplus: 0
})

/** Records a command of the client. */
export const commanded = (session: SessionBudget, command: string) => {
  session.ours = true
  session.last = command === "RCPT" || command === "MAIL" ? command : idleCommands.has(command) ? "idle" : "other"
}

/** Records a reply of the server. Returns `mail` if it accepts a message, and `refusal` for a 5xx. */
export const replied = (session: SessionBudget, line: string, now: number): "mail" | "refusal" | "other" => {
  const code = line.slice(0, 3)
  const isMail = session.inData && code === "250"
  if (isMail) session.idle = 0
  session.ours = false
  session.inData = code === "354"
  session.repliedAt = now
  if (session.last === "idle") session.idle++
  if (session.last === "MAIL" && code === "250") {
    session.recipients = 0
    session.transactionAt = now
  }
  const isRecipient = session.last === "RCPT" && code === "250"
  if (isRecipient) {
    session.recipients++
    session.isWelcome = true
  }
  if (line.startsWith("452 4.5.3") || (isRecipient && session.recipients > recipientsPerMessage)) session.surplus++
  else if (code >= "400") session.errors++
  if (code >= "500") {
    session.permanent++
    return "refusal"
  }
  return isMail ? "mail" : "other"
}

type Bounds = typeof SessionBounds.Service

/** The limit that a session exceeds. `mostPermanent` limits its 5xx replies until a recipient is accepted. */
export const exceeded = (session: SessionBudget, bounds: Bounds, mostPermanent = Number.POSITIVE_INFINITY) => {
  if (session.errors >= bounds.errors || (!session.isWelcome && session.permanent >= mostPermanent)) return "errors"
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
