import type { Socket } from "node:net"
import { Cause, Clock, Duration, Effect, Exit, FiberSet, Layer, Metric, Option, Schema } from "effect"
import {
  SMTPServer,
  type SMTPServerAddress,
  type SMTPServerDataStream,
  type SMTPServerOptions,
  type SMTPServerSession
} from "smtp-server"
import { DataMemory } from "../intake/DataMemory.ts"
import { Intake, type IntakeError } from "../intake/Intake.ts"
import type { Recipient } from "../intake/Recipient.ts"
import * as AddressRange from "../model/AddressRange.ts"
import * as ClientNetwork from "../model/ClientNetwork.ts"
import * as Settings from "../Settings.ts"
import * as DataStream from "./DataStream.ts"
import { MessageBytes } from "./MessageBytes.ts"
import { ReadTurns } from "./ReadTurns.ts"
import * as RefusedRecipient from "./RefusedRecipient.ts"
import * as Reply from "./Reply.ts"
import { recipientsPerMessage } from "./SessionBudget.ts"
import * as SessionGuard from "./SessionGuard.ts"
import * as SmtpLibrary from "./SmtpLibrary.ts"
import * as Tls from "./Tls.ts"
import * as TypedRecipients from "./TypedRecipients.ts"

/** The port of the mail server cannot be opened. */
export class SmtpListenError extends Schema.TaggedError<SmtpListenError>()("SmtpListenError", {
  cause: Schema.Defect()
}) {}

/** The excess over the message limit at which the connection is closed. */
const toleratedExcess = 2 * 1024 * 1024

const replies = Metric.counter("inlet_smtp_replies_total", { description: "Replies to RCPT and DATA by code" })
const kept = {
  RCPT: Metric.withAttributes(replies, { command: "RCPT", code: "250" }),
  DATA: Metric.withAttributes(replies, { command: "DATA", code: "250" })
}

/** Refuses connections before smtp-server builds a session. The library itself limits only their total, afterwards. */
class GuardedServer extends SMTPServer {
  readonly #turns: ReadTurns
  readonly #guard: SessionGuard.SessionGuard
  readonly #greet: (greeting: () => void) => void
  readonly #isBalancer: (address: string) => boolean

  constructor(
    options: SMTPServerOptions,
    guard: SessionGuard.SessionGuard,
    own: {
      readonly greet: (greeting: () => void) => void
      readonly isBalancer: (address: string) => boolean
      readonly now: () => number
    }
  ) {
    super(options)
    this.#turns = new ReadTurns(own.now)
    this.#guard = guard
    this.#greet = own.greet
    this.#isBalancer = own.isBalancer
  }

  /** The library accepts only addresses here, not ranges. */
  override _expectsProxyHeader(socket: Socket): boolean {
    return this.#isBalancer(socket.remoteAddress ?? "")
  }

  override connect(...[socket, details]: Parameters<SMTPServer["connect"]>) {
    if (!this.#guard.admits(this, socket, details?.remoteAddress ?? socket.remoteAddress ?? "")) return
    const connection = new DataStream.DataConnection(this.#turns, this, socket, details)
    // The library calls it 100 ms later.
    const greeting = connection.connectionReady
    connection.connectionReady = () => undefined
    this.connections.add(connection)
    this.#guard.began(connection.id, socket)
    connection.on("error", (error) => this._onError(error))
    connection.on("connect", (client) => this._onClientConnect(client))
    connection.init()
    this.#greet(() => greeting.call(connection))
  }
}

/** Listens for mail. smtp-server implements the protocol, and Intake makes every decision. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { greetingDelay, host, messageBytes, mxHost, port, proxyFrom, reusePort } = yield* Settings.smtp
    yield* SmtpLibrary.check(SmtpLibrary.internals())
    const intake = yield* Intake
    const clock = yield* Clock.Clock
    const keyPair = yield* Tls.keyPair
    // Made before the server: on shutdown the server drains first, then these fibers stop.
    const run = yield* FiberSet.makeRuntime()
    const context = yield* Effect.context()

    /** smtp-server stores the accepted address object in the transaction's envelope. */
    const accepted = new WeakMap<SMTPServerAddress, Recipient>()
    const typed = TypedRecipients.make()
    const guard = yield* SessionGuard.make
    const memory = yield* DataMemory
    /** The refusals of a session already logged. Each is logged once, so that a flood does not fill the disk. */
    const told = new WeakMap<SMTPServerSession, Set<string>>()

    /** Sends the reply for an exit, counts and logs it. */
    const reply = <A>(
      command: "RCPT" | "DATA",
      session: SMTPServerSession,
      exit: Exit.Exit<A, IntakeError | Reply.DataMemoryFull>,
      callback: (error: Error | null, value?: A) => void,
      recipient?: string
    ) => {
      if (Exit.isSuccess(exit)) {
        kept[command].updateUnsafe(1, context)
        return callback(null, exit.value)
      }
      const error = Cause.findErrorOption(exit.cause)
      const reply = Option.isSome(error) ? Reply.fromError(error.value) : Reply.bug
      Metric.withAttributes(replies, { command, code: `${reply.code}` }).updateUnsafe(1, context)
      callback(Reply.toError(reply))
      const line = `${command} was answered ${reply.code} ${reply.enhanced}`
      const before = told.get(session) ?? new Set()
      const log = before.has(line)
        ? Effect.logDebug(line)
        : reply.code === 451
          ? Effect.logError(line, exit.cause)
          : Effect.logInfo(line)
      told.set(session, before.add(line))
      run(
        Effect.annotateLogs(log, {
          smtp_session: session.id,
          remote_address: session.remoteAddress,
          ...(recipient === undefined ? {} : RefusedRecipient.inWords(recipient))
        })
      )
    }

    /** The workspace of the first recipient. All demo inboxes are one tenant. */
    const tenantOf = ({ envelope }: SMTPServerSession) => {
      const [first] = envelope.rcptTo
      return (first === undefined ? undefined : accepted.get(first))?.workspaceId ?? "demo"
    }

    const arrivalOf = (session: SMTPServerSession, message: MessageBytes) => ({
      envelope: {
        from: session.envelope.mailFrom === false ? "" : session.envelope.mailFrom.address,
        helo: session.hostNameAppearsAs,
        remoteAddress: session.remoteAddress
      },
      recipients: session.envelope.rcptTo.flatMap((address) => accepted.get(address) ?? []),
      transmission: {
        extended: session.openingCommand === "EHLO",
        encrypted: session.secure,
        utf8: session.envelope.smtpUtf8 === true
      },
      message
    })

    const onData = (
      stream: SMTPServerDataStream,
      session: SMTPServerSession,
      callback: (error?: Error | null) => void
    ) => {
      const bytes = new MessageBytes()
      const share = memory.enter(ClientNetwork.ofAnything(session.remoteAddress))
      DataStream.receive(stream, {
        tenant: tenantOf(session),
        take: (piece) => {
          if (!stream.sizeExceeded && share.take(piece.byteLength)) return bytes.push(piece)
          bytes.clear()
          share.leave()
          if (stream.byteLength > messageBytes + toleratedExcess) guard.dismiss(server, session.id, "too_large")
        },
        cut: () => share.leave(),
        end: () => {
          guard.received(session.id)
          // smtp-server answers 552 5.3.4 by itself.
          if (stream.sizeExceeded) return callback(new Error("too large"))
          const answer = (exit: Exit.Exit<void, IntakeError | Reply.DataMemoryFull>) =>
            reply("DATA", session, exit, (error) => {
              share.leave()
              callback(error)
            })
          if (share.wasRefused()) answer(Exit.fail(new Reply.DataMemoryFull()))
          else run(intake.receive(arrivalOf(session, bytes))).addObserver(answer)
          // Intake has copied the message, so the chunks can be freed.
          bytes.clear()
        }
      })
    }

    const options: SMTPServerOptions = {
      ...keyPair,
      minVersion: "TLSv1.2",
      name: mxHost,
      banner: "Inlet",
      size: messageBytes,
      rejectOversized: true,
      maxRecipients: recipientsPerMessage,
      disabledCommands: ["AUTH", "WIZ", "SHELL", "KILL"],
      hideENHANCEDSTATUSCODES: false,
      hideDSN: true,
      disableReverseLookup: true,
      lenientAddressParsing: true,
      socketTimeout: guard.silenceMilliseconds,
      closeTimeout: 20_000,
      onRcptTo: (address, session, callback) => {
        const recipient = typed.address(session.id, address.address)
        run(intake.admit(recipient)).addObserver((exit) =>
          reply(
            "RCPT",
            session,
            exit,
            (error, admitted) => {
              if (admitted !== undefined) accepted.set(address, admitted)
              callback(error)
            },
            recipient
          )
        )
      },
      onData,
      onClose: ({ error, id, remoteAddress }) => {
        typed.forget(id)
        if (error?.startsWith("421")) {
          const about = { smtp_session: id, remote_address: remoteAddress }
          run(Effect.annotateLogs(Effect.logDebug("An SMTP session was ended", error), about))
        }
      },
      logger: false
    }
    const greet = (greeting: () => void) =>
      Duration.isZero(greetingDelay)
        ? greeting()
        : void run(Effect.andThen(Effect.sleep(greetingDelay), Effect.sync(greeting)))
    const server = new GuardedServer(options, guard, {
      greet,
      isBalancer: AddressRange.contains(proxyFrom),
      now: () => clock.currentTimeMillisUnsafe()
    })
    // Replaces the logger option, with which the library copies every entry of every level.
    server.logger = {
      ...server.logger,
      debug: (entry, _format, line) => {
        if (entry === undefined || typeof entry === "string") return
        typed.heard(entry, line)
        guard.heard(server, entry, line)
      }
    }

    // An error without a listener would end the process.
    server.on("error", (error) => run(Effect.logDebug("An SMTP session ended with an error", error.message)))

    yield* Effect.acquireRelease(
      Effect.callback<void, SmtpListenError>((resume) => {
        const failed = (cause: Error) => resume(Effect.fail(new SmtpListenError({ cause })))
        server.once("error", failed)
        server.listen({ port, host, reusePort }, () => {
          server.off("error", failed)
          resume(Effect.void)
        })
      }),
      () =>
        Effect.suspend(() => {
          let closed = false
          server.close(() => {
            closed = true
          })
          // A session during a message may finish it. Other sessions, and new ones, are closed.
          const dismiss = Effect.sync(() => {
            for (const connection of server.connections) {
              // A new session has no envelope yet, despite its type.
              if (!connection.session.envelope?.mailFrom) guard.end(connection, "shutdown")
            }
          })
          return Effect.repeat(Effect.andThen(dismiss, Effect.sleep("50 millis")), { until: () => closed })
        })
    )
    yield* guard.watch(server)
    yield* Tls.renewals(keyPair, (pair) => server.updateSecureContext(pair))
    yield* Effect.logInfo("SMTP listens", { host, port })
  })
)
