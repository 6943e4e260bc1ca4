import { Cause, Context, DateTime, type Duration, Effect, Exit, Fiber, FiberSet, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import * as HeaderText from "../mime/HeaderText.ts"
import { DomainId, DomainName } from "../model/Domain.ts"
import { type Envelope, InboundEmailId, rawRef } from "../model/InboundEmail.ts"
import { EventId } from "../model/InboundEvent.ts"
import * as Place from "../providers/storage/Place.ts"
import { RawStore } from "../providers/storage/RawStore.ts"
import * as EventWriter from "./EventWriter.ts"
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

/** Messages in hand that are not read yet; beyond this the table hands them out later. */
const mostBytesInHand = 64 * 1024 * 1024

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
  readAttempts: Schema.Int,
  ...Place.columns
})

/** A message that is being read in this process. */
export interface Reading {
  readonly unread: Unread
  readonly fiber: Fiber.Fiber<EventWriter.ReadMessage>
}

/** Turns stored messages into events: one for every recipient, in one transaction with their deliveries. */
export class Reader extends Context.Service<
  Reader,
  {
    /** Whether one more message can be read with its bytes in hand; otherwise the table keeps it for any reader. */
    readonly hasRoom: Effect.Effect<boolean>
    /** Begins to read a message, in this process. */
    begin(unread: Unread): Effect.Effect<Reading>
    /** What has been read, where that is known within this time. */
    finished(reading: Reading, time: Duration.Input): Effect.Effect<EventWriter.ReadMessage | undefined>
    /** Writes the events once it is read. The row of the message is leased to us. */
    handOver(reading: Reading): Effect.Effect<void>
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
      const threads = yield* ParserThreads
      yield* threads.warmUp
      const write = yield* EventWriter.make
      const inHand = new Set<InboundEmailId>()
      let bytesInHand = 0

      // Runs after the fibers have stopped: what they did not finish is anybody's at once.
      yield* Effect.addFinalizer(() =>
        Effect.ignore(
          inHand.size === 0
            ? Effect.void
            : sql`UPDATE inbound_emails SET leased_until = NULL WHERE id = ANY(${[...inHand]}::uuid[]) AND state = 'received'`
        )
      )
      const fork = yield* FiberSet.makeRuntime()

      const read = Effect.fn("Reader.read")(function* (unread: Unread) {
        const recipients: Array<{ readonly eventId: EventId; readonly recipient: string }> = []
        for (const recipient of unread.recipients) {
          recipients.push({ eventId: EventId.make(yield* random.uuidV7()), recipient })
        }
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
        const done: EventWriter.ReadMessage = {
          id: unread.id,
          domainId: unread.domainId,
          authenticationResults,
          events: recipients.map(({ eventId, recipient }, index) => ({
            id: eventId,
            recipient: filterable(recipient),
            sender: filterable(sender),
            payload: payloads[index] ?? ""
          }))
        }
        return done
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
        raw.get(rawRef(email.domainId, email.id), Place.ofColumns(email)).pipe(
          // The bytes were taken away. What the envelope says is still an event.
          Effect.catchTag("NotFound", () => Effect.succeed(new Uint8Array())),
          Effect.flatMap((message) =>
            read({
              ...email,
              envelope: { from: mailFrom, helo, remoteAddress },
              attempt: readAttempts,
              message
            })
          ),
          Effect.flatMap(write),
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

      const begin = (unread: Unread) =>
        Effect.sync(() => {
          const bytes = unread.message.byteLength
          bytesInHand += bytes
          const fiber = fork(
            Effect.ensuring(
              read(unread),
              Effect.sync(() => (bytesInHand -= bytes))
            )
          )
          return { unread, fiber }
        })

      const finished = ({ fiber }: Reading, time: Duration.Input) => {
        const known = fiber.pollUnsafe()
        const exit = known === undefined ? Effect.timeoutOption(Fiber.await(fiber), time) : Effect.succeedSome(known)
        // A failure is told by whoever hands it over.
        return Effect.map(exit, (exit) => Option.getOrUndefined(Option.flatMap(exit, Exit.getSuccess)))
      }

      const handOver = ({ fiber, unread }: Reading) =>
        Effect.sync(() => {
          inHand.add(unread.id)
          fork(
            Effect.flatMap(Fiber.join(fiber), write).pipe(
              // Its lease runs out, and whoever finds it then reads it.
              Effect.tapCause((cause) =>
                Cause.hasInterrupts(cause)
                  ? Effect.void
                  : Effect.logError("A message could not be read; it is tried again", cause)
              ),
              Effect.onExit((exit) =>
                Effect.sync(() => {
                  if (!Exit.hasInterrupts(exit)) inHand.delete(unread.id)
                })
              ),
              Effect.annotateLogs({ inbound_email_id: unread.id })
            )
          )
        })

      return Reader.of({
        hasRoom: Effect.sync(() => bytesInHand < mostBytesInHand),
        begin,
        finished,
        handOver,
        readLeftOver
      })
    })
  ).pipe(Layer.provide(ParserThreads.layer))
}

/** An address as lists are filtered by it: an entry of an index has a bound, an address has none. The payload has it whole. */
const filterable = (address: string) => HeaderText.clean(address.slice(0, 512))
