import { Cause, Clock, Context, DateTime, Effect, Exit, FiberSet, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { isUnreachable } from "../database/Database.ts"
import { canonical } from "../domains/DomainNames.ts"
import * as HeaderBlock from "../mime/HeaderBlock.ts"
import { type DomainId, DomainName } from "../model/Domain.ts"
import { rawRef } from "../model/InboundEmail.ts"
import * as Uuid7 from "../model/Uuid7.ts"
import { RawStore } from "../providers/storage/RawStore.ts"
import * as AuthenticationResults from "../reading/AuthenticationResults.ts"
import { Reader } from "../reading/Reader.ts"
import * as Settings from "../Settings.ts"
import * as Admissions from "./Admissions.ts"
import * as Copies from "./Copies.ts"
import * as Deadline from "./Deadline.ts"
import * as EarlyAnswers from "./EarlyAnswers.ts"
import * as InboundEmails from "./InboundEmails.ts"
import * as InboundTransaction from "./InboundTransaction.ts"
import { type NotStored, notStored } from "./NotStored.ts"
import { DemoFull, QuotaReached, type Recipient, type SenderQuotaReached, UnknownDomain } from "./Recipient.ts"
import * as RetryKey from "./RetryKey.ts"
import * as TraceFields from "./TraceFields.ts"

/** The message has been through so many servers that it must be going round. */
export class MailLoop extends Schema.TaggedError<MailLoop>()("MailLoop", {}) {}

export type IntakeError = UnknownDomain | QuotaReached | SenderQuotaReached | DemoFull | MailLoop | NotStored

type Answer<A> = (exit: Exit.Exit<A, IntakeError>) => void

/** As many Received fields mean a loop (RFC 5321, section 6.3, wants a large bound). */
const loopReceivedFields = 50

/** A message may come back to us once, through a customer who forwards it. Not again. */
const ownReceivedFields = 2

/** As much of a header as is looked at while its sender waits: a message of nothing but fields would hold up all others. */
const longestHeader = 256 * 1024

/**
 * The door of the service: decides who gets mail, and never says yes before it is safe.
 * Both answers are calls, made once: no fiber, span or timer for a message.
 */
export class Intake extends Context.Service<
  Intake,
  {
    /** Whose mail this is. The address is as the client typed it. */
    admit(address: string, answer: Answer<Recipient>): void
    /** Keeps the message for every recipient or for none. Once it succeeds, the events follow whatever happens. */
    receive(arrival: Copies.Arrival, answer: Answer<void>): void
  }
>()("inlet/intake/Intake") {
  static readonly layerNoDeps = Layer.effect(
    Intake,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const clock = yield* Clock.Clock
      const raw = yield* RawStore
      const reader = yield* Reader
      const { mxHost } = yield* Settings.platform
      const { emailsPerDay, emailsPerSender } = yield* Settings.limits
      const deadline = yield* Deadline.make
      const lookUp = yield* Admissions.make
      const insert = yield* InboundEmails.make({ emailsPerDay })
      const insertApart = yield* InboundTransaction.make({ emailsPerDay, emailsPerSender })
      const early = yield* EarlyAnswers.make({ emailsPerSender })
      const run = yield* FiberSet.makeRuntime()
      const newId = Uuid7.make((bytes) => Effect.runSync(random.randomBytes(bytes)))
      const copiesOf = Copies.make({ mxHost, newId, now: () => clock.currentTimeMillisUnsafe() })

      const admit: Intake["Service"]["admit"] = (address, answer) => {
        const at = address.lastIndexOf("@")
        const name = canonical(address.slice(at + 1))
        if (at < 1 || name === undefined || isRoute(address.slice(0, at))) return answer(Exit.fail(new UnknownDomain()))
        const domain = DomainName.make(name)
        lookUp(domain, (exit) => {
          if (Exit.isFailure(exit)) return answer(Exit.failCause(exit.cause))
          if (exit.value === null) return answer(Exit.fail(new UnknownDomain()))
          const { accepted, demoMails, id, workspaceId } = exit.value
          if (emailsPerDay > 0 && accepted >= emailsPerDay) {
            return answer(Exit.fail(new QuotaReached({ limit: emailsPerDay })))
          }
          if (demoMails !== null && demoMails >= InboundTransaction.mailsPerDemo) {
            return answer(Exit.fail(new DemoFull()))
          }
          answer(Exit.succeed({ address: `${address.slice(0, at)}@${name}`, domain, domainId: id, workspaceId }))
        })
      }

      const keep = ({ domainId, id, mail }: Copies.Copy) =>
        Effect.map(raw.put(rawRef(domainId, id), mail.message === undefined ? [] : [mail.message]), (place) => {
          mail.place = place
        })

      /** A message with a place in the log goes with its segment. */
      const discard = (copies: ReadonlyArray<Copies.Copy>) =>
        Effect.forEach(
          copies,
          ({ domainId, id, mail }) =>
            mail.place === null ? Effect.ignore(raw.remove(rawRef(domainId, id))) : Effect.void,
          { discard: true }
        )

      const receive: Intake["Service"]["receive"] = (arrival, answer) => {
        const copies = copiesOf(arrival)
        const [only] = copies
        if (only === undefined) return answer(Exit.die("A message came for nobody"))
        const fields = HeaderBlock.fields(only.received.subarray(0, longestHeader))
        const hops = fields.filter(({ name }) => isNamed(name, "received"))
        const own = hops.filter(({ value }) => TraceFields.isBy(mxHost, value))
        if (hops.length >= loopReceivedFields || own.length >= ownReceivedFields) {
          return answer(Exit.fail(new MailLoop()))
        }
        const { receivedAt, sha256 } = only.mail
        // A message without a Message-ID can't be told from one that was sent twice on purpose.
        const keyOf = fields.some(({ name }) => isNamed(name, "message-id"))
          ? (domainId: DomainId, address: string) => RetryKey.of(domainId, address, sha256)
          : null
        const envelope = {
          ...arrival.envelope,
          from: InboundTransaction.printable(arrival.envelope.from),
          helo: InboundTransaction.printable(arrival.envelope.helo)
        }
        const keys =
          keyOf === null
            ? []
            : copies.flatMap(({ domainId, recipients }) => recipients.map(({ address }) => keyOf(domainId, address)))
        const isOurs = copies.every(({ mail }) => reader.hasRoom(mail))

        const pending: Deadline.Pending = { isOver: false }
        const end = (exit: Exit.Exit<void, IntakeError>) => {
          if (pending.isOver) return
          deadline.end(pending)
          answer(exit)
        }
        deadline.begin(pending, () => end(Exit.fail(notStored("no answer within 8 seconds"))))

        /** In a transaction of its own. The bytes are there already where `isKept`. */
        const apart = (isKept: boolean) => {
          const work = Effect.gen(function* () {
            if (!isKept) yield* Effect.forEach(copies, keep, { concurrency: "unbounded", discard: true })
            const kept = yield* insertApart({
              copies: copies.map((copy) => ({ ...copy, place: copy.mail.place, traceBytes: copy.mail.traceBytes })),
              envelope,
              sha256,
              receivedAt: DateTime.makeUnsafe(receivedAt),
              keyOf,
              authenticationResults:
                arrival.simulated === undefined
                  ? null
                  : AuthenticationResults.renderGiven(mxHost, arrival.simulated.authentication),
              isOurs
            }).pipe(
              // Known to be rolled back. After a failure of the database nobody knows, and the sweeper finds out.
              Effect.tapErrorTag(["QuotaReached", "SenderQuotaReached", "DemoFull", "UnknownDomain"], () =>
                discard(copies)
              ),
              // The others' mail must not bounce because one domain has just left: the retry is without it.
              Effect.mapError((error) =>
                error._tag === "UnknownDomain" && copies.length > 1 ? notStored("a recipient's domain has left") : error
              )
            )
            yield* discard(copies.filter(({ id }) => !kept.some(({ copy }) => copy.id === id)))
            return kept
          }).pipe(Effect.catchTag(["SqlError", "RawStoreError"], notStored), Deadline.inTime)
          run(work).addObserver((exit) => {
            if (Exit.isFailure(exit)) return end(exit)
            early.remember(keys)
            end(Exit.void)
            if (!isOurs) return
            for (const { copy, recipients } of exit.value) {
              const fresh = new Set(recipients.map(({ address }) => address))
              reader.read({
                ...copy.mail,
                recipients: copy.mail.recipients.filter(({ address }) => fresh.has(address))
              })
            }
          })
        }

        const [recipient] = only.recipients
        /** The usual message has one recipient, and nothing is to be counted but the workspace's day. */
        const isUsual =
          copies.length === 1 &&
          only.recipients.length === 1 &&
          recipient !== undefined &&
          recipient.workspaceId !== null &&
          arrival.simulated === undefined &&
          emailsPerSender === 0
        const accepted = (acceptance: InboundEmails.Acceptance) => {
          switch (acceptance) {
            case "kept":
              early.remember(keys)
              end(Exit.void)
              // Also where the sender has been told to come back: its retry will be recognised.
              if (isOurs) reader.read(only.mail)
              return
            case "apart":
              return apart(true)
            case "seen":
            case "gone":
              if (acceptance === "seen") early.remember(keys)
              run(discard(copies)).addObserver(() =>
                end(acceptance === "seen" ? Exit.void : Exit.fail(new UnknownDomain()))
              )
          }
        }
        /** Bytes first, row second: a crash in between leaves bytes without a row, never a row without its mail. */
        const usually = (recipient: Recipient) => {
          run(keep(only)).addObserver((stored) => {
            if (Exit.isFailure(stored)) return end(Exit.mapError(stored, notStored))
            // Its sender has been told to come back, and will bring the message again.
            if (!pending.isOver) accept(recipient)
          })
        }
        const accept = (recipient: Recipient) =>
          insert({
            mail: only.mail,
            recipient: InboundTransaction.printable(recipient.address),
            envelope,
            key: keys[0] ?? null,
            isOurs,
            succeeded: accepted,
            failed: (cause) => {
              if (Cause.hasInterrupts(cause) || Option.exists(Cause.findErrorOption(cause), isUnreachable)) {
                return end(Exit.fail(notStored(cause)))
              }
              run(Effect.logWarning("A message is written by itself", cause))
              apart(true)
            }
          })

        const go = () => (isUsual ? usually(recipient) : apart(false))
        if (emailsPerSender === 0 && !early.mayBeRetry(keys)) return go()
        const known = Effect.flatMap(early.isRetry(keys), (isRetry) =>
          isRetry ? Effect.succeed(true) : Effect.as(early.checkSender(envelope.remoteAddress), false)
        )
        run(known.pipe(Effect.catchTag("SqlError", notStored), Deadline.inTime)).addObserver((exit) => {
          if (Exit.isFailure(exit)) end(exit)
          else if (exit.value) end(Exit.void)
          else go()
        })
      }

      return Intake.of({ admit, receive })
    })
  )
}

const isNamed = (name: string, expected: string) => name.length === expected.length && name.toLowerCase() === expected

/** `user%host.example` asks to be relayed to that host (RFC 1123, section 5.2.16), and nothing is relayed here. */
const isRoute = (localPart: string) => {
  const percent = localPart.lastIndexOf("%")
  const dot = localPart.indexOf(".", percent + 2)
  return percent !== -1 && dot !== -1 && dot < localPart.length - 1
}
