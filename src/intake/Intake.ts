import { createHash } from "node:crypto"
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { isUnreachable } from "../database/Database.ts"
import { canonical } from "../domains/DomainNames.ts"
import * as HeaderBlock from "../mime/HeaderBlock.ts"
import { type DomainId, DomainName } from "../model/Domain.ts"
import { type Envelope, InboundEmailId, rawRef } from "../model/InboundEmail.ts"
import { RawStore } from "../providers/storage/RawStore.ts"
import type { RawStoreError } from "../providers/storage/RawStoreError.ts"
import { Reader, type Unread } from "../reading/Reader.ts"
import * as Settings from "../Settings.ts"
import * as Admissions from "./Admissions.ts"
import { inTime } from "./Deadline.ts"
import * as EarlyAnswers from "./EarlyAnswers.ts"
import * as InboundEmails from "./InboundEmails.ts"
import * as InboundTransaction from "./InboundTransaction.ts"
import { type NotStored, notStored } from "./NotStored.ts"
import { DemoFull, QuotaReached, type Recipient, type SenderQuotaReached, UnknownDomain } from "./Recipient.ts"
import * as TraceFields from "./TraceFields.ts"

/** The message has been through so many servers that it must be going round. */
export class MailLoop extends Schema.TaggedError<MailLoop>()("MailLoop", {}) {}

export type IntakeError = UnknownDomain | QuotaReached | SenderQuotaReached | DemoFull | MailLoop | NotStored

/** The message as it is kept for one domain, once it has a place. */
interface Stored extends InboundTransaction.Copy {
  readonly unread: Unread
}

/** As many Received fields mean a loop (RFC 5321, section 6.3, wants a large bound). */
const loopReceivedFields = 50

/** A message may come back to us once, through a customer who forwards it. Not again. */
const ownReceivedFields = 2

/**
 * How long the answer waits for the message to be read, so that its row and its events
 * are one commit. What takes longer, such as the DNS of a sender far away, is read after.
 */
const readInTime = "250 millis"

/** The door of the service: decides who gets mail, and never says yes before it is safe. */
export class Intake extends Context.Service<
  Intake,
  {
    /** Whose mail this is. The address is whatever the client typed. */
    admit(address: string): Effect.Effect<Recipient, UnknownDomain | QuotaReached | DemoFull | NotStored>
    /** Keeps the message for every recipient or for none. Once it succeeds, the events follow whatever happens. */
    receive(options: {
      readonly envelope: Envelope
      readonly recipients: ReadonlyArray<Recipient>
      readonly transmission: TraceFields.Transmission
      readonly message: Uint8Array
    }): Effect.Effect<void, IntakeError>
  }
>()("inlet/intake/Intake") {
  static readonly layerNoDeps = Layer.effect(
    Intake,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const raw = yield* RawStore
      const reader = yield* Reader
      const { mxHost } = yield* Settings.platform
      const { emailsPerDay, emailsPerSender } = yield* Settings.limits
      const lookUp = yield* Admissions.make
      const insert = yield* InboundEmails.make({ emailsPerDay })
      const insertApart = yield* InboundTransaction.make({ emailsPerDay, emailsPerSender })
      const early = yield* EarlyAnswers.make({ emailsPerSender })

      const admit = Effect.fnUntraced(function* (address: string) {
        const at = address.lastIndexOf("@")
        const name = canonical(address.slice(at + 1))
        if (at < 1 || name === undefined || isRoute(address.slice(0, at))) return yield* new UnknownDomain()
        const domain = DomainName.make(name)
        const admission = yield* lookUp(domain)
        if (admission === null) return yield* new UnknownDomain()
        const { accepted, demoMails, id, workspaceId } = admission
        if (emailsPerDay > 0 && accepted >= emailsPerDay) return yield* new QuotaReached({ limit: emailsPerDay })
        if (demoMails !== null && demoMails >= InboundTransaction.mailsPerDemo) return yield* new DemoFull()
        return { address: `${address.slice(0, at)}@${name}`, domain, domainId: id, workspaceId }
      })

      const receive: Intake["Service"]["receive"] = Effect.fn("Intake.receive")(
        function* (options) {
          const { message, recipients, transmission } = options
          const fields = HeaderBlock.fields(message)
          const hops = fields.filter(({ name }) => isNamed(name, "received"))
          const own = hops.filter(({ value }) => TraceFields.isBy(mxHost, value))
          if (hops.length >= loopReceivedFields || own.length >= ownReceivedFields) return yield* new MailLoop()

          const receivedAt = yield* DateTime.now
          const sha256 = createHash("sha256").update(message).digest()
          // Two spellings of one domain name one mailbox.
          const mailboxes = new Map(recipients.map((recipient) => [recipient.address, recipient])).values()
          const unkept: Array<Omit<Stored, "place">> = []
          for (const [domainId, own] of Map.groupBy(mailboxes, ({ domainId }) => domainId)) {
            const [first] = own
            if (first === undefined) continue
            const id = InboundEmailId.make(yield* random.uuidV7())
            const addresses = own.map(({ address }) => address)
            const trace = TraceFields.render({
              id,
              envelope: options.envelope,
              recipients: addresses,
              mxHost,
              receivedAt,
              transmission
            })
            const unread: Unread = {
              id,
              domainId,
              domain: first.domain,
              sha256,
              envelope: options.envelope,
              recipients: addresses,
              receivedAt,
              attempt: 1,
              message: together([Buffer.from(trace), message])
            }
            unkept.push({ id, domainId, recipients: own, unread })
          }
          const envelope = {
            ...options.envelope,
            from: InboundTransaction.printable(options.envelope.from),
            helo: InboundTransaction.printable(options.envelope.helo)
          }
          // A message without a Message-ID can't be told from one that was sent twice on purpose.
          const keyOf = fields.some(({ name }) => isNamed(name, "message-id"))
            ? (domainId: DomainId, address: string) => retryKey(domainId, address, sha256)
            : null
          const keys =
            keyOf === null
              ? []
              : unkept.flatMap((copy) => copy.recipients.map(({ address }) => keyOf(copy.domainId, address)))
          if (yield* early.isRetry(keys)) return
          yield* early.checkSender(envelope.remoteAddress)

          const [only] = unkept
          const [recipient] = only?.recipients ?? []
          /** The usual message: one recipient, and nothing to count but the workspace's day. */
          const isUsual =
            unkept.length === 1 &&
            only?.recipients.length === 1 &&
            recipient !== undefined &&
            recipient.workspaceId !== null &&
            emailsPerSender === 0

          const isOurs = yield* reader.hasRoom
          const reading = isUsual && isOurs ? yield* reader.begin(only.unread) : undefined

          // Bytes first, row second: a crash in between leaves bytes without a row, never a row without its mail.
          const copies: ReadonlyArray<Stored> =
            only !== undefined && unkept.length === 1
              ? [yield* keep(only)]
              : yield* Effect.forEach(unkept, keep, { concurrency: "unbounded" })

          if (isUsual) {
            const read = reading === undefined ? undefined : yield* reader.finished(reading, readInTime)
            const acceptance = yield* insert({
              id: only.id,
              domainId: only.domainId,
              recipient: InboundTransaction.printable(recipient.address),
              key: keys[0] ?? null,
              sha256,
              receivedAt,
              envelope,
              place: copies[0]?.place ?? null,
              isOurs,
              read
            }).pipe(
              Effect.catchIf(
                (error) => !isUnreachable(error),
                (error) => Effect.as(Effect.logWarning("A message is written by itself", error), "apart" as const)
              )
            )
            if (acceptance === "kept") {
              early.remember(keys)
              if (reading !== undefined && read === undefined) yield* reader.handOver(reading)
              return
            }
            if (acceptance !== "apart") {
              if (acceptance === "seen") early.remember(keys)
              yield* discard(copies)
              return acceptance === "seen" ? undefined : yield* new UnknownDomain()
            }
          }

          const kept = yield* insertApart({ copies, envelope, sha256, receivedAt, keyOf, isOurs }).pipe(
            // Known to be rolled back. After a failure of the database nobody knows, and the sweeper finds out.
            Effect.tapErrorTag(["QuotaReached", "SenderQuotaReached", "DemoFull", "UnknownDomain"], () =>
              discard(copies)
            ),
            // The others' mail must not bounce because one domain has just left: the retry is without it.
            Effect.mapError((error) =>
              error._tag === "UnknownDomain" && copies.length > 1 ? notStored("a recipient's domain has left") : error
            )
          )
          early.remember(keys)
          yield* discard(copies.filter(({ id }) => !kept.some(({ copy }) => copy.id === id)))
          if (!isOurs) return
          for (const { copy, recipients } of kept) {
            const addresses = recipients.map(({ address }) => address)
            yield* reader.handOver(reading ?? (yield* reader.begin({ ...copy.unread, recipients: addresses })))
          }
        },
        Effect.catchTag(["SqlError", "RawStoreError"], notStored),
        inTime
      )

      const keep = (copy: Omit<Stored, "place">): Effect.Effect<Stored, RawStoreError> =>
        Effect.map(raw.put(rawRef(copy.domainId, copy.id), [copy.unread.message]), (place) => ({ ...copy, place }))

      /** What has a place in the log goes with its segment. */
      const discard = (copies: ReadonlyArray<InboundTransaction.Copy>) =>
        Effect.forEach(
          copies,
          ({ domainId, id, place }) => (place === null ? Effect.ignore(raw.remove(rawRef(domainId, id))) : Effect.void),
          { discard: true }
        )

      return Intake.of({ admit, receive })
    })
  )
}

const isNamed = (name: string, expected: string) => name.length === expected.length && name.toLowerCase() === expected

/** `user%host.example` asks to be relayed to that host (RFC 1123, section 5.2.16), and nothing is relayed here. */
const isRoute = (localPart: string) => /%[^%]+\.[^%]+$/.test(localPart)

/** In memory of its own: all of what a view is on is copied for a thread. */
const together = (pieces: ReadonlyArray<Uint8Array>): Uint8Array => {
  const bytes = new Uint8Array(pieces.reduce((length, piece) => length + piece.byteLength, 0))
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.byteLength
  }
  return bytes
}

const retryKey = (domainId: DomainId, recipient: string, sha256: Uint8Array) =>
  createHash("sha256").update(`${domainId}\n${recipient}\n`).update(sha256).digest()
