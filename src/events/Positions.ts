import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as RecipientPattern from "../database/RecipientPattern.ts"
import { Invalid } from "../model/ApiError.ts"
import { type DomainId, noSuchDomain } from "../model/Domain.ts"
import { noSuchCursor } from "../model/Page.ts"
import type * as ExpiredEvents from "./ExpiredEvents.ts"
import * as Mark from "./Mark.ts"

/** Some languages write UUIDs in capitals. */
const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Finds positions among the events of a domain. `only` is the pattern of a key with a limit. */
export const make = (sql: SqlClient.SqlClient, expired: Effect.Success<typeof ExpiredEvents.make>) => {
  /** The last assigned position. Its reader sees every event up to it. */
  const lastPosition = Effect.fnUntraced(function* (domainId: DomainId) {
    const rows = yield* sql<{ readonly position: bigint | null }>`
      SELECT event_positions.position
      FROM domains LEFT JOIN event_positions ON event_positions.domain_id = domains.id
      WHERE domains.id = ${domainId}
    `
    if (rows[0] === undefined) return yield* noSuchDomain
    return rows[0].position ?? 0n
  })

  /** The position of the oldest stored event. */
  const oldestPosition = (domainId: DomainId) =>
    Effect.map(
      sql<{ readonly position: bigint }>`
        SELECT position FROM events WHERE domain_id = ${domainId} ORDER BY position LIMIT 1
      `,
      ([oldest]) => oldest?.position
    )

  const positionOf = Effect.fnUntraced(function* (domainId: DomainId, eventId: string, only: string | undefined) {
    if (!uuid.test(eventId)) return undefined
    const rows = yield* sql<{ readonly position: bigint }>`
      SELECT position FROM events
      WHERE ${sql.and([
        sql`domain_id = ${domainId}`,
        sql`id = ${eventId}`,
        ...(only === undefined ? [] : [RecipientPattern.takes(sql, only, sql`recipient`)])
      ])}
    `
    return rows[0]?.position
  })

  /** Parses the position in `after` or `Last-Event-ID`. Marks beyond the last event are of another database. */
  const startOf = Effect.fnUntraced(function* (
    domainId: DomainId,
    after: string,
    { last, name, only }: { readonly name: string; readonly last: bigint; readonly only: string | undefined }
  ) {
    if (after === "latest") return last
    if (after === "start") return 0n
    const mark = Mark.decode(domainId, after)
    const position =
      mark === undefined
        ? yield* positionOf(domainId, after, only)
        : mark.kind !== "desc" && mark.position <= last
          ? mark.position
          : undefined
    if (position !== undefined) return position
    // Nothing that is stored came before it.
    if (mark === undefined && (yield* expired.isExpired(after))) return 0n
    return yield* new Invalid({
      message: `${name}: Expected a cursor_now (of the tools of MCP: cursor) of this domain, the id of one of its stored events, start or latest`
    })
  })

  /** The start of a page. Also accepts an event id, the cursor of earlier versions, as one of newest first. */
  const boundOf = Effect.fnUntraced(function* (
    domainId: DomainId,
    cursor: string,
    { only, order }: { readonly order: Mark.Order; readonly only: string | undefined }
  ) {
    const mark = Mark.decode(domainId, cursor)
    const position = mark === undefined ? yield* positionOf(domainId, cursor, only) : mark.position
    const kind = mark?.kind ?? "desc"
    if (position === undefined || kind === "now") {
      return yield* noSuchCursor
    }
    if (kind !== order) {
      return yield* new Invalid({
        message: `cursor: Expected a cursor of order=${order}. This one is of order=${kind}`
      })
    }
    return order === "asc" ? { above: position } : { below: position }
  })

  return { boundOf, lastPosition, oldestPosition, positionOf, startOf }
}
