import { DateTime, Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient, SqlSchema } from "effect/sql"
import { DomainId, DomainName } from "../model/Domain.ts"
import { InboundEmailId, simulatedAddress } from "../model/InboundEmail.ts"
import { EventId, unauthenticated } from "../model/InboundEvent.ts"
import { RuleInForce } from "../model/SenderRule.ts"
import { SpamAction } from "../model/Spam.ts"
import * as Uuid7 from "../model/Uuid7.ts"
import { catchAll, catchAllOf, type Route } from "../model/Webhook.ts"
import { WorkspaceId } from "../model/Workspace.ts"
import * as Place from "../providers/storage/Place.ts"
import * as RulesInForce from "../trust/RulesInForce.ts"
import * as RouteColumn from "../webhooks/routes/RouteColumn.ts"
import * as Routes from "../webhooks/routes/Routes.ts"
import * as GivenVerdicts from "./GivenVerdicts.ts"
import { demoTenant, type Mail } from "./Mail.ts"

/** Messages claimed at once, of one domain, and of one tenant. */
const mostPerClaim = 16
const mostOfDomainPerClaim = 4
const mostOfTenantPerClaim = 8

const Unread = Schema.Struct({
  id: InboundEmailId,
  domainId: DomainId,
  domain: DomainName,
  workspaceId: Schema.NullOr(WorkspaceId),
  sha256: Schema.Uint8Array,
  mailFrom: Schema.String,
  helo: Schema.String,
  remoteAddress: Schema.String,
  relayed: Schema.Boolean,
  recipients: Schema.Array(Schema.String),
  readRecipients: Schema.Int,
  receivedAt: Schema.DateTimeUtcFromDate,
  readAttempts: Schema.Int,
  traceBytes: Schema.Int,
  routes: RouteColumn.RouteColumn,
  rules: Schema.NullOr(Schema.Array(RuleInForce)),
  spamAction: SpamAction,
  authenticationResults: Schema.NullOr(Schema.String),
  ...Place.columns
})

/** Ends the leases of readers that no longer exist. */
export const endLeases = (sql: SqlClient.SqlClient) =>
  sql`UPDATE inbound_emails SET leased_until = now() WHERE state = 'received' AND leased_until > now()`

/** True if a message is not read. The order selects the index of unread messages. */
export const unreadOne = (sql: SqlClient.SqlClient) =>
  sql`SELECT true FROM inbound_emails WHERE state = 'received' ORDER BY domain_id LIMIT 1`

/** The route of a domain without a catch-all, which only direct SQL removes. The event is held, as of a removed webhook. */
const goneCatchAll = (domainId: DomainId): Route => ({
  id: catchAllOf(domainId),
  pattern: catchAll,
  action: "hold",
  kinds: null
})

const claimRows = (sql: SqlClient.SqlClient) =>
  SqlSchema.findAll({
    Request: Schema.Array(Schema.String),
    Result: Unread,
    // The oldest messages of each tenant in turn. The outer condition is evaluated again for rows that another reader
    // claimed meanwhile.
    execute: (except) => sql`
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
          row_number() OVER (PARTITION BY domains.workspace_id ORDER BY mail.received_at) AS number
        FROM waiting JOIN domains ON domains.id = waiting.domain_id
          AND coalesce(domains.workspace_id::text, ${demoTenant}) <> ALL(${except}::text[])
        CROSS JOIN LATERAL (
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
        WHERE id = ANY(ARRAY(
          SELECT id FROM candidate WHERE number <= ${mostOfTenantPerClaim} ORDER BY number, received_at
          LIMIT ${mostPerClaim}
        ))
          -- A subquery, so that the planner looks rows up by id instead of reading the index of all unread mail.
          AND state = (SELECT 'received') AND (leased_until IS NULL OR leased_until <= now())
        FOR UPDATE SKIP LOCKED
      ))
      RETURNING inbound_emails.*, domains.name AS domain, domains.workspace_id, ${RouteColumn.of(sql)} AS routes,
        ${RulesInForce.column(sql)} AS rules, domains.spam_action
    `
  })

/** Makes the claim of messages that are stored and not read, and that no process holds a lease of. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  const newId = Uuid7.make((bytes) => Effect.runSync(random.randomBytes(bytes)))

  const rows = claimRows(sql)

  const mailOf = (row: typeof Unread.Type) => {
    const routes = RouteColumn.read(row.routes)
    const recipients: Array<Mail["recipients"][number]> = []
    for (const address of row.recipients.slice(row.readRecipients)) {
      const route = Routes.match(routes, Routes.localPartOf(address)) ?? goneCatchAll(row.domainId)
      // With the time of the mail, so that the ids of a mail and of all that follows from it are of one day.
      recipients.push({ eventId: EventId.make(newId(Uuid7.timeOf(row.id))), address, route })
    }
    const { authenticationResults, helo, mailFrom, readAttempts, receivedAt, relayed, remoteAddress } = row
    const mail: Omit<Mail, "bytes"> = {
      id: row.id,
      domainId: row.domainId,
      domain: row.domain,
      workspaceId: row.workspaceId,
      envelope: { from: mailFrom, helo, remoteAddress, ...(relayed ? { relayed } : {}) },
      recipients,
      readRecipients: row.readRecipients,
      receivedAt: DateTime.toEpochMillis(receivedAt),
      sha256: row.sha256,
      traceBytes: row.traceBytes,
      rules: row.rules ?? [],
      spamAction: row.spamAction,
      verdicts:
        remoteAddress === simulatedAddress
          ? (GivenVerdicts.verdictsIn(authenticationResults) ?? unauthenticated)
          : null,
      message: undefined,
      storedMs: null,
      place: Place.ofColumns(row),
      attempt: readAttempts
    }
    return mail
  }

  /** Leases up to 16 messages of other tenants to this process for 60 s, and counts a read attempt of each. */
  return (except: ReadonlyArray<string>) => Effect.map(rows(except), (claimed) => claimed.map(mailOf))
})
