import { Clock, Context, DateTime, Effect, Exit, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import * as HeaderText from "../mime/HeaderText.ts"
import { DomainId, DomainName } from "../model/Domain.ts"
import { InboundEmailId, rawRef, simulatedAddress } from "../model/InboundEmail.ts"
import { EventId, unauthenticated } from "../model/InboundEvent.ts"
import { WorkspaceId } from "../model/Workspace.ts"
import * as Place from "../providers/storage/Place.ts"
import { RawStore } from "../providers/storage/RawStore.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import * as EventWriter from "./EventWriter.ts"
import * as GivenVerdicts from "./GivenVerdicts.ts"
import type { Mail } from "./Mail.ts"
import { MailsInHand } from "./MailsInHand.ts"
import { ParserThreads } from "./ParserThreads.ts"
import type { ReadTask } from "./ReadTask.ts"
import * as StoredMessage from "./StoredMessage.ts"

/** A message that took two processes with it is not parsed a third time, and hardly looked at a fifth time. */
const mostParses = 2
const mostLooks = 4

/** Messages claimed at once, and of one domain. */
const mostPerClaim = 16
const mostOfDomainPerClaim = 4

/**
 * The lease of a message is 60 s. It is extended while the message waits for a thread, but not for ever: a message
 * that a fault keeps here is read by another process.
 */
const renewEvery = "20 seconds"
const longestInHandMilliseconds = 600_000

/** Demo inboxes share the parser threads as one tenant. */
const demoTenant = "demo"

/** Whose processor time the reading of a mail uses. */
export const tenantOf = ({ workspaceId }: Pick<Mail, "workspaceId">): string => workspaceId ?? demoTenant

const Unread = Schema.Struct({
  id: InboundEmailId,
  domainId: DomainId,
  domain: DomainName,
  workspaceId: Schema.NullOr(WorkspaceId),
  sha256: Schema.Uint8Array,
  mailFrom: Schema.String,
  helo: Schema.String,
  remoteAddress: Schema.String,
  recipients: Schema.Array(Schema.String),
  receivedAt: Schema.DateTimeUtcFromDate,
  readAttempts: Schema.Int,
  traceBytes: Schema.NullOr(Schema.Int),
  authenticationResults: Schema.NullOr(Schema.String),
  ...Place.columns
})

/** Turns stored messages into events: one for every recipient, written together with their deliveries. */
export class Reader extends Context.Service<
  Reader,
  {
    /** Whether one more message of this workspace can be read with its bytes in hand. Otherwise the table keeps it for any reader. */
    hasRoom(of: Pick<Mail, "workspaceId">): boolean
    /** Reads a message whose row is committed and leased to us, and writes its events. */
    read(mail: Mail): void
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
      const context = yield* Effect.context()
      const run = Effect.runForkWith(context)
      const clock = yield* Clock.Clock
      const inHand = new MailsInHand()

      // Runs after the writer has stopped: what has no events is anybody's at once.
      yield* Effect.addFinalizer(() =>
        Effect.ignore(
          inHand.isEmpty
            ? Effect.void
            : sql`
                UPDATE inbound_emails SET leased_until = NULL
                WHERE id = ANY(${inHand.ids()}::uuid[]) AND state = ${"received"}
              `
        )
      )
      yield* BackgroundLoop.every(
        renewEvery,
        "The leases of messages that wait to be read could not be extended",
        Effect.suspend(() => {
          const ids = inHand.ids({ since: clock.currentTimeMillisUnsafe() - longestInHandMilliseconds })
          if (ids.length === 0) return Effect.void
          return Effect.asVoid(sql`
            UPDATE inbound_emails SET leased_until = now() + interval '60 seconds'
            WHERE id = ANY(${ids}::uuid[]) AND state = ${"received"} AND leased_until > now()
              AND leased_until < now() + interval '45 seconds'
          `)
        })
      )
      const write = yield* EventWriter.make

      const load = (mail: Mail) =>
        StoredMessage.load(raw, mail).pipe(
          // Somebody took the file away, or damaged it. What the envelope says is still an event.
          Effect.catchTag(["NotFound", "Damaged"], () => Effect.succeed(new Uint8Array()))
        )

      const trouble = (mail: Mail, reason: unknown) =>
        void run(
          Effect.annotateLogs(Effect.logError("A message could not be read; it is tried again", reason), {
            inbound_email_id: mail.id
          })
        )

      const taskOf = ({
        attempt,
        domain,
        domainId,
        envelope,
        id,
        receivedAt,
        recipients,
        sha256,
        verdicts
      }: Mail): ReadTask => ({
        kind: "read",
        depth: attempt > mostLooks ? "nothing" : attempt > mostParses ? "headers" : "full",
        inboundEmailId: id,
        rawRef: rawRef(domainId, id),
        domain,
        envelope,
        recipients,
        receivedAt: DateTime.formatIso(DateTime.makeUnsafe(receivedAt)),
        sha256,
        verdicts
      })

      /** Its lease runs out when there is trouble, and whoever finds it then reads it. */
      const begin = (mail: Mail, message: Uint8Array, done: () => void) => {
        const tenant = tenantOf(mail)
        inHand.enter(tenant, mail, clock.currentTimeMillisUnsafe())
        mail.message = undefined
        const end = (reason?: unknown) => {
          if (reason !== undefined) trouble(mail, reason)
          inHand.leave(tenant, mail)
          done()
        }
        threads.read(tenant, taskOf(mail), message, {
          reload: (then) =>
            void run(
              Effect.map(Effect.exit(load(mail)), (exit) => then(Exit.isSuccess(exit) ? exit.value : undefined))
            ),
          fail: end,
          answer: ({ authenticationResults, payloads, sender, subject, threadId, traits }) =>
            write(
              {
                id: mail.id,
                domainId: mail.domainId,
                authenticationResults,
                events: mail.recipients.map(({ address, eventId }, index) => ({
                  id: eventId,
                  recipient: filterable(address),
                  sender: filterable(sender),
                  subject: HeaderText.clean(subject),
                  traits,
                  threadId,
                  payload: payloads[index] ?? new Uint8Array()
                }))
              },
              end
            )
        })
      }

      const claim = SqlSchema.findAll({
        Request: Schema.Int,
        Result: Unread,
        // The oldest messages of each domain, one domain after the other. The outer condition is looked at again for a row
        // that another reader has claimed meanwhile.
        execute: (most) => sql`
          WITH RECURSIVE waiting AS (
            (SELECT domain_id FROM inbound_emails WHERE state = 'received' ORDER BY domain_id LIMIT 1)
            UNION ALL
            SELECT (
              SELECT domain_id FROM inbound_emails
              WHERE state = 'received' AND domain_id > waiting.domain_id ORDER BY domain_id LIMIT 1
            ) FROM waiting WHERE waiting.domain_id IS NOT NULL
          ), candidate AS (
            -- The mail of a domain that is gone is about to be removed.
            SELECT mail.id, mail.received_at,
              row_number() OVER (PARTITION BY waiting.domain_id ORDER BY mail.received_at) AS number
            FROM waiting JOIN domains ON domains.id = waiting.domain_id CROSS JOIN LATERAL (
              SELECT id, received_at FROM inbound_emails
              WHERE domain_id = waiting.domain_id AND state = 'received'
                AND (leased_until IS NULL OR leased_until <= now())
              ORDER BY received_at LIMIT ${mostOfDomainPerClaim}
            ) AS mail
          )
          UPDATE inbound_emails SET leased_until = now() + interval '60 seconds', read_attempts = read_attempts + 1
          FROM domains
          WHERE domains.id = inbound_emails.domain_id AND inbound_emails.id = ANY(ARRAY(
            SELECT id FROM inbound_emails
            WHERE id = ANY(ARRAY(SELECT id FROM candidate ORDER BY number, received_at LIMIT ${most}))
              -- A subquery, so that the planner looks rows up by id instead of reading the index of all unread mail.
              AND state = (SELECT 'received') AND (leased_until IS NULL OR leased_until <= now())
            FOR UPDATE SKIP LOCKED
          ))
          RETURNING inbound_emails.*, domains.name AS domain, domains.workspace_id
        `
      })

      const readClaimed = Effect.fnUntraced(function* (row: typeof Unread.Type) {
        const recipients: Array<Mail["recipients"][number]> = []
        for (const address of row.recipients) {
          recipients.push({ eventId: EventId.make(yield* random.uuidV7()), address })
        }
        const {
          authenticationResults,
          domain,
          domainId,
          workspaceId,
          helo,
          id,
          mailFrom,
          readAttempts,
          receivedAt,
          remoteAddress,
          sha256,
          traceBytes
        } = row
        const about = {
          id,
          domainId,
          domain,
          workspaceId,
          envelope: { from: mailFrom, helo, remoteAddress },
          recipients,
          receivedAt: DateTime.toEpochMillis(receivedAt),
          sha256,
          traceBytes,
          verdicts:
            remoteAddress === simulatedAddress
              ? (GivenVerdicts.verdictsIn(authenticationResults) ?? unauthenticated)
              : null,
          message: undefined,
          place: Place.ofColumns(row),
          attempt: readAttempts
        }
        // No reader was lost with it while its bytes can't be had: it is read as deeply as before once they can.
        const message = yield* Effect.tapErrorTag(
          load({ ...about, bytes: 0 }),
          "RawStoreError",
          () => sql`
            UPDATE inbound_emails SET read_attempts = read_attempts - 1
            WHERE id = ${id} AND read_attempts = ${readAttempts} AND state = ${"received"}
          `
        )
        yield* Effect.callback<void>((resume) =>
          begin({ ...about, bytes: message.byteLength }, message, () => resume(Effect.void))
        )
      })

      const readLeftOver = Effect.gen(function* () {
        const rows = yield* claim(mostPerClaim)
        yield* Effect.forEach(
          rows,
          (row) =>
            readClaimed(row).pipe(
              Effect.catchCause((cause) => Effect.logError("A message could not be read; it is tried again", cause)),
              Effect.annotateLogs({ inbound_email_id: row.id })
            ),
          { discard: true, concurrency: "unbounded" }
        )
        return rows.length
      }).pipe(Effect.orDie, Effect.withSpan("Reader.readLeftOver"))

      return Reader.of({
        hasRoom: (mail) => inHand.hasRoom(tenantOf(mail)),
        read: (mail) => {
          if (mail.message !== undefined) begin(mail, mail.message, () => undefined)
        },
        readLeftOver
      })
    })
  ).pipe(Layer.provide(ParserThreads.layer))
}

/** An address as lists are filtered by it: an entry of an index has a bound, an address has none. The payload has it whole. */
const filterable = (address: string) => HeaderText.clean(address.slice(0, 512))
