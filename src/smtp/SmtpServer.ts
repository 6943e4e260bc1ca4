import { Cause, Clock, Duration, Effect, Exit, FiberSet, Layer, Option, Predicate, Result, Schema } from "effect"
import type { SMTPServerAddress, SMTPServerDataStream, SMTPServerOptions, SMTPServerSession } from "smtp-server"
import { DataMemory, type Share } from "../intake/DataMemory.ts"
import { Intake, type IntakeError } from "../intake/Intake.ts"
import { MessageBytes } from "../intake/MessageBytes.ts"
import type { Recipient } from "../intake/Recipient.ts"
import * as Reply from "../intake/Reply.ts"
import * as AddressRange from "../model/AddressRange.ts"
import * as ClientNetwork from "../model/ClientNetwork.ts"
import { throughServer } from "../model/InboundEmail.ts"
import * as Shutdown from "../process/Shutdown.ts"
import * as RefusedHeader from "../refusals/RefusedHeader.ts"
import * as Settings from "../Settings.ts"
import * as Elapsed from "../schedule/Elapsed.ts"
import * as DataStream from "./DataStream.ts"
import * as ForwardedClient from "./ForwardedClient.ts"
import { GuardedServer } from "./GuardedServer.ts"
import * as Parameters from "./Parameters.ts"
import * as Refusing from "./Refusing.ts"
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

/** The form of a reply that smtp-server accepts. */
const toError = ({ code, enhanced, text }: Reply.Reply): Error =>
  // The library chooses the enhanced code by the basic one, but passes on a code that is text.
  Object.assign(new Error(text), { responseCode: `${code} ${enhanced}` as unknown as number })

/** One error for each reply, because its stack trace costs more than the rest of a refusal. */
const errors = new WeakMap<Reply.Reply, Error>()
const errorOf = (reply: Reply.Reply) => {
  const error = errors.get(reply) ?? toError(reply)
  errors.set(reply, error)
  return error
}

/** A cipher suite of an older TLS version may name a version before that of the session. */
const tlsOf = ({ secure, tlsOptions }: SMTPServerSession) => {
  if (!secure) return null
  const version = tlsOptions === false ? "" : tlsOptions.version
  return ["TLSv1.2", "TLSv1.3"].includes(version) ? version : "TLS"
}

/** Listens for mail. smtp-server implements the protocol, and Intake makes every decision. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { greetingDelay, host, messageBytes, mxHost, port, proxyFrom, reusePort, xforwardFrom } = yield* Settings.smtp
    yield* SmtpLibrary.check(SmtpLibrary.internals())
    const intake = yield* Intake
    const clock = yield* Clock.Clock
    const keyPair = yield* Tls.keyPair
    // Made before the server: on shutdown the server drains first, then these fibers stop.
    const run = yield* FiberSet.makeRuntime()

    /** smtp-server stores the accepted address object in the transaction's envelope. */
    const accepted = new WeakMap<SMTPServerAddress, Recipient>()
    const recipientsOf = ({ envelope }: SMTPServerSession) =>
      // A new session has no envelope yet, despite its type.
      envelope?.rcptTo.flatMap((address) => accepted.get(address) ?? []) ?? []
    /** The sessions in which a recipient was unknown. */
    const erred = new WeakSet<SMTPServerSession>()
    /** The messages under way whose bytes are discarded. */
    const discarded = new WeakMap<SMTPServerSession, Refusing.Message>()
    const typed = TypedRecipients.make()
    const refusing = yield* Refusing.make(typed)
    const guard = yield* SessionGuard.make(refusing.connection)
    const memory = yield* DataMemory
    /** True while smtp-server sends a reply that is noted with more than the line. */
    let isNoted = false

    /** Sends the reply for an exit, counts and logs it. */
    const reply = <A>(
      command: "RCPT" | "DATA",
      session: SMTPServerSession,
      exit: Exit.Exit<A, IntakeError | Reply.DataMemoryFull>,
      callback: (error: Error | null, value?: A) => void,
      about: { readonly recipients: ReadonlyArray<Recipient | string>; readonly message?: Refusing.Message }
    ) => {
      if (Exit.isSuccess(exit)) {
        refusing.accepted(command)
        return callback(null, exit.value)
      }
      const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
      const reply = error === undefined ? Reply.bug : Reply.fromError(error)
      if (error?._tag === "UnknownDomain" || error?._tag === "DisabledDomain") erred.add(session)
      const workspaceIds = error?._tag === "QuotaReached" ? error.workspaceIds : undefined
      refusing.refused({ ...about, command, session, reply, workspaceIds, cause: exit.cause })
      send(() => callback(errorOf(reply)))
    }

    const send = (callback: () => void) => {
      isNoted = true
      const sent = Result.try(callback)
      isNoted = false
      if (Result.isFailure(sent)) throw sent.failure
    }

    /** The workspace of the first recipient. All demo inboxes are one tenant. */
    const tenantOf = ({ envelope }: SMTPServerSession) => {
      const [first] = envelope.rcptTo
      return (first === undefined ? undefined : accepted.get(first))?.workspaceId ?? "demo"
    }

    const clientOf = ({ envelope, remoteAddress }: SMTPServerSession) => ({
      from: envelope.mailFrom === false ? "" : envelope.mailFrom.address,
      remoteAddress
    })

    const arrivalOf = (session: SMTPServerSession, message: MessageBytes, share: Share) => ({
      envelope: { ...clientOf(session), helo: session.hostNameAppearsAs },
      recipients: recipientsOf(session),
      transmission: {
        extended: session.openingCommand === "EHLO",
        encrypted: session.secure,
        utf8: session.envelope.smtpUtf8 === true,
        tls: ForwardedClient.isIn(session) ? throughServer : tlsOf(session)
      },
      message: { byteLength: message.byteLength, copyInto: message.moveInto.bind(message), keep: share.keep }
    })

    const onData = (
      stream: SMTPServerDataStream,
      session: SMTPServerSession,
      callback: (error?: Error | null) => void
    ) => {
      const bytes = new MessageBytes()
      const share = memory.enter(ClientNetwork.ofAnything(session.remoteAddress))
      discarded.delete(session)
      const discard = () => {
        if (bytes.byteLength > 0) {
          const header = RefusedHeader.of(bytes.first(RefusedHeader.mostBytes))
          discarded.set(session, { header: () => header, bytes: stream.byteLength })
        }
        bytes.clear()
        share.leave()
      }
      DataStream.receive(stream, {
        tenant: tenantOf(session),
        take: (piece) => {
          if (!stream.sizeExceeded && share.take(piece.byteLength)) return bytes.push(piece)
          discard()
          if (stream.byteLength > messageBytes + toleratedExcess) guard.dismiss(server, session.id, "too_large")
        },
        cut: () => share.leave(),
        end: () => {
          guard.received(session.id)
          const recipients = recipientsOf(session)
          const message = {
            header: () => RefusedHeader.of(bytes.first(RefusedHeader.mostBytes)),
            ...discarded.get(session),
            bytes: stream.byteLength
          }
          discarded.delete(session)
          // smtp-server answers 552 5.3.4 by itself.
          if (stream.sizeExceeded) {
            refusing.refused({ command: "DATA", session, reply: Reply.tooLarge(messageBytes), recipients, message })
            return send(() => callback(new Error("too large")))
          }
          const answer = (exit: Exit.Exit<unknown, IntakeError | Reply.DataMemoryFull>) =>
            reply(
              "DATA",
              session,
              exit,
              (error) => {
                share.leave()
                callback(error)
              },
              { recipients, message }
            )
          if (share.wasRefused()) answer(Exit.fail(new Reply.DataMemoryFull()))
          else run(intake.receive(arrivalOf(session, bytes, share))).addObserver(answer)
        }
      })
    }

    /** Notes a refusal of smtp-server itself. */
    const hear = (id: string, line: string) => {
      const answered = guard.answering(id)
      if (answered === undefined) return
      refusing.heard(line, answered, recipientsOf(answered.session), discarded.get(answered.session))
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
      closeTimeout: Duration.toMillis(Shutdown.grace),
      onMailFrom: (address, _session, callback) => {
        const refused = Parameters.refusal("MAIL", address)
        callback(refused && errorOf(refused))
      },
      onRcptTo: (address, session, callback) => {
        const refused = Parameters.refusal("RCPT", address)
        if (refused !== undefined) return callback(errorOf(refused))
        const recipient = typed.address(session.id, address.address)
        const accept = (error: Error | null, admitted?: Recipient) => {
          if (admitted !== undefined) accepted.set(address, admitted)
          callback(error)
        }
        const answer = (exit: Exit.Exit<Recipient, IntakeError>) =>
          reply("RCPT", session, exit, accept, { recipients: [recipient] })
        const admission = intake.admit(recipient, { ...clientOf(session), hasErred: erred.has(session) })
        // Without a lookup it is an exit of these types, and needs no fiber.
        if (Exit.isExit(admission)) answer(admission as Exit.Exit<Recipient, IntakeError>)
        else run(admission).addObserver(answer)
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
      isRelay: AddressRange.contains(xforwardFrom),
      now: () => Elapsed.millisOf(clock)
    })
    // Replaces the logger option, with which the library copies every entry of every level.
    server.logger = {
      ...server.logger,
      debug: (entry, _format, line) => {
        if (entry === undefined || typeof entry === "string") return
        typed.heard(entry, line)
        // A line of a reply, which begins with its code: 4xx or 5xx.
        if (entry.tnx === "send" && !isNoted && `${line}` >= "4") hear(`${entry.cid}`, `${line}`)
        guard.heard(server, entry, line)
      }
    }

    // An error without a listener would end the process.
    server.on("error", (error) => {
      // smtp-server marks errors of handshakes.
      if (Predicate.hasProperty(error, "meta")) {
        refusing.tls(Predicate.hasProperty(error, "remoteAddress") ? `${error.remoteAddress}` : "", error.message)
      }
      run(Effect.logDebug("An SMTP session ended with an error", error.message))
    })

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
    yield* Effect.annotateLogs(Effect.logInfo("SMTP listens"), { host, port })
  })
)
