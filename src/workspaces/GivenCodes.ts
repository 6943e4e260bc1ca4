import { createHash } from "node:crypto"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { TooManyRequests } from "../model/ApiError.ts"
import type { EventId } from "../model/InboundEvent.ts"
import type { WorkspaceId } from "../model/Workspace.ts"

/** The session of a client that waits for codes. */
export interface Session {
  readonly workspaceId: WorkspaceId
  readonly id: string
}

/** Seconds before a wait in which a code may have arrived, unless the wait names its start. */
export const freshSeconds = 60

/** Minutes that a given code is remembered. A wait finds no code that is older than its fresh seconds and itself. */
const keptMinutes = 5

/** Maximum remembered codes of a workspace. */
const most = 10_000

const hashOf = ({ id }: Session) => createHash("sha256").update(id).digest()

/**
 * Remembers the codes that a session was given, in the database, because the next call may reach another process. A
 * code replaces the earlier ones of its sender to its recipient.
 */
export const make = (sql: SqlClient.SqlClient) => {
  const pair = sql`sha256(convert_to(lower(events.recipient) || ' ' || lower(events.sender), 'UTF8'))`

  /** Whether the session was given neither the code of this event nor a later one of its sender to its recipient. */
  const isNew = (session: Session): Statement.Fragment => sql`NOT EXISTS (
    SELECT 1 FROM given_codes
    WHERE given_codes.workspace_id = ${session.workspaceId} AND given_codes.session = ${hashOf(session)}
      AND given_codes.domain_id = events.domain_id AND given_codes.pair = ${pair}
      AND given_codes.position >= events.position
  )`

  /** Records that the session gets a code. False if another call of it was faster. */
  const note = Effect.fn("GivenCodes.note")(function* (session: Session, eventId: EventId) {
    yield* sql`
      DELETE FROM given_codes
      WHERE workspace_id = ${session.workspaceId} AND given_at < now() - make_interval(mins => ${keptMinutes})
    `
    const [room] = yield* sql<{ readonly isFull: boolean }>`
      SELECT count(*) >= ${most} AS is_full FROM (
        SELECT 1 FROM given_codes WHERE workspace_id = ${session.workspaceId} LIMIT ${most}
      ) AS own
    `
    if (room?.isFull === true) {
      return yield* new TooManyRequests({
        message: `This workspace was given ${most} codes within ${keptMinutes} minutes. Call again in a minute`,
        retryAfter: 60
      })
    }
    const noted = yield* sql`
      INSERT INTO given_codes AS before (workspace_id, session, domain_id, pair, position)
      SELECT ${session.workspaceId}::uuid, ${hashOf(session)}::bytea, events.domain_id, ${pair}, events.position
      FROM events WHERE id = ${eventId}
      ON CONFLICT (workspace_id, session, domain_id, pair)
      DO UPDATE SET position = excluded.position, given_at = now() WHERE before.position < excluded.position
      RETURNING 1 AS noted
    `
    return noted.length > 0
  })

  return { isNew, note }
}

/** Forgets up to so many codes past their time. Succeeds with their number. */
export const forgetSome = (sql: SqlClient.SqlClient, some: number) =>
  Effect.map(
    sql`
      DELETE FROM given_codes WHERE (workspace_id, session, domain_id, pair) IN (
        SELECT workspace_id, session, domain_id, pair FROM given_codes
        WHERE given_at < now() - make_interval(mins => ${keptMinutes})
        ORDER BY given_at LIMIT ${some}
        FOR UPDATE SKIP LOCKED
      )
      RETURNING 1 AS forgotten
    `,
    (forgotten) => forgotten.length
  )
