import { Clock, Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import * as Batcher from "../database/Batcher.ts"
import { isUnreachable } from "../database/Database.ts"
import * as Patience from "../database/Patience.ts"
import type { DomainId, DomainName } from "../model/Domain.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as Deadline from "./Deadline.ts"
import { type NotStored, notStored } from "./NotStored.ts"

/** A domain that takes mail, and how much it has had. */
export interface Admission {
  readonly id: DomainId
  readonly workspaceId: WorkspaceId | null
  /** Messages of its workspace today. */
  readonly accepted: number
  /** Messages of a demo inbox; null for any other domain. */
  readonly demoMails: number | null
}

/** Gets null where a domain takes no mail. */
type Answer = (exit: Exit.Exit<Admission | null, NotStored>) => void

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

interface Asked extends Deadline.Pending {
  readonly name: DomainName
  readonly answer: Answer
}

/** Looks domains up by name, many in one statement. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const deadline = yield* Deadline.make

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

  const clock = yield* Clock.Clock
  let busy = new Map<DomainName, Known>()
  let began = clock.currentTimeMillisUnsafe()

  const told = (asked: Asked, exit: Exit.Exit<Admission | null, NotStored>) => {
    if (asked.isOver) return
    deadline.end(asked)
    asked.answer(exit)
  }

  const push = yield* Batcher.make(
    (all: ReadonlyArray<Asked>) =>
      Effect.map(Patience.ofRequest(find([...new Set(all.map(({ name }) => name))])), (rows) => {
        const found = new Map(rows.map((row): readonly [string, Admission] => [row.name, row]))
        return all.map(({ name }) => found.get(name) ?? null)
      }),
    {
      lanes: 2,
      bytesOf: () => 0,
      isOutage: isUnreachable,
      succeeded: (asked, admission) => {
        const known = busy.get(asked.name)
        if (known !== undefined && known.asks >= asksBefore) known.admission = admission
        told(asked, Exit.succeed(admission))
      },
      failed: (asked, cause) => told(asked, Exit.fail(notStored(cause)))
    }
  )

  return (name: DomainName, answer: Answer): void => {
    const now = clock.currentTimeMillisUnsafe()
    if (now - began >= goodForMillis) {
      busy = new Map()
      began = now
    }
    const known = busy.get(name)
    const before = known?.admission ?? null
    if (known === undefined) busy.set(name, { asks: 1, admission: null })
    else if (++known.asks > asksBefore && before !== null) {
      answer(Exit.succeed(before))
      return
    }
    const asked: Asked = { name, answer, isOver: false }
    deadline.begin(asked, () => told(asked, Exit.fail(notStored("no answer within 8 seconds"))))
    push(asked)
  }
})
