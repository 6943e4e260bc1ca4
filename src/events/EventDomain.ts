import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as RecipientPattern from "../database/RecipientPattern.ts"
import type { DomainId } from "../model/Domain.ts"
import type { EventId } from "../model/InboundEvent.ts"
import type { KeyLimit } from "../model/KeyLimit.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as ExpiredEvents from "./ExpiredEvents.ts"

interface Holder {
  readonly id: WorkspaceId
  readonly limit: KeyLimit | null
}

/** Finds the domain of an event by the event's id, within a workspace, if the key may see both. */
export const find = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const expired = yield* ExpiredEvents.make
  return Effect.fn("EventDomain.find")(function* ({ id: workspaceId, limit }: Holder, eventId: EventId) {
    const rows = yield* sql<{ readonly id: DomainId }>`
      SELECT domains.id FROM events JOIN domains ON domains.id = events.domain_id
      WHERE ${sql.and([
        sql`events.id = ${eventId}`,
        sql`domains.workspace_id = ${workspaceId}`,
        ...(limit === null ? [] : [RecipientPattern.takes(sql, limit.pattern, sql`events.recipient`)]),
        ...(limit?.domainId == null ? [] : [sql`domains.id = ${limit.domainId}`])
      ])}
    `
    return (
      rows[0]?.id ??
      (yield* expired.missing(eventId, "No event with this id in this workspace. GET /api/events lists them"))
    )
  })
})
