import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { NotFound } from "../model/ApiError.ts"
import type { DomainId } from "../model/Domain.ts"
import type { EventId } from "../model/InboundEvent.ts"
import type { WorkspaceId } from "../model/Workspace.ts"

/** Finds the domain of an event by the event's id, within a workspace. */
export const find = Effect.map(SqlClient.SqlClient, (sql) =>
  Effect.fn("EventDomain.find")(function* (workspaceId: WorkspaceId, eventId: EventId) {
    const rows = yield* sql<{ readonly id: DomainId }>`
      SELECT domains.id FROM events JOIN domains ON domains.id = events.domain_id
      WHERE events.id = ${eventId} AND domains.workspace_id = ${workspaceId}
    `
    return rows[0]?.id ?? (yield* new NotFound({ message: "No event with this id in this workspace" }))
  })
)
