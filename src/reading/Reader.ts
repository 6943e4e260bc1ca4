import { NodeCrypto } from "@effect/platform-node"
import { Context, DateTime, Effect, Layer, Queue, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import { DomainId, DomainName } from "../model/Domain.ts"
import { type Envelope, InboundEmailId, rawRef } from "../model/InboundEmail.ts"
import { EventId } from "../model/InboundEvent.ts"
import { RawStore } from "../providers/RawStore.ts"
import { EventFeed } from "./EventFeed.ts"
import * as EventRows from "./EventRows.ts"
import * as HeaderText from "./HeaderText.ts"
import { ParserThreads } from "./ParserThreads.ts"

/** A stored message that has no events yet. */
export interface Unread {
  readonly id: InboundEmailId
  readonly domainId: DomainId
  readonly domain: DomainName
  readonly sha256: Uint8Array
  readonly envelope: Envelope
  readonly recipients: ReadonlyArray<string>
  readonly receivedAt: DateTime.Utc
  /** How often somebody has begun to read it, this time included. */
  readonly attempt: number
  /** The raw message as stored, trace fields in front. */
  readonly message: Uint8Array
}

/** Messages handed over and not read yet; beyond this the table hands them out later. */
const mostHandedOverBytes = 64 * 1024 * 1024

/** Messages read at once: most of their time they wait for the DNS of their senders. */
const readAtOnce = 64

/** A message that took two processes with it is not parsed a third time, and hardly looked at a fifth time. */
const mostParses = 2
const mostLooks = 4

const Claimed = Schema.Struct({
  id: InboundEmailId,
  domainId: DomainId,
  domain: DomainName,
  sha256: Schema.Uint8Array,
  mailFrom: Schema.String,
  helo: Schema.String,
  remoteAddress: Schema.String,
  recipients: Schema.Array(Schema.String),
  receivedAt: Schema.DateTimeUtcFromDate,
  readAttempts: Schema.Int
})

/** Turns stored messages into events: one for every recipient, in one transaction with their deliveries. */
export class Reader extends Context.Service<
  Reader,
  {
    /** Whether a message can be handed over with its bytes; otherwise the table keeps it for any reader. */
    readonly hasRoom: Effect.Effect<boolean>
    /** Reads a message soon, in this process. Its row is leased to us. */
    handOver(unread: Unread): Effect.Effect<void>
    /** Reads what is left over in the table: after a crash, a failure, or a full hand. Returns how many. */
    readonly readLeftOver: Effect.Effect<number>
  }
>()("inlet/reading/Reader") {
  static readonly layer = Layer.effect(
    Reader,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const random = yield* SecureRandom.SecureRandom
      const raw = yield* RawStore
      const feed = yield* EventFeed
      const threads = yield* ParserThreads
      yield* threads.warmUp
      const handedOver = yield* Queue.unbounded<Unread>()
      const inHand = new Set<InboundEmailId>()
      let handedOverBytes = 0

      // Runs after the fibers below have stopped: what they did not finish is anybody's at once.
      yield* Effect.addFinalizer(() =>
        Effect.ignore(
          inHand.size === 0
            ? Effect.void
            : sql`UPDATE inbound_emails SET leased_until = NULL WHERE id = ANY(${[...inHand]}::uuid[]) AND state = 'received'`
        )
      )

      const write = yield* EventRows.make

      const read = Effect.fn("Reader.read")(function* (unread: Unread) {
        const recipients = yield* Effect.forEach(unread.recipients, (recipient) =>
          Effect.map(random.uuidV7(), (uuid) => ({ eventId: EventId.make(uuid), recipient }))
        )
        const { authenticationResults, payloads, sender } = yield* threads.read(
          {
            message: unread.message,
            envelope: unread.envelope,
            recipients,
            about: {
              inboundEmailId: unread.id,
              domain: unread.domain,
              receivedAt: DateTime.formatIso(unread.receivedAt),
              rawRef: rawRef(unread.domainId, unread.id),
              sha256: unread.sha256
            }
          },
          unread.attempt > mostLooks ? "nothing" : unread.attempt > mostParses ? "headers" : "full"
        )
        const events = recipients.map(({ eventId, recipient }, index) => ({
          id: eventId,
          recipient: filterable(recipient),
          sender: filterable(sender),
          payload: payloads[index] ?? ""
        }))
        yield* write({ id: unread.id, authenticationResults, events })
        yield* feed.announce(unread.domainId)
      })

      const claim = SqlSchema.findAll({
        Request: Schema.Int,
        Result: Claimed,
        execute: (most) => sql`
          UPDATE inbound_emails SET leased_until = now() + interval '60 seconds', read_attempts = read_attempts + 1
          FROM domains
          WHERE domains.id = inbound_emails.domain_id AND inbound_emails.id IN (
            SELECT id FROM inbound_emails
            WHERE state = 'received' AND (leased_until IS NULL OR leased_until <= now())
            ORDER BY received_at
            LIMIT ${most}
            FOR UPDATE SKIP LOCKED
          )
          RETURNING inbound_emails.*, domains.name AS domain
        `
      })

      const readClaimed = ({ helo, mailFrom, readAttempts, remoteAddress, ...email }: typeof Claimed.Type) =>
        raw.get(rawRef(email.domainId, email.id)).pipe(
          // Somebody took the file away. What the envelope says is still an event.
          Effect.catchTag("NotFound", () => Effect.succeed(new Uint8Array())),
          Effect.flatMap((message) =>
            read({
              ...email,
              envelope: { from: mailFrom, helo, remoteAddress },
              attempt: readAttempts,
              message
            })
          ),
          Effect.annotateLogs({ inbound_email_id: email.id })
        )

      const readLeftOver = Effect.gen(function* () {
        const emails = yield* claim(16)
        yield* Effect.forEach(
          emails,
          (email) =>
            readClaimed(email).pipe(
              Effect.catchCause((cause) => Effect.logError("A message could not be read; it is tried again", cause))
            ),
          { discard: true, concurrency: "unbounded" }
        )
        return emails.length
      }).pipe(Effect.orDie, Effect.withSpan("Reader.readLeftOver"))

      const readHandedOver = Effect.gen(function* () {
        const unread = yield* Queue.take(handedOver)
        yield* read(unread).pipe(
          // Its lease runs out, and whoever finds it then reads it.
          Effect.catchCause((cause) => Effect.logError("A message could not be read; it is tried again", cause)),
          Effect.tap(() => Effect.sync(() => inHand.delete(unread.id))),
          Effect.ensuring(Effect.sync(() => (handedOverBytes -= unread.message.byteLength))),
          Effect.annotateLogs({ inbound_email_id: unread.id })
        )
      }).pipe(Effect.forever)
      yield* Effect.replicateEffect(Effect.forkScoped(readHandedOver), readAtOnce)

      return Reader.of({
        hasRoom: Effect.sync(() => handedOverBytes < mostHandedOverBytes),
        handOver: (unread) =>
          Effect.suspend(() => {
            handedOverBytes += unread.message.byteLength
            inHand.add(unread.id)
            return Effect.asVoid(Queue.offer(handedOver, unread))
          }),
        readLeftOver
      })
    })
  ).pipe(Layer.provide([NodeCrypto.layer, ParserThreads.layer]))
}

/** An address as lists are filtered by it: an entry of an index has a bound, an address has none. The payload has it whole. */
const filterable = (address: string) => HeaderText.clean(address.slice(0, 512))
