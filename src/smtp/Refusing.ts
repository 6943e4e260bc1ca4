import { Cause, Effect, FiberSet, LogLevel, Metric, References } from "effect"
import type { SMTPServerSession } from "smtp-server"
import * as FailureLog from "../database/FailureLog.ts"
import * as DomainNames from "../domains/DomainNames.ts"
import type { Recipient } from "../intake/Recipient.ts"
import type { Reply } from "../intake/Reply.ts"
import * as TypedAddress from "../intake/TypedAddress.ts"
import * as ClientNetwork from "../model/ClientNetwork.ts"
import { DomainName } from "../model/Domain.ts"
import type { RefusalReason } from "../model/Refusal.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as RefusalLines from "../refusals/RefusalLines.ts"
import { RefusalNotes } from "../refusals/RefusalNotes.ts"
import * as RefusalText from "../refusals/RefusalText.ts"
import type { RefusedHeader } from "../refusals/RefusedHeader.ts"
import * as RefusedRecipient from "../refusals/RefusedRecipient.ts"
import type * as SessionGuard from "./SessionGuard.ts"
import type * as TypedRecipients from "./TypedRecipients.ts"

/** The command that a reply answers. `CONNECT` is a client that gets no session. */
export type Command = "MAIL" | "RCPT" | "DATA" | "other" | "CONNECT"

/** What is known of a refused message. */
export interface Message {
  /** Reads the header, as far as it came. */
  readonly header?: () => RefusedHeader
  readonly bytes: number
}

/** A reply of 4xx or 5xx. */
interface Refused {
  readonly command: Command
  readonly session: SMTPServerSession
  readonly reply: Reply
  /** The recipient as typed, or those that were accepted before. */
  readonly recipients: ReadonlyArray<Recipient | string>
  readonly from?: string | null
  readonly message?: Message | undefined
  /** Workspaces that are the reason. Those of other recipients are not. */
  readonly workspaceIds?: ReadonlyArray<WorkspaceId> | undefined
  readonly cause?: Cause.Cause<unknown>
}

const repliesBy = (attributes: Metric.Metric.Attributes) =>
  Metric.counter("inlet_smtp_replies_total", {
    description: "SMTP replies by command and code: every 4xx and 5xx with its reason, and 250 to RCPT and DATA",
    attributes
  })

/** Series that exist from the start. Prometheus counts no increase in the first value of a series. */
const alerted = (["MAIL", "RCPT", "DATA"] as const).flatMap((command) => [
  { command, code: 451, reason: "storage" } as const,
  { command, code: 452, reason: "quota" } as const
])

/** Reasons for a 421 that ends a session, as words of the ledger. */
const ofDismissal: { readonly [Reason in SessionGuard.Reason]: RefusalReason } = {
  connections: "rate",
  connections_per_address: "rate",
  idle: "rate",
  errors: "rate",
  errors_per_address: "rate",
  idle_commands: "rate",
  recipients: "recipients",
  command_timeout: "timeout",
  transaction_timeout: "timeout",
  too_large: "too_large",
  shutdown: "shutdown",
  proxy_header: "protocol",
  protocol: "protocol"
}

/** Counts, logs and notes every reply of 4xx and 5xx, those of Inlet and those of smtp-server. */
export const make = Effect.fnUntraced(function* (typed: ReturnType<typeof TypedRecipients.make>) {
  const notes = yield* RefusalNotes
  const run = yield* FiberSet.makeRuntime()
  const lines = yield* RefusalLines.make
  const context = yield* Effect.context()
  // Without it, a flood of refusals starts no fibers.
  const hasDebug = !LogLevel.isGreaterThan(yield* References.MinimumLogLevel, "Debug")
  /** The refusals of a session already logged. Each is logged once. */
  const told = new WeakMap<SMTPServerSession, Set<string>>()
  /** The reply to a MAIL that was too large. Its recipients follow in pipelined commands. */
  const tooLarge = new WeakMap<SMTPServerSession, Reply>()

  // Metrics of their own: one metric with changing attributes computes the key of its series at each change.
  const kept = { RCPT: repliesBy({ command: "RCPT", code: "250" }), DATA: repliesBy({ command: "DATA", code: "250" }) }
  const counters = new Map<string, Metric.Counter<number>>()
  const count = (command: Command, { code, reason }: Pick<Reply, "code" | "reason">, times = 1) => {
    const key = `${command} ${code} ${reason}`
    const counter = counters.get(key) ?? repliesBy({ command, code: `${code}`, reason })
    counters.set(key, counter)
    counter.updateUnsafe(times, context)
  }
  for (const { command, code, reason } of alerted) count(command, { code, reason }, 0)

  const log = ({ cause, command, from, recipients, reply, session, workspaceIds }: Refused) => {
    const line = `${command} was answered ${reply.code} ${reply.enhanced}`
    const before = told.get(session) ?? new Set()
    // What clients do wrong by themselves is in the ledger.
    const isOfClient = reply.reason === "protocol" || (reply.code === 421 && reply.reason !== "too_large")
    const isRepeated = before.has(line)
    told.set(session, before.add(line))
    const isNews = !isRepeated && !isOfClient && lines.take()
    if (!isNews && !hasDebug) return
    const entry =
      reply.code === 451 && isNews
        ? FailureLog.error(line, cause ?? Cause.empty)
        : isNews
          ? Effect.logInfo(line)
          : Effect.logDebug(line)
    const [recipient] = recipients
    const workspaces =
      workspaceIds ?? recipients.flatMap((one) => (typeof one === "string" ? [] : (one.workspaceId ?? [])))
    run(
      Effect.annotateLogs(entry, {
        smtp_session: session.id,
        remote_address: session.remoteAddress,
        reason: reply.reason,
        ...(typeof from === "string" ? { sender: RefusalText.address(from) } : {}),
        ...(recipient === undefined ? {} : RefusedRecipient.inWords(addressOf(recipient))),
        ...(recipients.length < 2 ? {} : { recipients: recipients.length }),
        ...(workspaces.length === 0 ? {} : { workspace_id: [...new Set(workspaces)].join(" ") })
      })
    )
  }

  const note = ({ from = null, message, recipients, reply, session, workspaceIds }: Refused) => {
    const about = {
      code: reply.code,
      reply: [reply.code, reply.enhanced, reply.text].filter((part) => part !== "").join(" "),
      client: session.remoteAddress,
      helo: session.hostNameAppearsAs || "",
      from,
      bytes: message?.bytes ?? null
    }
    if (recipients.length === 0) {
      const client = ClientNetwork.ofAnything(session.remoteAddress)
      return notes.note({ ...about, domain: null, reason: reply.reason, client, recipient: null })
    }
    const header = message?.header?.() ?? {}
    for (const recipient of recipients) {
      // A demo inbox has no ledger.
      if (typeof recipient !== "string" && recipient.workspaceId === null) continue
      const of = domainOf(recipient, reply.reason)
      const isOther =
        typeof recipient !== "string" && workspaceIds?.some((id) => id === recipient.workspaceId) === false
      const reason = isOther ? "other_recipient" : of.reason
      notes.note({ ...about, ...header, domain: of.domain, reason, recipient: addressOf(recipient) })
    }
  }

  const refused = (refusal: Refused) => {
    const from = refusal.from ?? senderOf(refusal.session)
    count(refusal.command, refusal.reply)
    log({ ...refusal, from })
    note({ ...refusal, from })
  }

  return {
    /** Counts a 250. */
    accepted: (command: keyof typeof kept) => kept[command].updateUnsafe(1, context),
    refused,
    /** A client that got no session. */
    connection: (address: string, reason: SessionGuard.Reason, reply: string) => {
      count("CONNECT", { code: 421, reason: ofDismissal[reason] })
      const client = ClientNetwork.ofAnything(address)
      notes.note({
        domain: null,
        reason: ofDismissal[reason],
        code: 421,
        reply,
        client,
        helo: "",
        from: null,
        recipient: null
      })
    },
    /** A client whose TLS handshake failed, without a reply. */
    tls: (address: string, message: string) => {
      const client = ClientNetwork.ofAnything(address)
      notes.note({
        domain: null,
        reason: "tls",
        code: null,
        reply: message,
        client,
        helo: "",
        from: null,
        recipient: null
      })
    },
    /** A reply of smtp-server itself, with the accepted recipients of the session and the beginning of its message. */
    heard: (
      line: string,
      { command, reason, session }: NonNullable<ReturnType<SessionGuard.SessionGuard["answering"]>>,
      accepted: ReadonlyArray<Recipient>,
      message: Message | undefined
    ) => {
      const reply = replyOf(line, reason)
      // Nobody's mail is refused.
      if (accepted.length === 0 && (reason === "shutdown" || reason === "idle")) return count(command, reply)
      const path = command === "RCPT" ? typed.path(session.id) : undefined
      const mail = typed.mail(session.id)
      if (command === "MAIL" && reply.reason === "too_large") tooLarge.set(session, reply)
      // Nobody's mail is refused by the reply to a faulty command. The session goes on.
      const isFaulty = reply.reason === "protocol" && reply.code !== 421 && command !== "DATA"
      const late = command === "RCPT" && reply.code === 503 ? tooLarge.get(session) : undefined
      refused({
        command,
        session,
        reply: late ?? reply,
        recipients: path !== undefined ? [typed.address(session.id, path)] : isFaulty ? [] : accepted,
        from: senderOf(session) ?? (command === "MAIL" || late !== undefined ? mail.from : null),
        message: message ?? (mail.bytes !== null && (late ?? reply).code === 552 ? { bytes: mail.bytes } : undefined)
      })
    }
  }
})

const addressOf = (recipient: Recipient | string) => (typeof recipient === "string" ? recipient : recipient.address)

// A new session has no envelope yet, despite its type.
const senderOf = ({ envelope }: SMTPServerSession) =>
  envelope?.mailFrom === undefined || envelope.mailFrom === false ? null : envelope.mailFrom.address

/** The domain of a recipient, and the reason as far as it shows in the address. */
const domainOf = (recipient: Recipient | string, reason: RefusalReason) => {
  // The row of an accepted domain may be gone or disabled since.
  if (typeof recipient !== "string") {
    return { reason, domain: reason === "unknown" ? { name: recipient.domain } : { id: recipient.domainId } }
  }
  const name = DomainNames.canonical(recipient.slice(recipient.lastIndexOf("@") + 1))
  return {
    reason: reason === "unknown" && TypedAddress.parse(recipient) === undefined ? ("relay" as const) : reason,
    domain: name === undefined ? null : { name: DomainName.make(name) }
  }
}

/** Parses a reply line of smtp-server, such as `552 5.3.4 Error: …`. */
const replyOf = (line: string, dismissed: SessionGuard.Reason | undefined): Reply => {
  const [, code = "", enhanced = "", text = ""] = /^(\d{3})(?: ([245]\.\d{1,3}\.\d{1,3}))? ?(.*)$/s.exec(line) ?? []
  return { code: Number(code), enhanced, text, reason: reasonOf(line, dismissed) }
}

const reasonOf = (line: string, dismissed: SessionGuard.Reason | undefined): RefusalReason => {
  if (line.startsWith("552")) return "too_large"
  if (line.startsWith("452 4.5.3")) return "recipients"
  if (line.startsWith("451")) return "storage"
  if (!line.startsWith("421")) return "protocol"
  if (dismissed !== undefined) return ofDismissal[dismissed]
  if (line.includes("shutting down")) return "shutdown"
  return line.includes("Timeout") ? "timeout" : "protocol"
}
