import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import * as Bugs from "../database/Bugs.ts"
import { WorkspaceId, WorkspaceName } from "../model/Workspace.ts"
import * as DomainLimit from "./DomainLimit.ts"
import * as MailToday from "./MailToday.ts"

const Row = Schema.Struct({
  name: WorkspaceName,
  createdAt: Schema.DateTimeUtcFromDate,
  /** Messages accepted on this UTC day, and the start of the next. */
  emailsToday: Schema.Int,
  dayEndsAt: Schema.DateTimeUtcFromDate
})

/** A workspace with its limits and usage. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const select = SqlSchema.findOne({
    Request: WorkspaceId,
    Result: Row,
    execute: (id) => sql`
      SELECT name, created_at, ${MailToday.of(sql)} AS emails_today,
        ((now() AT TIME ZONE 'UTC')::date + 1)::timestamp AT TIME ZONE 'UTC' AS day_ends_at
      FROM workspaces
      LEFT JOIN daily_intake ON daily_intake.workspace_id = workspaces.id AND daily_intake.day = (now() AT TIME ZONE 'UTC')::date
      WHERE workspaces.id = ${id}
    `
  })

  return (id: WorkspaceId) =>
    Bugs.die(Effect.zipWith(select(id), DomainLimit.held(sql, id), (row, held) => ({ ...row, domains: held.length })))
})
