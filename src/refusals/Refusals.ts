import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import * as Bugs from "../database/Bugs.ts"
import type { Invalid } from "../model/ApiError.ts"
import { type Domain, DomainId, DomainName } from "../model/Domain.ts"
import * as MessageKey from "../model/MessageKey.ts"
import * as Page from "../model/Page.ts"
import { RefusalId, RefusalReason, remedyOf } from "../model/Refusal.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as RefusalFilters from "./RefusalFilters.ts"
import * as RefusalText from "./RefusalText.ts"

const nullable = (description: string) => Schema.NullOr(Schema.String).annotate({ description })

/** Refusals as the API shows them. */
export const Refusal = Schema.Struct({
  id: RefusalId,
  domain_id: DomainId,
  domain: DomainName,
  reason: RefusalReason,
  remedy: Schema.String.annotate({ description: "what to do about it" }),
  code: Schema.Int.annotate({ description: "the code of the SMTP reply" }),
  reply: Schema.String.annotate({ description: "the SMTP reply" }),
  count: Schema.Int.annotate({ description: "equal refusals within the hour" }),
  first_at: Schema.DateTimeUtcFromString,
  last_at: Schema.DateTimeUtcFromString,
  client_address: nullable("the sending server. Null in an entry that counts further refusals of an hour"),
  helo: nullable("the name that the sending server gave"),
  relayed: Schema.Boolean.annotate({
    description: "true if a relay sent it to the ingest route, and named `client_address` and `helo`"
  }),
  from: nullable("the envelope sender. Before the domain is verified, without its local part"),
  recipient: nullable("before the domain is verified, without its local part"),
  subject: nullable("null before DATA"),
  message_id: nullable("null before DATA"),
  bytes: Schema.NullOr(Schema.Int).annotate({ description: "size of the message as far as known" })
}).annotate({ identifier: "Refusal" })
export type Refusal = typeof Refusal.Type

const Row = Schema.Struct({
  id: RefusalId,
  domainId: DomainId,
  name: DomainName,
  isVerified: Schema.Boolean,
  reason: RefusalReason,
  code: Schema.Int,
  reply: Schema.String,
  count: Schema.FiniteFromString,
  firstAt: Schema.DateTimeUtcFromDate,
  lastAt: Schema.DateTimeUtcFromDate,
  clientAddress: Schema.NullOr(Schema.String),
  helo: Schema.NullOr(Schema.String),
  relayed: Schema.Boolean,
  envelopeFrom: Schema.NullOr(Schema.String),
  recipient: Schema.NullOr(Schema.String),
  subject: Schema.NullOr(Schema.String),
  messageId: Schema.NullOr(Schema.String),
  bytes: Schema.NullOr(Schema.FiniteFromString)
})

export interface Search extends Omit<RefusalFilters.Filter, "reason"> {
  /** The workspace whose domains are searched, or all of them, for the operator. */
  readonly scope: { readonly workspaceId: WorkspaceId } | "all"
  /** Only these of its domains. */
  readonly domainIds?: ReadonlyArray<DomainId> | undefined
  /** Compared without case and angle brackets. */
  readonly messageId?: string | undefined
  /** The domain of the envelope sender. */
  readonly fromDomain?: string | undefined
  /** Contained in the subject, compared without case. */
  readonly subject?: string | undefined
  /** Only refusals with a lower id, and so older ones. */
  readonly before?: string | undefined
  readonly limit: number
}

/** The newest refusals that a search without an index compares, in all domains together. */
const mostCompared = 2_000

/** Reads the refused mail of domains. */
export class Refusals extends Context.Service<
  Refusals,
  {
    /** Newest first, by the time of the first of equal ones. `cursor` is the last id of the previous page. */
    list(
      domainId: DomainId,
      filter: RefusalFilters.Filter,
      page: { readonly limit: number; readonly cursor?: string | undefined }
    ): Effect.Effect<Page.Page<Refusal>, Invalid | SqlError>
    /** What was refused since this time, as a sentence without its period. Null if nothing was. */
    during(
      domain: Pick<Domain, "id">,
      since: DateTime.Utc,
      only: string | undefined
    ): Effect.Effect<string | null, SqlError>
    /**
     * Over several domains, newest first. A search by subject or the sender's domain compares a limited number, none of
     * the time of `cut` and before.
     */
    search(
      search: Search
    ): Effect.Effect<{ readonly refusals: ReadonlyArray<Refusal>; readonly cut: DateTime.Utc | null }, SqlError>
  }
>()("inlet/refusals/Refusals") {
  static readonly layer = Layer.effect(
    Refusals,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const shown = sql`
        refusals.id, refusals.domain_id, domains.name, domains.verified_at IS NOT NULL AS is_verified, reason, code,
        reply, count::text AS count, first_at, last_at, client_address, helo, envelope_from, recipient, subject,
        message_id, bytes::text AS bytes, relayed
      `

      const run = (execute: Effect.Effect<ReadonlyArray<unknown>, SqlError>) =>
        Effect.map(
          Bugs.die(SqlSchema.findAll({ Request: Schema.Void, Result: Row, execute: () => execute })()),
          (rows) => rows.map(toRefusal)
        )

      const { conditions, isSeen } = RefusalFilters.make(sql)

      const known = Effect.fnUntraced(function* (domainId: DomainId, cursor: string) {
        const rows = Schema.is(RefusalId)(cursor)
          ? yield* sql`SELECT 1 FROM refusals WHERE domain_id = ${domainId} AND id = ${cursor}`
          : []
        if (rows.length === 0) return yield* Page.noSuchCursor
        return cursor
      })

      const list: Refusals["Service"]["list"] = Effect.fn("Refusals.list")(function* (
        domainId,
        filter,
        { cursor, limit }
      ) {
        const before = cursor === undefined ? [] : [sql`refusals.id < ${yield* known(domainId, cursor)}`]
        const where = sql.and([sql`refusals.domain_id = ${domainId}`, ...conditions(filter), ...before])
        if (filter.only !== undefined) return yield* listSeen(where, filter.only, limit)
        const items = yield* run(sql`
          SELECT ${shown} FROM refusals JOIN domains ON domains.id = refusals.domain_id
          WHERE ${where} ORDER BY refusals.id DESC LIMIT ${limit + 1}
        `)
        return Page.of(items, limit)
      })

      /** Compares a limited number of the newest. The cursor then is the last one compared, and may be of another. */
      const listSeen = Effect.fnUntraced(function* (where: Fragment, only: string, limit: number) {
        const newest = sql`(SELECT * FROM refusals WHERE ${where} ORDER BY refusals.id DESC LIMIT ${mostCompared})`
        const items = yield* run(sql`
          SELECT ${shown} FROM ${newest} AS refusals JOIN domains ON domains.id = refusals.domain_id
          WHERE ${sql.and(isSeen(only))} ORDER BY refusals.id DESC LIMIT ${limit + 1}
        `)
        if (items.length > limit) return Page.of(items, limit)
        const [end] = yield* sql<{ readonly id: RefusalId }>`
          SELECT id FROM ${newest} AS refusals ORDER BY id DESC OFFSET ${mostCompared - 1} LIMIT 1
        `
        const last = items.at(-1)
        // Refusals that were stored since the first statement move the end toward newer ones.
        const hasMoved = end !== undefined && last !== undefined && last.id < end.id
        return { items, nextCursor: (hasMoved ? last : end)?.id ?? null }
      })

      /** The rows of a domain, or of all, that match by index. */
      const newest = (
        {
          before,
          messageId,
          most,
          ...filter
        }: RefusalFilters.Filter & Pick<Search, "before" | "messageId"> & { readonly most: number },
        domain: ReadonlyArray<Fragment>
      ): Fragment => {
        const filtered = [
          sql`true`,
          ...conditions(filter),
          ...(before === undefined ? [] : [sql`refusals.id < ${before}::uuid`])
        ]
        const select = (where: ReadonlyArray<Fragment>) => sql`
          SELECT refusals.* FROM refusals WHERE ${sql.and([...domain, ...filtered, ...where])}
          ORDER BY refusals.id DESC LIMIT ${most}
        `
        if (messageId === undefined) return select([])
        // One after the other, because for either of them PostgreSQL would read all rows of the domain.
        const plain = MessageKey.canonical(messageId)
        const spelled = (text: string) =>
          domain.length > 0
            ? select([sql`lower(message_id) = ${text}`])
            : sql`
              SELECT * FROM (
                SELECT * FROM refusals WHERE ${sql.and([sql`lower(message_id) = ${text}`, ...filtered])} OFFSET 0
              ) AS same ORDER BY id DESC LIMIT ${most}
            `
        return sql`(${spelled(plain)}) UNION ALL (${spelled(`<${plain}>`)})`
      }

      const search: Refusals["Service"]["search"] = Effect.fn("Refusals.search")(function* (asked) {
        const { domainIds, fromDomain, limit, only, scope, subject, ...byIndex } = asked
        const compared = [
          ...isSeen(only),
          ...(subject === undefined ? [] : [sql`position(lower(${subject}) IN lower(refusals.subject)) > 0`]),
          ...(fromDomain === undefined
            ? []
            : [sql`lower(substring(refusals.envelope_from FROM '[^@]*$')) = lower(${fromDomain})`])
        ]
        const most =
          compared.length === 0 ? limit : Math.max(limit, Math.ceil(mostCompared / Math.max(1, domainIds?.length ?? 1)))
        // Each domain's newest by its own index, or for the operator the newest of all.
        const found =
          scope === "all" && domainIds === undefined
            ? sql`(${newest({ ...byIndex, most }, [])}) AS refusals JOIN domains ON domains.id = refusals.domain_id`
            : sql`
              domains CROSS JOIN LATERAL (
                ${newest({ ...byIndex, most }, [sql`refusals.domain_id = domains.id`])}
              ) AS refusals
            `
        const owned = [
          sql`true`,
          ...(scope === "all" ? [] : [sql`workspace_id = ${scope.workspaceId}`]),
          ...(domainIds === undefined ? [] : [sql`domains.id = ANY(${domainIds}::uuid[])`])
        ]
        const refusals = yield* run(sql`
          SELECT ${shown} FROM ${found} WHERE ${sql.and([...owned, ...compared])}
          ORDER BY refusals.id DESC LIMIT ${limit}
        `)
        if (compared.length === 0) return { refusals, cut: null }
        const [ended] = yield* sql<{ readonly cut: Date | null }>`
          SELECT max(reached) AS cut FROM (
            SELECT min(first_at) AS reached FROM ${found} WHERE ${sql.and(owned)}
            ${domainIds === undefined ? sql`` : sql`GROUP BY refusals.domain_id`} HAVING count(*) >= ${most}
          ) AS ended
        `
        return { refusals, cut: ended?.cut == null ? null : DateTime.fromDateUnsafe(ended.cut) }
      })

      const during: Refusals["Service"]["during"] = Effect.fn("Refusals.during")(function* ({ id }, since, only) {
        const start = DateTime.toDateUtc(since)
        const rows = yield* sql<{ readonly reason: RefusalReason; readonly refused: number }>`
          -- Of a row that began earlier, one at least is of this time.
          SELECT reason, sum(CASE WHEN first_at >= ${start} THEN count ELSE 1 END)::float8 AS refused
          FROM refusals JOIN domains ON domains.id = refusals.domain_id
          WHERE ${sql.and([sql`refusals.domain_id = ${id}`, ...conditions({ since }), ...isSeen(only)])}
          GROUP BY reason ORDER BY refused DESC
        `
        const total = rows.reduce((sum, { refused }) => sum + refused, 0)
        if (total === 0) return null
        const place = only === undefined ? "this domain" : only
        const mails = total === 1 ? `1 mail for ${place} was` : `${total} mails for ${place} were`
        return `${mails} refused in this time: ${rows.map(({ reason }) => reason).join(", ")}`
      })

      return Refusals.of({ list, during, search })
    })
  )
}

/** A workspace that has not proven that it holds the domain does not see whose mail was refused. */
const toRefusal = ({ envelopeFrom, isVerified, recipient, ...row }: typeof Row.Type): Refusal => {
  const visible = (address: string | null) =>
    address === null || isVerified || address === "" ? address : RefusalText.withoutLocalPart(address)
  return {
    id: row.id,
    domain_id: row.domainId,
    domain: row.name,
    reason: row.reason,
    remedy: remedyOf(row.reason, row.domainId),
    code: row.code,
    reply: row.reply,
    count: row.count,
    first_at: row.firstAt,
    last_at: row.lastAt,
    client_address: row.clientAddress,
    helo: row.helo,
    relayed: row.relayed,
    from: visible(envelopeFrom),
    recipient: visible(recipient),
    subject: row.subject,
    message_id: row.messageId,
    bytes: row.bytes
  }
}
