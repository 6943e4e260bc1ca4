import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import * as RecipientPattern from "../database/RecipientPattern.ts"
import * as TimeRange from "../events/TimeRange.ts"
import type { DomainId } from "../model/Domain.ts"
import type { KeyLimit } from "../model/KeyLimit.ts"
import * as MessageKey from "../model/MessageKey.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import type * as TraceCursor from "./TraceCursor.ts"
import * as UnreadSearch from "./UnreadSearch.ts"

/** Mails that a search without an index compares, in all domains together, and at least this many in each. */
export const mostCompared = 5_000
const leastOfDomain = 100

/** Mails beyond a page that are read, because they are found in the order of their parsing. */
const beyondPage = 50

/** Mails that parsers overtake each other by, at most. */
const outOfOrder = 25

/** The workspace whose mail is searched, as far as the key may see it, or all mail, for the operator. */
export type Scope = { readonly workspaceId: WorkspaceId; readonly limit: KeyLimit | null } | "all"

/** What is searched. Everything is compared without case. */
export interface Wanted {
  readonly messageId?: string | undefined
  /** The address of the author or of the envelope sender, or its domain. */
  readonly from?: string | undefined
  /** The address of the envelope recipient. */
  readonly to?: string | undefined
  /** Contained in the subject. */
  readonly subject?: string | undefined
  readonly since?: DateTime.Utc | undefined
  readonly until?: DateTime.Utc | undefined
  /** Only mail to local parts that this pattern takes, for a key with a limit. */
  readonly only?: string | undefined
  /** Only what comes after it, in the order of entries. Its time is not before `until`. */
  readonly behind?: TraceCursor.Place | undefined
}

/** An event, or a stored message without events. */
export interface FoundMail {
  readonly kind: "event" | "unread"
  readonly id: string
  readonly receivedAt: Date
}

export interface Found {
  readonly mails: ReadonlyArray<FoundMail>
  /** The search compared no mail that was received at this time or earlier. Null if it compared all. */
  readonly cut: Date | null
}

type Row = { readonly cut: Date | null } & (FoundMail | { readonly kind: null })

/** Searches mail by index, or among a bounded number of the newest. */
export const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const columns = sql`id, inbound_email_id, sender, recipient, subject, received_at, read_at, position`

  const times = ({ since, until }: Wanted) => [
    ...(since === undefined ? [] : [sql`received_at >= ${DateTime.toDateUtc(since)}`]),
    ...(until === undefined ? [] : [sql`received_at <= ${DateTime.toDateUtc(until)}`])
  ]

  const matching = ({ from, only, subject, to }: Wanted) =>
    sql.and([
      sql`true`,
      ...(only === undefined ? [] : [RecipientPattern.takes(sql, only, sql`recipient`)]),
      ...(to === undefined ? [] : [sql`lower(recipient) = lower(${to})`]),
      ...(subject === undefined ? [] : [sql`position(lower(${subject}) IN lower(subject)) > 0`]),
      ...(from === undefined
        ? []
        : [
            sql`(${UnreadSearch.isFrom(sql)(sql`sender`, from)} OR EXISTS (
              SELECT 1 FROM inbound_emails WHERE inbound_emails.id = inbound_email_id AND ${UnreadSearch.isFrom(sql)(sql`mail_from`, from)}
            ))`
          ])
    ])

  const isStray = sql`abs(extract(epoch FROM read_at - received_at)) > 60`

  /** The newest events of each domain within the times. Positions follow the time of parsing, not of receipt. */
  const walk = (
    domainIds: ReadonlyArray<DomainId>,
    wanted: Wanted,
    { most, number, where }: { readonly most: number; readonly number: number; readonly where: ReadonlyArray<Fragment> }
  ) => {
    const { since, until } = wanted
    const earlier =
      since === undefined
        ? undefined
        : TimeRange.around(
            sql,
            sql`scope.id`,
            sql`${DateTime.toDateUtc(DateTime.subtract(since, { minutes: TimeRange.slackMinutes }))}::timestamptz`
          )
    const later =
      until === undefined
        ? undefined
        : TimeRange.around(
            sql,
            sql`scope.id`,
            sql`${DateTime.toDateUtc(DateTime.add(until, { minutes: TimeRange.slackMinutes }))}::timestamptz`
          )
    return sql`
      SELECT ${sql.literal(`${number}`)} AS walk, scope.id AS domain_id, walked.*
      FROM unnest(${domainIds}::uuid[]) AS scope (id)
      ${earlier === undefined ? sql`` : sql`CROSS JOIN LATERAL ${earlier} AS earlier`}
      ${later === undefined ? sql`` : sql`CROSS JOIN LATERAL ${later} AS later`}
      CROSS JOIN LATERAL (
        SELECT ${columns} FROM events
        WHERE ${sql.and([
          sql`domain_id = scope.id`,
          ...where,
          ...times(wanted),
          ...(earlier === undefined ? [] : [sql`position > earlier.low`]),
          ...(later === undefined ? [] : [sql`position < later.high`])
        ])}
        ORDER BY position DESC LIMIT ${sql.literal(`${most}`)}
      ) AS walked
    `
  }

  /** The few events that were parsed long after their receipt are not where their time is looked for. */
  const strays = (domainIds: ReadonlyArray<DomainId>, wanted: Wanted, number: number, most: number) => sql`
    SELECT ${sql.literal(`${number}`)} AS walk, scope.id AS domain_id, walked.*
    FROM unnest(${domainIds}::uuid[]) AS scope (id)
    CROSS JOIN LATERAL (
      SELECT ${columns} FROM events
      WHERE ${sql.and([sql`domain_id = scope.id`, isStray, ...times(wanted)])}
      ORDER BY position DESC LIMIT ${sql.literal(`${most}`)}
    ) AS walked
  `

  /** The events with this Message-ID. */
  const byMessage = (messageId: string, domainIds: ReadonlyArray<DomainId> | "all", most: number) => {
    const found = (where: Fragment) => sql`
      SELECT ${columns} FROM events WHERE message_key = ${MessageKey.of(messageId)} AND ${where}
      LIMIT ${sql.literal(`${most}`)}
    `
    return domainIds === "all"
      ? found(sql`true`)
      : sql`
        SELECT walked.* FROM unnest(${domainIds}::uuid[]) AS scope (id)
        CROSS JOIN LATERAL (${found(sql`domain_id = scope.id`)}) AS walked
      `
  }

  const endOf = ({ until }: Wanted) =>
    until === undefined ? sql`'infinity'::timestamptz` : sql`${DateTime.toDateUtc(until)}::timestamptz`

  /** How far back walks that ended at their limit went, and always further than the walk before. */
  const cutOf = (wanted: Wanted, most: { readonly events: number; readonly unread: number }) => sql`
    SELECT max(reached) AS cut FROM (
      SELECT CASE
        WHEN min(read_at) < ${endOf(wanted)} THEN min(read_at)
        -- Mail of a backlog is parsed nearly in the order of its receipt.
        ELSE least(
          max(received_at) FILTER (WHERE number <= ${sql.literal(`${outOfOrder}`)}),
          ${endOf(wanted)} - interval '1 millisecond'
        )
      END AS reached
      FROM (
        SELECT *, row_number() OVER (PARTITION BY walk, domain_id ORDER BY position) AS number FROM walked
      ) AS numbered
      GROUP BY walk, domain_id HAVING count(*) >= ${sql.literal(`${most.events}`)}
      UNION ALL
      SELECT least(min(received_at), ${endOf(wanted)} - interval '1 millisecond')
      FROM waiting GROUP BY domain_id HAVING count(*) >= ${sql.literal(`${most.unread}`)}
    ) AS ended
  `

  const statement = (parts: {
    readonly walked: Fragment
    /** Messages that wait to be read. */
    readonly waiting: Fragment
    readonly cut: Fragment
    readonly wanted: Wanted
    readonly limit: number
  }) => sql<Row>`
    WITH walked AS MATERIALIZED (${parts.walked}), waiting AS MATERIALIZED (${parts.waiting}), bound AS (${parts.cut}),
    found AS (
      SELECT DISTINCT 'event' AS kind, walked.id, received_at FROM walked
      WHERE ${sql.and([matching(parts.wanted), ...times(parts.wanted)])}
      UNION ALL SELECT 'unread', id, received_at FROM waiting WHERE ${UnreadSearch.matching(sql, parts.wanted)}
    )
    SELECT bound.cut, newest.kind, newest.id, newest.received_at
    FROM bound LEFT JOIN (
      SELECT * FROM found ${behind(parts.wanted)} ORDER BY received_at DESC, id DESC LIMIT ${parts.limit}
    ) AS newest ON true
  `

  const behind = ({ behind: place }: Wanted) =>
    place === undefined
      ? sql``
      : sql`WHERE (received_at, id) < (${DateTime.toDateUtc(place.at)}::timestamptz, ${place.id}::uuid)`

  const none = sql`
    SELECT NULL::uuid AS domain_id, NULL::uuid AS id, NULL::timestamptz AS received_at, NULL::text AS mail_from,
      NULL::text[] AS recipients
    WHERE false
  `
  const uncut = sql`SELECT NULL::timestamptz AS cut`

  const ofDomains = (domainIds: ReadonlyArray<DomainId>, wanted: Wanted, limit: number) => {
    const { from, messageId, only, subject, to, until } = wanted
    const isCompared = from !== undefined || subject !== undefined || (only !== undefined && to === undefined)
    const compared = Math.max(leastOfDomain, Math.ceil(mostCompared / Math.max(1, domainIds.length)))
    const most = isCompared ? compared : limit + beyondPage
    if (messageId !== undefined) {
      const walked = byMessage(messageId, domainIds, mostCompared)
      return statement({ walked, waiting: none, cut: uncut, wanted, limit })
    }
    const recipient = to === undefined ? [] : [sql`lower(recipient) = lower(${to})`]
    const inStep = until === undefined ? [] : [sql`NOT ${isStray}`]
    const walks = [
      walk(domainIds, wanted, { number: 1, most, where: [...recipient, ...inStep] }),
      ...(until === undefined ? [] : [strays(domainIds, wanted, 2, most)]),
      // The author has an index. The envelope sender, which is mostly the same, has none.
      ...(from?.includes("@") && to === undefined
        ? [walk(domainIds, wanted, { number: 3, most, where: [sql`lower(sender) = lower(${from})`, ...inStep] })]
        : [])
    ]
    return statement({
      walked: sql.join(" UNION ALL ", false)(walks.map((one) => sql`(${one})`)),
      waiting:
        subject === undefined ? UnreadSearch.walk(sql, domainIds, { most: compared, times: times(wanted) }) : none,
      cut: cutOf(wanted, { events: most, unread: compared }),
      wanted,
      limit
    })
  }

  /** For the operator: over all domains, among the newest messages. */
  const ofAll = (wanted: Wanted, limit: number) => {
    const { messageId } = wanted
    if (messageId !== undefined) {
      return statement({ walked: byMessage(messageId, "all", mostCompared), waiting: none, cut: uncut, wanted, limit })
    }
    const newest = sql`
      SELECT id, received_at, mail_from, recipients, state FROM inbound_emails
      WHERE ${sql.and([sql`true`, ...times(wanted)])}
      ORDER BY received_at DESC LIMIT ${sql.literal(`${mostCompared}`)}
    `
    return statement({
      walked: sql`
        SELECT events.id, inbound_email_id, sender, recipient, subject, events.received_at, read_at
        FROM (${newest}) AS mail JOIN events ON events.inbound_email_id = mail.id
      `,
      waiting:
        wanted.subject === undefined
          ? sql`
            SELECT mail.id, mail.received_at, mail_from, recipients FROM (${newest}) AS mail
            JOIN domains ON domains.id = (SELECT domain_id FROM inbound_emails WHERE inbound_emails.id = mail.id)
            WHERE state = 'received'
          `
          : none,
      cut: sql`
        SELECT CASE WHEN count(*) >= ${sql.literal(`${mostCompared}`)} THEN least(
          min(received_at), ${endOf(wanted)} - interval '1 millisecond'
        ) END AS cut
        FROM (${newest}) AS mail
      `,
      wanted,
      limit
    })
  }

  return (scope: ReadonlyArray<DomainId> | "all", wanted: Wanted, limit: number): Effect.Effect<Found, SqlError> =>
    Effect.map(scope === "all" ? ofAll(wanted, limit) : ofDomains(scope, wanted, limit), (rows) => {
      const cut = rows[0]?.cut ?? null
      return {
        cut,
        mails: rows.flatMap(({ cut: _, ...row }) => (row.kind === null ? [] : [row]))
      }
    })
})
