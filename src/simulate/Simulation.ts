import { Clock, Context, DateTime, type Duration, Effect, Layer, Option, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { canonical } from "../domains/DomainNames.ts"
import * as BriefEvent from "../events/BriefEvent.ts"
import { EventNews } from "../events/EventNews.ts"
import type { Arrival } from "../intake/Copies.ts"
import { memoryFull, type Share } from "../intake/DataMemory.ts"
import * as EnvelopeAddress from "../intake/EnvelopeAddress.ts"
import { Intake, type IntakeError } from "../intake/Intake.ts"
import * as AuthorAddress from "../mime/AuthorAddress.ts"
import { Conflict, Invalid, TooLarge, TooManyRequests, Unavailable } from "../model/ApiError.ts"
import type { DeliveryStatus } from "../model/Delivery.ts"
import type { DomainId, DomainName } from "../model/Domain.ts"
import { InboundEmailId, simulatedAddress } from "../model/InboundEmail.ts"
import { type Authentication, unauthenticated } from "../model/InboundEvent.ts"
import * as Settings from "../Settings.ts"
import * as Composer from "./Composer.ts"
import type { Draft } from "./Sample.ts"

/** The recipient of a simulated mail. */
export interface Inbox {
  readonly domainId: DomainId
  readonly domain: DomainName
}

type Refusal = Invalid | Conflict | TooLarge | TooManyRequests | Unavailable

/** Maximum bytes of the header to search for the author. */
const longestHeader = 64 * 1024

/** Accepts mail through the API instead of SMTP. It takes the same path as other mail. */
export class Simulation extends Context.Service<
  Simulation,
  {
    /** Stores a raw message. Returns its id, or that of an earlier copy. */
    receive(
      inbox: Inbox,
      mail: {
        readonly message: Uint8Array
        readonly recipient?: string | undefined
        /** The envelope sender, by default the author. */
        readonly from?: string | undefined
        readonly authentication?: Partial<Authentication> | undefined
        /** Keeps the memory of the message reserved until its write ends. */
        readonly keep?: Share["keep"] | undefined
      }
    ): Effect.Effect<InboundEmailId, Refusal | SqlError>
    /** Composes a message. `reserve` requests memory for its bytes. */
    compose(
      inbox: Inbox,
      draft: (recipient: string) => Draft,
      options: { readonly recipient?: string | undefined; readonly reserve: (bytes: number) => boolean }
    ): Effect.Effect<Uint8Array, Refusal>
    /** The brief events of a message as JSON, once it is parsed, or none on timeout. */
    events(
      inbox: Inbox,
      id: InboundEmailId,
      time: Duration.Duration
    ): Effect.Effect<Option.Option<ReadonlyArray<string>>, SqlError>
  }
>()("inlet/simulate/Simulation") {
  static readonly layer = Layer.effect(
    Simulation,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const random = yield* SecureRandom.SecureRandom
      const intake = yield* Intake
      const news = yield* EventNews
      const { messageBytes } = yield* Settings.smtp

      const checkSize = (bytes: number) =>
        bytes > messageBytes
          ? new TooLarge({
              message: `The message has ${bytes} bytes. The limit is ${messageBytes} (MAX_MESSAGE_BYTES)`
            })
          : Effect.void

      const receive = Effect.fn("Simulation.receive")(function* (
        inbox: Inbox,
        { authentication, from, keep, message, recipient }: Parameters<Simulation["Service"]["receive"]>[1]
      ) {
        yield* checkSize(message.byteLength)
        const address = yield* addressIn(inbox, recipient)
        const sender = from === undefined ? authorOf(message) : addressOf(from)
        if (from !== undefined && sender !== "" && !EnvelopeAddress.isValid(sender)) {
          return yield* new Invalid({
            message: "from: Expected an address such as ada@example.com, or an empty text for the null sender"
          })
        }
        const envelope = {
          from: sender,
          helo: simulatedAddress,
          remoteAddress: simulatedAddress
        }
        const admitted = yield* Effect.catch(intake.admit(address, envelope), refusalOf(inbox))
        const id = InboundEmailId.make(yield* random.uuidV7())
        const arrival: Arrival = {
          envelope,
          recipients: [admitted],
          transmission: "HTTP",
          simulated: { id, authentication: { ...unauthenticated, ...authentication } },
          message: {
            byteLength: message.byteLength,
            copyInto: (target, offset) => target.set(message, offset),
            ...(keep === undefined ? {} : { keep })
          }
        }
        const [key = null] = yield* Effect.catch(intake.receive(arrival), refusalOf(inbox))
        const [known] = yield* sql<{ readonly id: InboundEmailId }>`
          SELECT inbound_email_id AS id FROM received_once WHERE key = ${key}
        `
        return known?.id ?? id
      })

      const compose = Effect.fn("Simulation.compose")(function* (
        inbox: Inbox,
        draft: (recipient: string) => Draft,
        { recipient, reserve }: Parameters<Simulation["Service"]["compose"]>[2]
      ) {
        const to = yield* addressIn(inbox, recipient)
        const made = draft(to)
        const author = addressOf(made.from)
        const bytes = yield* Composer.compose(made, {
          to,
          messageId: `<${yield* random.uuidV7()}@${author.slice(author.lastIndexOf("@") + 1) || "simulate.example"}>`,
          date: DateTime.toDateUtc(DateTime.makeUnsafe(yield* Clock.currentTimeMillis))
        })
        yield* checkSize(bytes.byteLength)
        if (!reserve(bytes.byteLength)) return yield* memoryFull
        return bytes
      })

      const briefEvents = (inbox: Inbox, id: InboundEmailId) =>
        Effect.map(
          sql<{ readonly payload: string; readonly status: DeliveryStatus }>`
            SELECT events.payload, deliveries.status
            FROM events JOIN deliveries ON deliveries.event_id = events.id
            WHERE events.inbound_email_id = ${id} AND events.domain_id = ${inbox.domainId}
            ORDER BY events.position
          `,
          (rows) => rows.map(({ payload, status }) => BriefEvent.render(payload, status))
        )

      const events: Simulation["Service"]["events"] = Effect.fn("Simulation.events")(function* (inbox, id, time) {
        return yield* news.of(inbox.domainId).pipe(
          Stream.mapEffect(() => briefEvents(inbox, id)),
          Stream.filter((brief) => brief.length > 0),
          Stream.runHead,
          Effect.timeoutOption(time),
          Effect.map(Option.flatten)
        )
      })

      return Simulation.of({ receive, compose, events })
    })
  ).pipe(Layer.provide(EventNews.layer))
}

/** The recipient, which must be at this domain. */
const addressIn = ({ domain }: Inbox, recipient = `inbox@${domain}`) =>
  EnvelopeAddress.isValid(recipient) && canonical(recipient.slice(recipient.lastIndexOf("@") + 1)) === domain
    ? Effect.succeed(recipient)
    : new Invalid({ message: `recipient: Expected an address at ${domain}, such as inbox@${domain}` })

/** `Ada <ada@example.com>` or only the address. */
const addressOf = (mailbox: string) => (/<([^<>]*)>\s*$/.exec(mailbox)?.[1] ?? mailbox).trim()

const authorOf = (message: Uint8Array) => AuthorAddress.of(message.subarray(0, longestHeader)) ?? ""

/** Converts SMTP refusals to API errors: 550 is 409, 452 is 429, 451 is 503. */
const refusalOf = ({ domainId }: Inbox) =>
  Effect.fnUntraced(function* (error: IntakeError) {
    switch (error._tag) {
      case "UnknownDomain":
      case "DisabledDomain":
        return yield* new Conflict({
          message: `This address takes no mail. GET /api/domains/${domainId} shows the domain's status`
        })
      case "RejectedRoute":
        return yield* new Conflict({
          message: `The webhook ${error.pattern} rejects mail for this recipient. Choose another recipient, or change its action. GET /api/domains/${domainId}/webhooks lists it`
        })
      case "SenderRejected":
        return yield* new Conflict({
          message: `A sender rule of the domain rejects this envelope sender. Choose another \`from\`, or remove the rule. GET /api/domains/${domainId}/sender-rules lists it`
        })
      case "MailLoop":
        return yield* new Conflict({ message: "Too many Received fields: the message is in a mail loop" })
      case "QuotaReached":
      case "SenderQuotaReached":
        return yield* new TooManyRequests({
          message: `${error.limit} messages arrived today, which is the daily limit. Retry after midnight UTC`,
          retryAfter: secondsToMidnight(yield* Clock.currentTimeMillis)
        })
      case "DemoFull":
        return yield* new TooManyRequests({
          message: "This demo inbox has reached its limit of mails. Create a workspace for more",
          retryAfter: daySeconds
        })
      case "NotStored":
        yield* Effect.logError("A simulated message could not be stored", error)
        return yield* new Unavailable({ message: "The message could not be stored. Retry" })
    }
  })

const daySeconds = 86_400

const secondsToMidnight = (millis: number) => daySeconds - (Math.floor(millis / 1_000) % daySeconds)
