import { Cause, Clock, Context, DateTime, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { isUnreachable } from "../database/Database.ts"
import * as FailureLog from "../database/FailureLog.ts"
import { rawRef } from "../model/InboundEmail.ts"
import * as Uuid7 from "../model/Uuid7.ts"
import { RawStore } from "../providers/storage/RawStore.ts"
import type { Mail } from "../reading/Mail.ts"
import { Reader } from "../reading/Reader.ts"
import * as Settings from "../Settings.ts"
import * as AuthenticationResults from "../sender/AuthenticationResults.ts"
import * as Admissions from "./Admissions.ts"
import * as Copies from "./Copies.ts"
import * as Deadline from "./Deadline.ts"
import * as EarlyAnswers from "./EarlyAnswers.ts"
import * as InboundEmails from "./InboundEmails.ts"
import * as InboundTransaction from "./InboundTransaction.ts"
import * as Incoming from "./Incoming.ts"
import { type NotStored, notStored } from "./NotStored.ts"
import {
  type DemoFull,
  type DisabledDomain,
  type QuotaReached,
  type Recipient,
  type RejectedRoute,
  type SenderQuotaReached,
  type SenderRejected,
  UnknownDomain
} from "./Recipient.ts"
import * as RecipientDecision from "./RecipientDecision.ts"
import * as TypedAddress from "./TypedAddress.ts"

export type IntakeError =
  | UnknownDomain
  | DisabledDomain
  | RejectedRoute
  | SenderRejected
  | QuotaReached
  | SenderQuotaReached
  | DemoFull
  | Incoming.MailLoop
  | NotStored

/** Accepts mail for domains of this service: answers `RCPT`, then stores the message before `DATA` is answered 250. */
export class Intake extends Context.Service<
  Intake,
  {
    /** Resolves an address as typed by the client to a recipient. Fails within 8 seconds. */
    admit(address: string, session: RecipientDecision.Session): Effect.Effect<Recipient, IntakeError>
    /**
     * Stores a message for all recipients or none, within 8 seconds. Copies its chunks before its first asynchronous
     * step. After success the message is durable, and its events follow. Succeeds with the keys by which a retry is
     * recognized.
     */
    receive(arrival: Copies.Arrival): Effect.Effect<ReadonlyArray<Uint8Array>, IntakeError>
  }
>()("inlet/intake/Intake") {
  static readonly layerNoDeps = Layer.effect(
    Intake,
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const clock = yield* Clock.Clock
      const { mxHost } = yield* Settings.platform
      const limits = yield* Settings.limits
      const within8Seconds = yield* Deadline.make
      const newId = Uuid7.make((bytes) => Effect.runSync(random.randomBytes(bytes)))
      const now = () => clock.currentTimeMillisUnsafe()
      const copiesOf = Copies.make({ mxHost, newId, now })
      const checked = Incoming.make({ mxHost })
      const early = yield* EarlyAnswers.make(limits)
      const store = yield* makeStore({ ...limits, mxHost, remember: early.remember, now })
      const admissions = yield* Admissions.make

      const admit: Intake["Service"]["admit"] = (typed, session) => {
        const address = TypedAddress.parse(typed)
        if (address === undefined) return RecipientDecision.unknownDomain
        const decide = (admission: Admissions.Admission | null) =>
          RecipientDecision.of(address, admission, session, limits)
        const recent = admissions.recent(address.domain)
        if (recent !== undefined) return decide(recent)
        return Effect.flatMap(admissions.lookUp(address.domain, session.hasErred === true), decide)
      }

      const receive: Intake["Service"]["receive"] = (arrival) =>
        Effect.flatMap(
          Effect.suspend(() => checked(arrival, copiesOf(arrival))),
          (incoming) =>
            within8Seconds(
              (pending) =>
                Effect.flatMap(early.isAnswered(incoming), (isAnswered) =>
                  isAnswered
                    ? Effect.succeed({ answer: incoming.keys, after: Effect.void })
                    : Effect.map(store(incoming, pending), (after) => ({ answer: incoming.keys, after }))
                ),
              arrival.message.keep
            )
        )

      return Intake.of({ admit, receive })
    })
  )
}

/** What stores messages. */
interface Store {
  readonly raw: RawStore["Service"]
  readonly reader: Reader["Service"]
  readonly insert: Effect.Success<ReturnType<typeof InboundEmails.make>>
  readonly insertApart: Effect.Success<ReturnType<typeof InboundTransaction.make>>
  readonly mxHost: string
}

const put = ({ raw }: Store, { domainId, id, mail, pieces }: Copies.Copy) =>
  Effect.map(raw.put(rawRef(domainId, id), pieces), (place) => {
    mail.place = place
  })

/** Removes the bytes of copies without a row. Bytes in the log expire with their segment. */
const discard = ({ raw }: Store, copies: ReadonlyArray<Copies.Copy>) =>
  Effect.forEach(
    copies,
    ({ domainId, id, mail }) => (mail.place === null ? Effect.ignore(raw.remove(rawRef(domainId, id))) : Effect.void),
    { discard: true }
  )

/** Reserves memory to parse all of these in this process, or none. */
const reserve = ({ reader }: Store, copies: ReadonlyArray<Copies.Copy>) => {
  const release = (some: ReadonlyArray<Copies.Copy>) => {
    for (const { mail } of some) reader.release(mail)
  }
  const refused = copies.findIndex(({ mail }) => !reader.reserve(mail))
  if (refused === -1) return { isOurs: true, release }
  release(copies.slice(0, refused))
  return { isOurs: false, release }
}

const readAll = ({ reader }: Store, mails: ReadonlyArray<Mail>) => {
  const [only, ...others] = mails
  return only !== undefined && others.length === 0
    ? reader.read(only)
    : Effect.forEach(mails, (mail) => reader.read(mail), { concurrency: "unbounded", discard: true })
}

/** Inserts the rows in a transaction. */
const storeApart = Effect.fnUntraced(function* (store: Store, incoming: Incoming.Incoming, isOurs: boolean) {
  const { arrival, copies, envelope, first, keyOf } = incoming
  const kept = yield* store
    .insertApart({
      copies: copies.map((copy) => ({ ...copy, place: copy.mail.place, traceBytes: copy.mail.traceBytes })),
      envelope,
      sha256: first.mail.sha256,
      receivedAt: DateTime.makeUnsafe(first.mail.receivedAt),
      keyOf,
      authenticationResults:
        arrival.simulated === undefined
          ? null
          : AuthenticationResults.renderGiven(store.mxHost, arrival.simulated.authentication),
      isOurs
    })
    .pipe(
      // The transaction was rolled back. After a database failure the outcome is unknown, and the sweeper finds such
      // bytes.
      Effect.tapErrorTag(["QuotaReached", "SenderQuotaReached", "DemoFull", "UnknownDomain"], () =>
        discard(store, copies)
      ),
      // The other recipients must not bounce because one domain was removed. The sender's retry excludes it.
      Effect.mapError((error) =>
        error._tag === "UnknownDomain" && copies.length > 1 ? notStored("a recipient's domain has left") : error
      )
    )
  yield* discard(
    store,
    copies.filter(({ id }) => !kept.some(({ copy }) => copy.id === id))
  )
  return kept.map(({ copy, recipients }) => {
    const fresh = new Set(recipients.map(({ address }) => address))
    return { ...copy.mail, recipients: copy.mail.recipients.filter(({ address }) => fresh.has(address)) }
  })
})

/** Stores an unusual message: its bytes, which may take longer than the sender waits, and then its rows. */
const storeUnusual = Effect.fnUntraced(function* (
  store: Store,
  incoming: Incoming.Incoming,
  isOurs: boolean,
  pending: Deadline.Pending
) {
  yield* Effect.forEach(incoming.copies, (copy) => put(store, copy), { concurrency: "unbounded", discard: true })
  // The sender got 451 and will retry.
  return pending.isOver ? [] : yield* Deadline.inTime(storeApart(store, incoming, isOurs), pending.left())
})

/** Inserts the row of a single-recipient message in a batch. */
const storeUsual = Effect.fnUntraced(function* (
  store: Store,
  incoming: Incoming.Incoming,
  recipient: Recipient,
  isOurs: boolean,
  pending: Deadline.Pending
) {
  const { copies, envelope, first, keys } = incoming
  yield* put(store, first)
  // The sender got 451 and will retry.
  if (pending.isOver) return []
  const acceptance = yield* store
    .insert({
      mail: first.mail,
      recipient: InboundTransaction.printable(recipient.address),
      envelope,
      tls: first.tls,
      key: keys[0] ?? null,
      isOurs
    })
    .pipe(
      Effect.catchCause((cause) =>
        Cause.hasInterrupts(cause) || Option.exists(Cause.findErrorOption(cause), isUnreachable)
          ? Effect.fail(notStored(cause))
          : Effect.as(
              Option.exists(Cause.findErrorOption(cause), InboundEmails.isWithoutRoom)
                ? Effect.void
                : Effect.logWarning(
                    FailureLog.withReason("A batch of messages failed. Inlet stores one message alone", cause)
                  ),
              "apart" as const
            )
      )
    )
  switch (acceptance) {
    case "kept":
      return [first.mail]
    case "apart":
      return yield* Deadline.inTime(storeApart(store, incoming, isOurs))
    case "seen":
      yield* discard(store, copies)
      return []
    case "gone":
      yield* discard(store, copies)
      return yield* new UnknownDomain()
  }
})

/**
 * Stores the bytes of a message, then its rows, then starts parsing. A crash in between leaves bytes without a row,
 * never a row without bytes. Succeeds with an effect that parses the message.
 */
const makeStore = Effect.fnUntraced(function* (options: {
  readonly emailsPerDay: number
  readonly emailsPerSender: number
  readonly mxHost: string
  readonly remember: (keys: ReadonlyArray<Buffer>) => void
  readonly now: () => number
}) {
  const { emailsPerSender, mxHost, now, remember } = options
  const store: Store = {
    raw: yield* RawStore,
    reader: yield* Reader,
    insert: yield* InboundEmails.make(options),
    insertApart: yield* InboundTransaction.make(options),
    mxHost
  }

  return (incoming: Incoming.Incoming, pending: Deadline.Pending) =>
    Effect.suspend(() => {
      const { copies, keys } = incoming
      const { isOurs, release } = reserve(store, copies)
      const recipient = emailsPerSender === 0 ? usualRecipient(incoming) : undefined
      const stored =
        recipient === undefined
          ? storeUnusual(store, incoming, isOurs, pending)
          : storeUsual(store, incoming, recipient, isOurs, pending)
      return Effect.map(
        Effect.catchTag(stored, ["SqlError", "RawStoreError"], (error) => Effect.fail(notStored(error))),
        (mails) => {
          remember(keys)
          if (!isOurs) return Effect.void
          release(copies.filter(({ id }) => !mails.some((mail) => mail.id === id)))
          const storedAt = now()
          Copies.separate(copies, mails)
          for (const mail of mails) mail.storedMs = Copies.storedMs(mail, storedAt)
          // Answers the sender first.
          return Effect.andThen(Effect.yieldNow, readAll(store, mails))
        }
      ).pipe(Effect.onError(() => Effect.sync(() => release(isOurs ? copies : []))))
    })
})

/** The only recipient of a message, in a workspace. Only the workspace's daily quota counts it. */
const usualRecipient = ({ arrival, copies, first }: Incoming.Incoming) => {
  const [recipient] = first.recipients
  return copies.length === 1 &&
    first.recipients.length === 1 &&
    recipient !== undefined &&
    recipient.workspaceId !== null &&
    arrival.simulated === undefined
    ? recipient
    : undefined
}
