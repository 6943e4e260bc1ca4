import { createHash } from "node:crypto"
import { NodeCrypto } from "@effect/platform-node"
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { isUnreachable } from "../Database.ts"
import { canonical } from "../domains/DomainNames.ts"
import * as ClientNetwork from "../model/ClientNetwork.ts"
import { type DomainId, DomainName } from "../model/Domain.ts"
import * as HeaderBlock from "../model/HeaderBlock.ts"
import { type Envelope, InboundEmailId, rawRef } from "../model/InboundEmail.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as Patience from "../Patience.ts"
import { RawStore } from "../providers/RawStore.ts"
import { Reader } from "../reading/Reader.ts"
import * as Settings from "../Settings.ts"
import * as InboundEmails from "./InboundEmails.ts"
import * as TraceFields from "./TraceFields.ts"

/** The domain is not one that takes mail here: unknown, unverified, disabled or deleted. */
export class UnknownDomain extends Schema.TaggedError<UnknownDomain>()("UnknownDomain", {}) {}

/** The workspace has had its messages for today. */
export class QuotaReached extends Schema.TaggedError<QuotaReached>()("QuotaReached", { limit: Schema.Int }) {}

/** The client has sent its messages for today. */
export class SenderQuotaReached extends Schema.TaggedError<SenderQuotaReached>()("SenderQuotaReached", {
  limit: Schema.Int
}) {}

/** The demo inbox has had all the mails it takes. */
export class DemoFull extends Schema.TaggedError<DemoFull>()("DemoFull", {}) {}

/** The message has been through so many servers that it must be going round. */
export class MailLoop extends Schema.TaggedError<MailLoop>()("MailLoop", {}) {}

/** We could not keep the message, so the sender must. */
export class NotKept extends Schema.TaggedError<NotKept>()("NotKept", { cause: Schema.Defect() }) {}

export type IntakeError = UnknownDomain | QuotaReached | SenderQuotaReached | DemoFull | MailLoop | NotKept

/** A recipient that was answered 250. */
export interface Recipient {
  /** The local part as sent, the domain in canonical form. */
  readonly address: string
  readonly domain: DomainName
  readonly domainId: DomainId
  /** Null for a demo inbox. */
  readonly workspaceId: WorkspaceId | null
}

/** As many Received fields mean a loop (RFC 5321, section 6.3, wants a large bound). */
const loopReceivedFields = 50

/** A message may come back to us once, through a customer who forwards it. Not again. */
const ownReceivedFields = 2

/** Mails a demo inbox takes in its life. */
const mailsPerDemo = 20

/** The door of the service: decides who gets mail, and never says yes before it is safe. */
export class Intake extends Context.Service<
  Intake,
  {
    /** Whose mail this is. The address is whatever the client typed. */
    admit(address: string): Effect.Effect<Recipient, UnknownDomain | QuotaReached | DemoFull | NotKept>
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
      const sql = yield* SqlClient.SqlClient
      const random = yield* SecureRandom.SecureRandom
      const raw = yield* RawStore
      const reader = yield* Reader
      const { mxHost } = yield* Settings.platform
      const { emailsPerDay, emailsPerSender } = yield* Settings.limits
      const insert = yield* InboundEmails.make({ emailsPerDay })

      const today = sql.literal("(now() AT TIME ZONE 'UTC')::date")

      const admit = Effect.fn("Intake.admit")(
        function* (address: string) {
          const at = address.lastIndexOf("@")
          const name = canonical(address.slice(at + 1))
          if (at < 1 || name === undefined || isRoute(address.slice(0, at))) return yield* new UnknownDomain()
          const [row] = yield* sql<{
            readonly id: DomainId
            readonly workspaceId: WorkspaceId | null
            readonly accepted: number
            readonly demoMails: number | null
          }>`
          SELECT domains.id, domains.workspace_id, coalesce(daily_intake.accepted, 0) AS accepted,
            CASE WHEN domains.origin = 'demo' THEN (
              SELECT count(*)::integer FROM inbound_emails WHERE domain_id = domains.id
            ) END AS demo_mails
          FROM domains
          LEFT JOIN daily_intake ON daily_intake.workspace_id = domains.workspace_id AND daily_intake.day = ${today}
          WHERE domains.name = ${name} AND domains.verified_at IS NOT NULL
            AND domains.status IN ('mx_pending', 'verified', 'live')
            AND (domains.origin <> 'demo' OR EXISTS (
              SELECT 1 FROM demo_sessions WHERE domain_id = domains.id AND expires_at > now()
            ))
        `
          if (row === undefined) return yield* new UnknownDomain()
          if (emailsPerDay > 0 && row.accepted >= emailsPerDay) return yield* new QuotaReached({ limit: emailsPerDay })
          if (row.demoMails !== null && row.demoMails >= mailsPerDemo) return yield* new DemoFull()
          return {
            address: `${address.slice(0, at)}@${name}`,
            domain: DomainName.make(name),
            domainId: row.id,
            workspaceId: row.workspaceId
          }
        },
        Effect.catchTag("SqlError", notKept),
        inTime
      )

      /** Which of these have not been received before. A concurrent twin waits here for the first to commit. */
      const firstSeen = (keys: ReadonlyArray<Uint8Array>, ids: ReadonlyArray<InboundEmailId>) =>
        sql<{ readonly key: Uint8Array }>`
          INSERT INTO received_once AS before (key, inbound_email_id, received_at)
          SELECT key, id, now() FROM unnest(${keys}::bytea[], ${ids}::uuid[]) AS new (key, id) ORDER BY key
          ON CONFLICT (key) DO UPDATE SET inbound_email_id = excluded.inbound_email_id, received_at = now()
          WHERE before.received_at < now() - make_interval(days => ${InboundEmails.retryDays})
          RETURNING key
        `

      const reserve = (workspaceId: WorkspaceId) =>
        sql`
          INSERT INTO daily_intake AS counted (workspace_id, day, accepted) VALUES (${workspaceId}, ${today}, 1)
          ON CONFLICT (workspace_id, day) DO UPDATE SET accepted = counted.accepted + 1
          WHERE counted.accepted < ${emailsPerDay}
          RETURNING accepted
        `

      // After the workspaces: whoever sends to many of them must not hold up those who wait for another.
      const reserveOfSender = (remoteAddress: string) =>
        sql`
          INSERT INTO client_limits AS counted (action, client, day, count)
          VALUES ('email', ${Option.getOrElse(ClientNetwork.of(remoteAddress), () => remoteAddress)}, ${today}, 1)
          ON CONFLICT (action, client, day) DO UPDATE SET count = counted.count + 1
          WHERE counted.count < ${emailsPerSender}
          RETURNING count
        `

      /** Whether a demo inbox takes one more; until the commit the others wait here. */
      const demoHasRoom = Effect.fnUntraced(function* (domainId: DomainId) {
        yield* sql`SELECT 1 FROM domains WHERE id = ${domainId} FOR NO KEY UPDATE`
        const full = yield* sql`
          SELECT 1 FROM inbound_emails WHERE domain_id = ${domainId} LIMIT 1 OFFSET ${mailsPerDemo - 1}
        `
        return full.length === 0
      })

      const receive: Intake["Service"]["receive"] = Effect.fn("Intake.receive")(
        function* (options) {
          const { envelope, message, recipients, transmission } = options
          const fields = HeaderBlock.fields(message)
          const hops = fields.filter(({ name }) => isNamed(name, "received"))
          const own = hops.filter(({ value }) => TraceFields.isBy(mxHost, value))
          if (hops.length >= loopReceivedFields || own.length >= ownReceivedFields) return yield* new MailLoop()

          const receivedAt = yield* DateTime.now
          const sha256 = createHash("sha256").update(message).digest()
          const handOver = yield* reader.hasRoom
          // Two spellings of one domain name one mailbox.
          const mailboxes = new Map(recipients.map((recipient) => [recipient.address, recipient])).values()
          const copies = yield* Effect.forEach(
            Map.groupBy(mailboxes, ({ domainId }) => domainId),
            ([domainId, own]) =>
              Effect.map(random.uuidV7(), (uuid) => ({ id: InboundEmailId.make(uuid), domainId, recipients: own }))
          )

          // Bytes first, row second: a crash in between leaves an orphan that the sweeper takes, never a row without its mail.
          const stored = yield* Effect.forEach(
            copies,
            (copy) => {
              const trace = TraceFields.render({
                id: copy.id,
                envelope,
                recipients: copy.recipients.map(({ address }) => address),
                mxHost,
                receivedAt,
                transmission
              })
              const bytes = [Buffer.from(trace), message]
              return Effect.as(raw.put(rawRef(copy.domainId, copy.id), bytes), { ...copy, bytes })
            },
            { concurrency: "unbounded" }
          )

          const hasId = fields.some(({ name }) => isNamed(name, "message-id"))
          const [only] = stored
          const [recipient] = only?.recipients ?? []

          /** The usual message: one recipient, and nothing to count but the workspace's day. */
          const together =
            stored.length !== 1 ||
            only?.recipients.length !== 1 ||
            recipient === undefined ||
            recipient.workspaceId === null ||
            emailsPerSender > 0
              ? Effect.succeed("apart" as const)
              : insert({
                  id: only.id,
                  domainId: only.domainId,
                  recipient: printable(recipient.address),
                  key: hasId ? keyOf(only.domainId, recipient.address, sha256) : null,
                  sha256,
                  receivedAt,
                  envelope: { ...envelope, from: printable(envelope.from), helo: printable(envelope.helo) },
                  handOver
                }).pipe(
                  // One of the others, or a quota that is nearly full: by itself it is told exactly.
                  Effect.catchIf(
                    (error) => !isUnreachable(error),
                    () => Effect.succeed("apart" as const)
                  )
                )

          const byItself = Effect.gen(function* () {
            // A message without a Message-ID can't be told from one that was sent twice on purpose.
            const keyed = hasId
              ? stored.flatMap((copy) =>
                  copy.recipients.map(({ address }) => ({
                    id: copy.id,
                    address,
                    key: keyOf(copy.domainId, address, sha256)
                  }))
                )
              : []
            const fresh = new Set(
              keyed.length === 0
                ? []
                : (yield* firstSeen(
                    keyed.map(({ key }) => key),
                    keyed.map(({ id }) => id)
                  )).map(({ key }) => Buffer.from(key).toString("hex"))
            )
            const seen = new Set(keyed.flatMap(({ address, key }) => (fresh.has(key.toString("hex")) ? [] : [address])))
            const emails = stored.flatMap((copy) => {
              const own = copy.recipients.filter(({ address }) => !seen.has(address))
              return own.length === 0 ? [] : [{ ...copy, recipients: own }]
            })

            // In one order, so that two messages to the same two workspaces can't wait for each other.
            const workspaces = [
              ...new Set(emails.flatMap((email) => email.recipients.flatMap(({ workspaceId }) => workspaceId ?? [])))
            ].sort()
            for (const workspaceId of emailsPerDay > 0 ? workspaces : []) {
              if ((yield* reserve(workspaceId)).length === 0) return yield* new QuotaReached({ limit: emailsPerDay })
            }

            if (emailsPerSender > 0 && emails.length > 0) {
              const counted = yield* reserveOfSender(envelope.remoteAddress)
              if (counted.length === 0) return yield* new SenderQuotaReached({ limit: emailsPerSender })
            }

            const demos = emails.flatMap(({ domainId, recipients }) =>
              recipients.some(({ workspaceId }) => workspaceId === null) ? [domainId] : []
            )
            for (const domainId of demos.sort()) if (!(yield* demoHasRoom(domainId))) return yield* new DemoFull()

            return yield* Effect.forEach(emails, (email) =>
              Effect.gen(function* () {
                const inserted = yield* sql`
                INSERT INTO inbound_emails (
                  id, domain_id, received_at, sha256, mail_from, helo, remote_address, recipients,
                  state, read_attempts, leased_until
                )
                SELECT
                  ${email.id}, id, ${DateTime.toDateUtc(receivedAt)}, ${sha256}, ${printable(envelope.from)},
                  ${printable(envelope.helo)}, ${envelope.remoteAddress},
                  ${email.recipients.map(({ address }) => printable(address))}::text[],
                  'received', ${handOver ? 1 : 0}, ${handOver ? sql`now() + make_interval(secs => ${InboundEmails.leaseSeconds})` : null}
                FROM domains
                WHERE id = ${email.domainId} AND status IN ('mx_pending', 'verified', 'live')
                RETURNING id
              `
                return inserted.length === 0 ? yield* new UnknownDomain() : email
              })
            )
          })

          const commit = Effect.flatMap(together, (acceptance) => {
            if (acceptance === "gone") return new UnknownDomain()
            return acceptance === "apart"
              ? sql.withTransaction(byItself)
              : Effect.succeed(acceptance === "kept" ? stored : [])
          })
          const kept = yield* commit.pipe(
            // Known to be rolled back. After a failure of the database nobody knows, and the sweeper finds out.
            Effect.tapErrorTag(["QuotaReached", "SenderQuotaReached", "DemoFull", "UnknownDomain"], () =>
              discard(stored)
            ),
            // The others' mail must not bounce because one domain has just left: the retry is without it.
            Effect.mapError((error) =>
              error._tag === "UnknownDomain" && stored.length > 1 ? notKept("a recipient's domain has left") : error
            )
          )
          yield* discard(stored.filter(({ id }) => !kept.some((email) => email.id === id)))
          if (!handOver) return
          for (const email of kept) {
            const [first] = email.recipients
            if (first === undefined) continue
            yield* reader.handOver({
              id: email.id,
              domainId: email.domainId,
              domain: first.domain,
              sha256,
              envelope,
              recipients: email.recipients.map(({ address }) => address),
              receivedAt,
              attempt: 1,
              message: Buffer.concat(email.bytes)
            })
          }
        },
        Effect.catchTag(["SqlError", "RawStoreError"], notKept),
        inTime
      )

      const discard = (copies: ReadonlyArray<{ readonly domainId: DomainId; readonly id: InboundEmailId }>) =>
        Effect.forEach(copies, ({ domainId, id }) => Effect.ignore(raw.remove(rawRef(domainId, id))), { discard: true })

      return Intake.of({ admit, receive })
    })
  ).pipe(Layer.provide(NodeCrypto.layer))
}

const isNamed = (name: string, expected: string) => name.length === expected.length && name.toLowerCase() === expected

const notKept = (cause: unknown) => new NotKept({ cause })

/** A database or a store that hangs must not hold up the sender: it is told to come back. */
const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.timeoutOrElse(Patience.ofRequest(effect), {
    duration: "8 seconds",
    orElse: () => notKept("no answer within 8 seconds")
  })

/** `user%host.example` asks to be relayed to that host (RFC 1123, section 5.2.16), and nothing is relayed here. */
const isRoute = (localPart: string) => /%[^%]+\.[^%]+$/.test(localPart)

const keyOf = (domainId: DomainId, recipient: string, sha256: Uint8Array) =>
  createHash("sha256").update(`${domainId}\n${recipient}\n`).update(sha256).digest()

/** PostgreSQL has no NUL in text, and an envelope has no use for any control character. */
const printable = (text: string) => text.replace(/\p{Cc}/gu, "").toWellFormed()
