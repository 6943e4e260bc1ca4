import { Context, Effect, Layer, type Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { HeavyReads } from "../database/HeavyReads.ts"
import type { Invalid } from "../model/ApiError.ts"
import type { DomainId, DomainName } from "../model/Domain.ts"
import type { EventId } from "../model/InboundEvent.ts"
import { noSuchCursor, type Page } from "../model/Page.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as Settings from "../Settings.ts"
import * as EventQuery from "./EventQuery.ts"
import * as IndexedFilter from "./IndexedFilter.ts"
import * as TimeRange from "./TimeRange.ts"
import * as WorkspaceMark from "./WorkspaceMark.ts"

/** A listed event with its domain. */
export interface WorkspaceEvent extends EventQuery.ListedEvent {
  readonly domainId: DomainId
  readonly domain: DomainName
}

/** Events that one request examines for filters without an index, over all domains. */
export const mostExamined = 5_000

/** The part of them of each domain, at least. */
const fewestOfDomain = 20

/** Domains beyond which a page costs so much that these pages are read one at a time: 1,000 take about 0.1 s. */
const fewDomains = 50

/** An event of a page, before its payload is read. */
interface Place extends WorkspaceMark.WorkspaceMark {
  readonly eventId: EventId
}

interface Examined {
  readonly places: ReadonlyArray<Place>
  /** The end of what was examined, if there is more. */
  readonly horizon: WorkspaceMark.WorkspaceMark | undefined
}

interface Row extends EventQuery.DeliveryRow {
  readonly id: EventId
  readonly domainId: DomainId
  readonly domain: DomainName
  readonly position: bigint
  readonly ordinal: bigint
  readonly bytes: number
  readonly payload: string | null
}

/**
 * Lists the events of all domains of a workspace. Each domain's events are in the order of their positions, and the
 * domains are merged by the times of these positions, which follow the same order.
 */
export class WorkspaceEvents extends Context.Service<
  WorkspaceEvents,
  {
    /** Newest first. `cursor` is the `nextCursor` of the previous page. */
    list(
      workspaceId: WorkspaceId,
      filter: EventQuery.Filter,
      page: {
        readonly limit: number
        readonly cursor?: string | undefined
        /** Only this one of the domains. */
        readonly domainId?: DomainId | undefined
      }
    ): Effect.Effect<Page<WorkspaceEvent>, Invalid | SqlError>
    /** Listed events with their payloads. Large ones are loaded on demand. */
    payloads(events: ReadonlyArray<WorkspaceEvent>): Stream.Stream<EventQuery.Loaded<WorkspaceEvent>, SqlError>
  }
>()("inlet/events/WorkspaceEvents") {
  static readonly layer = Layer.effect(
    WorkspaceEvents,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const heavy = yield* HeavyReads
      const query = EventQuery.make(sql, heavy)
      const { pageBytes } = yield* Settings.answers
      const timesOf = TimeRange.bounds(sql)

      /**
       * The first position of a domain that is not behind the mark. Binary search, because the times of a domain's
       * events do not decrease.
       */
      const beginOf = ({ domainId, position, time }: WorkspaceMark.WorkspaceMark) => {
        const moment = sql`('epoch'::timestamptz + ${time}::bigint * interval '1 microsecond')`
        const isBehind = sql`CASE WHEN domains.id < ${domainId}::uuid THEN read_at <= ${moment} ELSE read_at < ${moment} END`
        return sql`
          CASE WHEN domains.id = ${domainId}::uuid THEN ${position}::bigint ELSE (
            WITH RECURSIVE halves AS (
              SELECT
                coalesce((SELECT position FROM events WHERE domain_id = domains.id ORDER BY position LIMIT 1) - 1, 0)
                  AS low,
                coalesce((SELECT position FROM events WHERE domain_id = domains.id ORDER BY position DESC LIMIT 1) + 1, 0)
                  AS high
              UNION ALL
              SELECT CASE WHEN is_behind THEN middle ELSE low END, CASE WHEN is_behind THEN high ELSE middle END
              FROM halves
              CROSS JOIN LATERAL (
                -- In place of a removed event, the next one is compared.
                SELECT (low + high) / 2 AS middle, coalesce((
                  SELECT ${isBehind} FROM events
                  WHERE domain_id = domains.id AND position >= (low + high) / 2 ORDER BY position LIMIT 1
                ), false) AS is_behind
                OFFSET 0
              ) AS probe
              WHERE high - low > 1
            )
            SELECT high FROM halves ORDER BY high - low LIMIT 1
          ) END
        `
      }

      /** The CTE `own`: the domains of the workspace, each with its range of positions. */
      const own = (
        workspaceId: WorkspaceId,
        { since, until }: EventQuery.Filter,
        {
          domainId,
          mark
        }: { readonly mark: WorkspaceMark.WorkspaceMark | undefined; readonly domainId: DomainId | undefined }
      ) => {
        const times = timesOf(sql`domains.id`, { since, until })
        const below = mark === undefined ? times.below : sql`least(${beginOf(mark)}, ${times.below})`
        return sql`
          own AS MATERIALIZED (
            SELECT domains.id, ${times.above} AS above, ${below} AS below
            FROM domains
            WHERE workspace_id = ${workspaceId} ${domainId === undefined ? sql`` : sql`AND domains.id = ${domainId}`}
          )
        `
      }

      const microseconds = (column: Fragment) => sql`(extract(epoch FROM ${column}) * 1000000)::bigint`

      /** The newest matching events by index: first the newest of each domain, then those of the newest domains. */
      const byIndex = (ranges: Fragment, filter: EventQuery.Filter, limit: number) => {
        const isQueue = filter.delivery !== undefined
        const table = sql(isQueue ? "deliveries" : "events")
        // Without a state the delivery is not needed yet.
        const source = isQueue ? query.joined.deliveries : sql`events`
        const matching = (domain: Fragment, most: number) => sql`
          SELECT events.id AS event_id, ${table}.position, events.read_at FROM ${source}
          WHERE ${sql.and([
            sql`${table}.domain_id = ${domain}.id`,
            sql`${table}.position > ${domain}.above AND ${table}.position < ${domain}.below`,
            ...query.conditions(filter)
          ])}
          ORDER BY ${table}.position DESC LIMIT ${most}
        `
        return sql<Place>`
          WITH ${ranges}, heads AS MATERIALIZED (
            SELECT own.*, head.read_at FROM own CROSS JOIN LATERAL (${matching(sql`own`, 1)}) AS head
            ORDER BY head.read_at DESC, own.id DESC LIMIT ${limit}
          )
          SELECT event_id, heads.id AS domain_id, found.position, ${microseconds(sql`found.read_at`)} AS time
          FROM heads CROSS JOIN LATERAL (${matching(sql`heads`, limit)}) AS found
          ORDER BY found.read_at DESC, heads.id DESC, found.position DESC LIMIT ${limit}
        `.pipe(Effect.map((places): Examined => ({ places, horizon: undefined })))
      }

      /**
       * The newest matching events among those examined: of each domain the same number, down to the newest of the
       * places at which a domain has more.
       */
      const byExamining = Effect.fnUntraced(function* (
        ranges: Fragment,
        filter: EventQuery.Filter,
        { limit, most }: { readonly limit: number; readonly most: number }
      ) {
        const range = sql`domain_id = own.id AND position > own.above AND position < own.below`
        const horizon = sql`
          horizon AS MATERIALIZED (
            SELECT own.id, edge.position, edge.read_at FROM own
            CROSS JOIN LATERAL (
              SELECT position, read_at FROM events WHERE ${range} ORDER BY position DESC OFFSET ${most - 1} LIMIT 1
            ) AS edge
            ORDER BY edge.read_at DESC, own.id DESC, edge.position DESC LIMIT 1
          )
        `
        const rows = yield* sql<Omit<Place, "eventId"> & { readonly eventId: EventId | null }>`
          WITH ${ranges}, ${horizon}, found AS (
            SELECT events.id AS event_id, own.id AS domain_id, events.position, events.read_at
            FROM own
            CROSS JOIN LATERAL (SELECT * FROM events WHERE ${range} ORDER BY position DESC LIMIT ${most}) AS events
            CROSS JOIN LATERAL (SELECT * FROM deliveries WHERE deliveries.event_id = events.id OFFSET 0) AS deliveries
            WHERE ${sql.and([
              sql`((SELECT count(*) FROM horizon) = 0 OR (events.read_at, own.id, events.position)
                >= (SELECT read_at, id, position FROM horizon))`,
              ...query.conditions(filter)
            ])}
            ORDER BY events.read_at DESC, own.id DESC, events.position DESC LIMIT ${limit}
          )
          SELECT event_id, domain_id, position, ${microseconds(sql`read_at`)} AS time FROM found
          UNION ALL SELECT NULL, id, position, ${microseconds(sql`read_at`)} FROM horizon
        `
        const places = rows.flatMap((row) => (row.eventId === null ? [] : [{ ...row, eventId: row.eventId }]))
        const inOrder = places.sort(newestFirst)
        return { places: inOrder, horizon: rows.find(({ eventId }) => eventId === null) } satisfies Examined
      })

      /** The events of these places up to the bytes of a page, and at least one. */
      const read = (places: ReadonlyArray<Place>) => sql<Row>`
        SELECT id, domain_id, domain, position, ordinal, bytes,
          CASE WHEN bytes_so_far <= ${EventQuery.bytesAtOnce} THEN payload END AS payload,
          status, attempts, due_at, delivered_at, last_error, hold_reason
        FROM (
          SELECT events.id, events.domain_id, domains.name AS domain, events.position, wanted.ordinal, events.payload,
            octet_length(events.payload) AS bytes,
            sum(octet_length(events.payload)) OVER (ORDER BY wanted.ordinal) AS bytes_so_far,
            row_number() OVER (ORDER BY wanted.ordinal) AS number,
            deliveries.status, deliveries.attempts, deliveries.due_at, deliveries.delivered_at, deliveries.last_error,
            deliveries.hold_reason
          FROM unnest(${places.map(({ eventId }) => eventId)}::uuid[]) WITH ORDINALITY AS wanted (id, ordinal)
          JOIN events ON events.id = wanted.id
          JOIN domains ON domains.id = events.domain_id
          JOIN deliveries ON deliveries.event_id = events.id
        ) AS weighed
        WHERE number = 1 OR bytes_so_far <= ${pageBytes}
        ORDER BY ordinal
      `

      const list: WorkspaceEvents["Service"]["list"] = Effect.fn("WorkspaceEvents.list")(function* (
        workspaceId,
        filter,
        { cursor, domainId, limit }
      ) {
        const mark = cursor === undefined ? undefined : WorkspaceMark.decode(workspaceId, cursor)
        if (cursor !== undefined && mark === undefined) {
          return yield* noSuchCursor
        }
        const ranges = own(workspaceId, filter, { mark, domainId })
        const [counted] = yield* sql<{ readonly domains: number }>`
          SELECT count(*)::int AS domains FROM domains WHERE workspace_id = ${workspaceId}
        `
        const domains = domainId === undefined ? (counted?.domains ?? 0) : 1
        const most = Math.max(fewestOfDomain, Math.floor(mostExamined / Math.max(1, domains)))
        const search: Effect.Effect<Examined, SqlError> = isIndexed(filter)
          ? byIndex(ranges, filter, limit + 1)
          : byExamining(ranges, filter, { limit: limit + 1, most })
        const { horizon, places } = yield* domains > fewDomains ? heavy.within(search) : search
        const wanted = places.slice(0, limit)
        const rows = wanted.length === 0 ? [] : yield* read(wanted)
        const last = rows.at(-1)
        // Without rows they were removed meanwhile, and the next page follows them.
        const taken = last === undefined ? wanted.length : Number(last.ordinal)
        const isMore = taken < places.length
        const end = isMore ? wanted[taken - 1] : horizon
        return {
          items: rows.map(toEvent),
          nextCursor: end === undefined ? null : WorkspaceMark.encode(workspaceId, end)
        }
      })

      return WorkspaceEvents.of({
        list,
        payloads: (events) => query.payloads([...new Set(events.map(({ domainId }) => domainId))], events)
      })
    })
  ).pipe(Layer.provide(HeavyReads.layer))
}

/** Other filters could lead through very many events of an index. */
const isIndexed = (filter: EventQuery.Filter) =>
  IndexedFilter.isIndexed(filter) &&
  filter.trust === undefined &&
  (filter.delivery === undefined ||
    filter.delivery === "dead" ||
    (filter.recipient === undefined && filter.from === undefined))

/** The order of the list. UUIDs compare as their lower-case texts do. */
const newestFirst = (one: WorkspaceMark.WorkspaceMark, other: WorkspaceMark.WorkspaceMark): number =>
  Number(other.time - one.time) ||
  (one.domainId === other.domainId ? Number(other.position - one.position) : one.domainId < other.domainId ? 1 : -1)

const toEvent = (row: Row): WorkspaceEvent => ({
  id: row.id,
  domainId: row.domainId,
  domain: row.domain,
  position: row.position,
  bytes: row.bytes,
  payload: row.payload,
  delivery: EventQuery.toDelivery(row)
})
