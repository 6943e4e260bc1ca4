import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Batch from "../database/Batch.ts"
import { isUnreachable } from "../database/Database.ts"
import * as Patience from "../database/Patience.ts"
import type { DomainId, DomainName } from "../model/Domain.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import { inTime } from "./Deadline.ts"
import { notStored } from "./NotStored.ts"

/** A domain that takes mail, and how much it has had. */
export interface Admission {
  readonly id: DomainId
  readonly workspaceId: WorkspaceId | null
  /** Messages of its workspace today. */
  readonly accepted: number
  /** Messages of a demo inbox; null for any other domain. */
  readonly demoMails: number | null
}

/**
 * A domain that gets much mail is not looked up for each: an answer is good for a
 * second, once this many have asked within it. Whether the domain takes the message
 * is decided with its row, after DATA.
 */
const goodForMillis = 1_000
const asksBefore = 8

interface Known {
  asks: number
  admission: Admission | null
}

/** Looks domains up by name, many in one statement. Null where a domain takes no mail. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const find = (names: ReadonlyArray<string>) => sql<Admission & { readonly name: string }>`
    SELECT domains.name, domains.id, domains.workspace_id, coalesce(daily_intake.accepted, 0) AS accepted,
      CASE WHEN domains.origin = 'demo' THEN (
        SELECT count(*)::integer FROM inbound_emails WHERE domain_id = domains.id
      ) END AS demo_mails
    FROM domains
    LEFT JOIN daily_intake
      ON daily_intake.workspace_id = domains.workspace_id AND daily_intake.day = (now() AT TIME ZONE 'UTC')::date
    WHERE domains.name = ANY(${names}::text[]) AND domains.verified_at IS NOT NULL
      AND domains.status IN ('mx_pending', 'verified', 'live')
      AND (domains.origin <> 'demo' OR EXISTS (
        SELECT 1 FROM demo_sessions WHERE domain_id = domains.id AND expires_at > now()
      ))
  `

  const lookUp = yield* Batch.make(
    (names: ReadonlyArray<DomainName>) =>
      Effect.map(Patience.ofRequest(find([...new Set(names)])), (rows): ReadonlyArray<Admission | null> => {
        const found = new Map(rows.map((row) => [row.name, row]))
        return names.map((name) => found.get(name) ?? null)
      }),
    { lanes: 2, most: 64, mostBytes: Number.POSITIVE_INFINITY, bytesOf: () => 0, isOutage: isUnreachable }
  )

  const clock = yield* Clock.Clock
  let busy = new Map<DomainName, Known>()
  let began = clock.currentTimeMillisUnsafe()

  return (name: DomainName) =>
    Effect.suspend(() => {
      const now = clock.currentTimeMillisUnsafe()
      if (now - began >= goodForMillis) {
        busy = new Map()
        began = now
      }
      const known = busy.get(name)
      if (known === undefined) busy.set(name, { asks: 1, admission: null })
      else known.asks++
      if (known !== undefined && known.asks > asksBefore && known.admission !== null)
        return Effect.succeed(known.admission)
      return lookUp(name).pipe(
        Effect.tap((admission) =>
          Effect.sync(() => {
            const asked = busy.get(name)
            if (asked !== undefined && asked.asks >= asksBefore) asked.admission = admission
          })
        ),
        Effect.catchTag("SqlError", notStored),
        inTime
      )
    })
})
