import { DateTime, Effect, Option } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { isUnreachable } from "../database/Database.ts"
import * as ClientNetwork from "../model/ClientNetwork.ts"
import type { DomainId } from "../model/Domain.ts"
import { type Envelope, type InboundEmailId, isObserved } from "../model/InboundEmail.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import type * as Place from "../providers/storage/Place.ts"
import * as InboundRows from "./InboundRows.ts"
import * as LostAnswer from "./LostAnswer.ts"
import { DemoFull, QuotaReached, type Recipient, SenderQuotaReached, UnknownDomain } from "./Recipient.ts"

/** The stored message of one domain. */
export interface CopyRow {
  readonly id: InboundEmailId
  readonly domainId: DomainId
  readonly recipients: ReadonlyArray<Recipient>
  /** Its position in the log. */
  readonly place: Place.Place | null
  readonly traceBytes: number
  readonly tls: string | null
}

/** A received message, with the copies to store. */
interface Message<A extends CopyRow> {
  readonly copies: ReadonlyArray<A>
  readonly envelope: Envelope
  readonly sha256: Uint8Array
  readonly receivedAt: DateTime.Utc
  /** Computes the key that recognizes a retry. Null for a message that is never treated as a retry. */
  readonly keyOf: ((domainId: DomainId, address: string) => Buffer) | null
  /** The header field with the verdicts of a simulated message. */
  readonly authenticationResults: string | null
  /** True if this process parses the message, and so leases it. */
  readonly isOurs: boolean
}

/** Maximum number of mails of a demo inbox. */
export const mailsPerDemo = 20

interface Unseen {
  readonly copy: CopyRow
  readonly recipients: ReadonlyArray<Recipient>
}

interface Limits {
  readonly emailsPerDay: number
  readonly emailsPerSender: number
}

/** The UTC day by the database's clock. */
const today = (sql: SqlClient.SqlClient) => sql.literal("(now() AT TIME ZONE 'UTC')::date")

/** Selects the recipients without this message so far. A concurrent duplicate waits for the first commit. */
const firstSeen = (sql: SqlClient.SqlClient, keys: ReadonlyArray<Uint8Array>, ids: ReadonlyArray<InboundEmailId>) =>
  sql<{ readonly key: Uint8Array }>`
    INSERT INTO received_once AS before (key, inbound_email_id, received_at)
    SELECT key, id, now() FROM unnest(${keys}::bytea[], ${ids}::uuid[]) AS new (key, id) ORDER BY key
    ON CONFLICT (key) DO UPDATE SET inbound_email_id = excluded.inbound_email_id, received_at = now()
    WHERE before.received_at < now() - make_interval(days => ${InboundRows.retryDays})
    RETURNING key
  `

/** Counts the message in each workspace. A fixed order prevents deadlocks between messages for the same workspaces. */
const reserve = (sql: SqlClient.SqlClient, workspaces: ReadonlyArray<WorkspaceId>, emailsPerDay: number) =>
  sql<{ readonly workspaceId: WorkspaceId }>`
    INSERT INTO daily_intake AS counted (workspace_id, day, accepted)
    SELECT workspace_id, ${today(sql)}, 1 FROM unnest(${workspaces}::uuid[]) AS reserving (workspace_id)
    ORDER BY workspace_id
    ON CONFLICT (workspace_id, day) DO UPDATE SET accepted = counted.accepted + 1
    WHERE counted.accepted < ${emailsPerDay}
    RETURNING workspace_id
  `

/** Counts the message of a client. After the workspaces, so that a client that sends to many does not block senders to others. */
const reserveOfSender = (sql: SqlClient.SqlClient, remoteAddress: string, emailsPerSender: number) =>
  sql`
    INSERT INTO client_limits AS counted (action, client, day, count)
    VALUES ('email', ${clientOf(remoteAddress)}, ${today(sql)}, 1)
    ON CONFLICT (action, client, day) DO UPDATE SET count = counted.count + 1
    WHERE counted.count < ${emailsPerSender}
    RETURNING count
  `

/** Counts one mail of a demo inbox. Concurrent messages wait here until the commit. */
const demoHasRoom = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, domainId: DomainId) {
  yield* sql`SELECT 1 FROM domains WHERE id = ${domainId} FOR NO KEY UPDATE`
  const full = yield* sql`
    SELECT 1 FROM inbound_emails WHERE domain_id = ${domainId} LIMIT 1 OFFSET ${mailsPerDemo - 1}
  `
  return full.length === 0
})

/** Inserts the rows, in one statement, because a transaction blocks all others on the embedded database. */
const insert = (
  sql: SqlClient.SqlClient,
  emails: ReadonlyArray<Unseen>,
  message: Omit<Message<CopyRow>, "copies" | "keyOf">
) => {
  const rows = emails.map(
    ({ copy, recipients }): InboundRows.InboundRow => ({
      id: copy.id,
      domainId: copy.domainId,
      recipients: JSON.stringify(recipients.map(({ address }) => printable(address))),
      key: null,
      sha256: message.sha256,
      receivedAt: DateTime.toEpochMillis(message.receivedAt),
      envelope: message.envelope,
      tls: copy.tls,
      isOurs: message.isOurs,
      place: copy.place,
      traceBytes: copy.traceBytes,
      authenticationResults: message.authenticationResults
    })
  )
  const recipients = sql`ARRAY(SELECT json_array_elements_text(recipients::json))`
  return sql`
    WITH ${InboundRows.welcome(sql, rows)} ${InboundRows.insert(sql, { recipients, source: sql`welcome` })}
  `
}

/** Selects the copies with recipients that had not received the message. */
const unseen = Effect.fnUntraced(function* <A extends CopyRow>(
  sql: SqlClient.SqlClient,
  { copies, keyOf }: Pick<Message<A>, "copies" | "keyOf">
) {
  const keyed =
    keyOf === null
      ? []
      : copies.flatMap(({ domainId, id, recipients }) =>
          recipients.map(({ address }) => ({ id, address, key: keyOf(domainId, address) }))
        )
  const fresh = new Set(
    keyed.length === 0
      ? []
      : (yield* firstSeen(
          sql,
          keyed.map(({ key }) => key),
          keyed.map(({ id }) => id)
        )).map(({ key }) => Buffer.from(key).toString("hex"))
  )
  const seen = new Set(keyed.flatMap(({ address, key }) => (fresh.has(key.toString("hex")) ? [] : [address])))
  return copies.flatMap((copy) => {
    const own = copy.recipients.filter(({ address }) => !seen.has(address))
    return own.length === 0 ? [] : [{ copy, recipients: own }]
  })
})

/** Counts the message in all quotas. Fails at the first one that is exhausted. */
const spend = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  emails: ReadonlyArray<Unseen>,
  envelope: Envelope,
  { emailsPerDay, emailsPerSender }: Limits
) {
  const workspaces = [
    ...new Set(emails.flatMap((email) => email.recipients.flatMap(({ workspaceId }) => workspaceId ?? [])))
  ]
  if (emailsPerDay > 0 && workspaces.length > 0) {
    const reserved = new Set((yield* reserve(sql, workspaces, emailsPerDay)).map(({ workspaceId }) => workspaceId))
    const full = workspaces.filter((id) => !reserved.has(id))
    if (full.length > 0) return yield* new QuotaReached({ limit: emailsPerDay, workspaceIds: full })
  }

  if (emailsPerSender > 0 && emails.length > 0 && isObserved(envelope)) {
    const counted = yield* reserveOfSender(sql, envelope.remoteAddress, emailsPerSender)
    if (counted.length === 0) return yield* new SenderQuotaReached({ limit: emailsPerSender })
  }

  const demos = emails.flatMap(({ copy, recipients }) =>
    recipients.some(({ workspaceId }) => workspaceId === null) ? [copy.domainId] : []
  )
  for (const domainId of demos.sort()) if (!(yield* demoHasRoom(sql, domainId))) return yield* new DemoFull()
})

/** Returns the copies with a new row, and the recipients that had not received the message. */
const write = Effect.fnUntraced(function* <A extends CopyRow>(
  sql: SqlClient.SqlClient,
  message: Message<A>,
  limits: Limits
) {
  const emails = yield* unseen(sql, message)
  yield* spend(sql, emails, message.envelope, limits)
  const inserted = emails.length === 0 ? [] : yield* insert(sql, emails, message)
  if (inserted.length < emails.length) return yield* new UnknownDomain()
  return emails
})

/**
 * Inserts the rows of unusual messages: several recipients, a demo inbox, a limit per client address, or a nearly
 * exhausted quota. All recipients get the message, or none.
 */
export const make = Effect.fnUntraced(function* (limits: Limits) {
  const sql = yield* SqlClient.SqlClient
  const find = yield* LostAnswer.make

  /** Finds the result of a `write` that committed without an answer. */
  const written = Effect.fnUntraced(function* <A extends CopyRow>(copies: ReadonlyArray<A>, lost: SqlError.SqlError) {
    const rows = new Map((yield* find(copies.map(({ id }) => id))).map((row) => [row.id, row.recipients]))
    if (rows.size === 0) return yield* lost
    return copies.flatMap((copy) => {
      const recipients = copy.recipients.filter(({ address }) => rows.get(copy.id)?.includes(printable(address)))
      return recipients.length === 0 ? [] : [{ copy, recipients }]
    })
  })

  return <A extends CopyRow>(message: Message<A>) =>
    Effect.catchTag(sql.withTransaction(write(sql, message, limits)), "SqlError", (error) =>
      isUnreachable(error) ? written(message.copies, error) : Effect.fail(error)
    )
})

/** The address or network by which Inlet counts a client. */
export const clientOf = (remoteAddress: string) =>
  Option.getOrElse(ClientNetwork.of(remoteAddress), () => remoteAddress)

/** Removes control characters. PostgreSQL text cannot contain NUL. */
export const printable = (text: string) => text.replace(/\p{Cc}/gu, "").toWellFormed()
