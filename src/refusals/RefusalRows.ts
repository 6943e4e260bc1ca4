import { hash } from "node:crypto"
import { DateTime, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import * as Columns from "../database/Columns.ts"
import type { DomainId } from "../model/Domain.ts"
import type { RefusalReason } from "../model/Refusal.ts"
import * as Uuid7 from "../model/Uuid7.ts"
import type { Noted } from "./RefusalBuffer.ts"
import type { Target } from "./RefusalTargets.ts"

/** Rows with details that a domain gets on a UTC day. Further refusals are only counted, an hour and reason in a row. */
export const mostRowsOfDay = 1_000

/** A row to write. */
interface Row {
  readonly domainId: DomainId
  readonly reason: RefusalReason
  readonly key: string
  readonly noted: Noted
  readonly hasDetails: boolean
  firstAt: number
  lastAt: number
  count: number
}

const date = (millis: number) => DateTime.toDateUtc(DateTime.makeUnsafe(millis))
const dayOf = (millis: number) => DateTime.formatIsoDateUtc(DateTime.makeUnsafe(millis))

/** What equal refusals have in common. */
const keyOf = ({ hasDetails, noted, reason }: Target): string => {
  const { client, code, from, messageId, recipient, relayed } = noted
  const parts = hasDetails
    ? [reason, code, client, from, recipient, messageId, ...(relayed ? ["relayed"] : [])]
    : [reason]
  return hash("sha256", JSON.stringify(parts), "hex").slice(0, 32)
}

/** Identifies a row by what its unique index has. */
const nameOf = ({ domainId, key, noted: { hour } }: Pick<Row, "domainId" | "key" | "noted">) =>
  `${domainId} ${hour} ${key}`

/** Merges targets to one row each, because a statement cannot update a row twice. */
const rowsOf = (targets: ReadonlyArray<Target>): ReadonlyArray<Row> => {
  const rows = new Map<string, Row>()
  for (const target of targets) {
    const { count, firstAt, lastAt } = target.noted
    const row: Row = { ...target, key: keyOf(target), firstAt, lastAt, count }
    const known = rows.get(nameOf(row))
    if (known === undefined) rows.set(nameOf(row), row)
    else {
      known.count += count
      known.firstAt = Math.min(known.firstAt, firstAt)
      known.lastAt = Math.max(known.lastAt, lastAt)
    }
  }
  return [...rows.values()]
}

/** Makes a function that writes refusals of domains. It keeps the bound of a domain's day. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  const newId = Uuid7.make((bytes) => Effect.runSync(random.randomBytes(bytes)))

  /** The names of rows that exist. */
  const existing = Effect.fnUntraced(function* (rows: ReadonlyArray<Row>) {
    const column = Columns.of(rows)
    const found = yield* sql<{ readonly domainId: DomainId; readonly hour: Date; readonly key: string }>`
      SELECT refusals.domain_id, refusals.hour, encode(refusals.key, 'hex') AS key
      FROM unnest(
        ${column("uuid", ({ domainId }) => domainId)},
        ${column("timestamptz", ({ noted }) => date(noted.hour))},
        ${column("bytea", ({ key }) => Buffer.from(key, "hex"))}
      ) AS asked (domain_id, hour, key)
      JOIN refusals ON refusals.domain_id = asked.domain_id AND refusals.hour = asked.hour AND refusals.key = asked.key
    `
    return new Set(found.map(({ domainId, hour, key }) => `${domainId} ${hour.getTime()} ${key}`))
  })

  /** The rows with details that the days of these domains have. */
  const detailsOf = Effect.fnUntraced(function* (rows: ReadonlyArray<Row>) {
    const days = new Map(rows.map((row) => [`${row.domainId} ${dayOf(row.noted.hour)}`, row]))
    const column = Columns.of([...days.values()])
    const found = yield* sql<{ readonly domainId: DomainId; readonly day: string; readonly details: number }>`
      SELECT asked.domain_id, asked.day, sum(details)::int AS details
      FROM unnest(
        ${column("uuid", ({ domainId }) => domainId)}, ${column("text", ({ noted }) => dayOf(noted.hour))}
      ) AS asked (domain_id, day)
      JOIN domain_day_refusals AS counted
        ON counted.domain_id = asked.domain_id AND counted.day = asked.day::date
      GROUP BY 1, 2
    `
    return new Map(found.map(({ day, details, domainId }) => [`${domainId} ${day}`, details]))
  })

  /** Takes the details off new rows beyond the bound of their day. Counts the new rows with details. */
  const bounded = (
    rows: ReadonlyArray<Row>,
    { details, known }: { readonly known: ReadonlySet<string>; readonly details: ReadonlyMap<string, number> }
  ) => {
    const used = new Map(details)
    const fresh = new Set<string>()
    const targets = rows.map((row): Target => {
      if (!row.hasDetails || known.has(nameOf(row))) return targetOf(row)
      const day = `${row.domainId} ${dayOf(row.noted.hour)}`
      const before = used.get(day) ?? 0
      if (before >= mostRowsOfDay) return { ...targetOf(row), hasDetails: false }
      used.set(day, before + 1)
      fresh.add(nameOf(row))
      return targetOf(row)
    })
    return rowsOf(targets).map((row) => ({ ...row, adds: fresh.has(nameOf(row)) ? 1 : 0 }))
  }

  const upsert = (rows: ReadonlyArray<Row & { readonly adds: number }>) => {
    const column = Columns.of(rows)
    const detail = (of: (noted: Noted) => unknown) => column("text", (row) => (row.hasDetails ? of(row.noted) : null))
    return sql`
      WITH input AS (
        SELECT * FROM unnest(
          ${column("uuid", ({ firstAt }) => newId(firstAt))},
          ${column("uuid", ({ domainId }) => domainId)},
          ${column("timestamptz", ({ noted }) => date(noted.hour))},
          ${column("bytea", ({ key }) => Buffer.from(key, "hex"))},
          ${column("timestamptz", ({ firstAt }) => date(firstAt))},
          ${column("timestamptz", ({ lastAt }) => date(lastAt))},
          ${column("int8", ({ count }) => BigInt(count))},
          ${column("int4", ({ noted }) => noted.code ?? 0)},
          ${column("text", ({ noted }) => noted.reply)},
          ${column("text", ({ reason }) => reason)},
          ${detail(({ client }) => client)},
          ${detail(({ helo }) => helo)},
          ${detail(({ from }) => from)},
          ${detail(({ recipient }) => recipient)},
          ${detail(({ subject }) => subject)},
          ${detail(({ messageId }) => messageId)},
          ${column("int8", ({ hasDetails, noted }) => (hasDetails && noted.bytes !== null ? BigInt(noted.bytes) : null))},
          ${column("bool", ({ hasDetails, noted }) => hasDetails && noted.relayed)},
          ${column("int4", ({ adds }) => adds)}
        ) AS input (
          id, domain_id, hour, key, first_at, last_at, count, code, reply, reason, client_address, helo, envelope_from,
          recipient, subject, message_id, bytes, relayed, adds
        )
      ), known AS (
        SELECT input.* FROM input JOIN domains ON domains.id = input.domain_id
        WHERE workspace_id IS NOT NULL
        -- Until the commit it can't be removed.
        FOR KEY SHARE OF domains
      ), counted AS (
        INSERT INTO domain_day_refusals AS counted (domain_id, day, reason, refused, details)
        SELECT domain_id, (hour AT TIME ZONE 'UTC')::date, reason, sum(count), sum(adds) FROM known
        GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        ON CONFLICT (domain_id, day, reason) DO UPDATE SET
          refused = counted.refused + excluded.refused, details = counted.details + excluded.details
      )
      INSERT INTO refusals AS before (
        id, domain_id, hour, key, first_at, last_at, count, code, reply, reason, client_address, helo, envelope_from,
        recipient, subject, message_id, bytes, relayed
      )
      SELECT id, domain_id, hour, key, first_at, last_at, count, code, reply, reason, client_address, helo,
        envelope_from, recipient, subject, message_id, bytes, relayed
      FROM known ORDER BY domain_id, hour, key
      ON CONFLICT (domain_id, hour, key) DO UPDATE SET
        count = before.count + excluded.count, last_at = greatest(before.last_at, excluded.last_at)
    `
  }

  return Effect.fnUntraced(function* (targets: ReadonlyArray<Target>) {
    if (targets.length === 0) return
    const rows = rowsOf(targets)
    yield* upsert(bounded(rows, { known: yield* existing(rows), details: yield* detailsOf(rows) }))
  })
})

/** The target of a merged row, with the row's own count and times. */
const targetOf = ({ count, domainId, firstAt, hasDetails, lastAt, noted, reason }: Row): Target => ({
  domainId,
  reason,
  hasDetails,
  noted: { ...noted, count, firstAt, lastAt }
})
