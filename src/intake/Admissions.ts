import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Batcher from "../database/Batcher.ts"
import { isUnreachable } from "../database/Database.ts"
import * as Patience from "../database/Patience.ts"
import * as TakingMail from "../domains/state/TakingMail.ts"
import type { DomainId, DomainName } from "../model/Domain.ts"
import type { RuleInForce } from "../model/SenderRule.ts"
import type { SpamAction } from "../model/Spam.ts"
import type { Route } from "../model/Webhook.ts"
import type { WorkspaceId } from "../model/Workspace.ts"
import * as Elapsed from "../schedule/Elapsed.ts"
import * as RulesInForce from "../trust/RulesInForce.ts"
import * as RouteColumn from "../webhooks/routes/RouteColumn.ts"
import * as Deadline from "./Deadline.ts"
import { notStored } from "./NotStored.ts"

/** A verified domain, with its usage today. */
export interface Admission {
  readonly id: DomainId
  readonly workspaceId: WorkspaceId | null
  /** False if it is disabled. */
  readonly takesMail: boolean
  /** Messages of its workspace today. */
  readonly accepted: number
  /** Number of messages of a demo inbox, or null for other domains. */
  readonly demoMails: number | null
  /** The webhooks of the domain, in no order. */
  readonly routes: ReadonlyArray<Route>
  /** Its sender rules, or null. */
  readonly rules: ReadonlyArray<RuleInForce> | null
  readonly spamAction: SpamAction
}

/** A row about a domain. */
interface Found extends Omit<Admission, "routes"> {
  readonly name: string
  readonly routes: RouteColumn.RouteColumn
}

/** A lookup for a sender that waits. */
interface Lookup {
  readonly name: DomainName
  readonly pending: Deadline.Pending
}

/** How long a busy domain's result is cached. The insert of the row after DATA decides in any case. */
const goodForMillis = 1_000
/** Lookups within that time from which a domain is busy. */
const asksBefore = 8
/** How long lookups collect that nobody is in a hurry for, so that a flood of unknown recipients shares statements. */
const gather = { millis: 10, enough: 64 }

interface Known {
  asks: number
  admission: Admission | null
}

/**
 * Makes two functions. `lookUp` finds a domain by name, with one statement for concurrent lookups. It succeeds with null if
 * nobody has verified the domain. A lookup that may wait takes up to 10 ms longer, and shares its statement with more of them.
 * `recent` returns the cached result of a busy domain. Call it before each lookup, because it counts them.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const within8Seconds = yield* Deadline.make

  const find = (names: ReadonlyArray<string>) => sql<Found>`
    SELECT domains.name, domains.id, domains.workspace_id, coalesce(daily_intake.accepted, 0) AS accepted,
      CASE WHEN domains.origin = 'demo' THEN (
        SELECT count(*)::integer FROM inbound_emails WHERE domain_id = domains.id
      ) END AS demo_mails,
      ${TakingMail.condition(sql)} AS takes_mail, ${RouteColumn.of(sql)} AS routes, ${RulesInForce.column(sql)} AS rules, domains.spam_action
    FROM domains
    LEFT JOIN daily_intake
      ON daily_intake.workspace_id = domains.workspace_id AND daily_intake.day = (now() AT TIME ZONE 'UTC')::date
    WHERE domains.name = ANY(${names}::text[]) AND domains.verified_at IS NOT NULL
      AND (domains.origin <> 'demo' OR EXISTS (
        SELECT 1 FROM demo_sessions WHERE domain_id = domains.id AND expires_at > now()
      ))
  `

  const clock = yield* Clock.Clock
  let busy = new Map<DomainName, Known>()
  let began = Elapsed.millisOf(clock)

  const findAll = (lookups: ReadonlyArray<Lookup>) => {
    // While the database hangs, lookups collect whose senders have their 451.
    const names = new Set(lookups.flatMap(({ name, pending }) => (pending.isOver ? [] : [name])))
    if (names.size === 0) return Effect.succeed(lookups.map(() => null))
    return Effect.map(Patience.ofRequest(find([...names])), (rows) => {
      const found = new Map(
        rows.map(({ routes, ...row }): readonly [string, Admission] => [
          row.name,
          { ...row, routes: RouteColumn.read(routes) }
        ])
      )
      return lookups.map(({ name }) => {
        if (!names.has(name)) return null
        const admission = found.get(name) ?? null
        const known = busy.get(name)
        // A domain that is enabled again takes mail at once.
        const isCached = known !== undefined && known.asks >= asksBefore
        if (isCached) known.admission = admission?.takesMail === true ? admission : null
        return admission
      })
    })
  }
  const bounding = { bytesOf: () => 0, isOutage: isUnreachable }
  const lookUp = yield* Batcher.make(findAll, { ...bounding, lanes: 2 })
  const lookUpLater = yield* Batcher.make(findAll, { ...bounding, gather })

  return {
    recent: (name: DomainName): Admission | undefined => {
      const now = Elapsed.millisOf(clock)
      if (now - began >= goodForMillis) {
        busy = new Map()
        began = now
      }
      const known = busy.get(name)
      if (known !== undefined && ++known.asks > asksBefore) return known.admission ?? undefined
      if (known === undefined) busy.set(name, { asks: 1, admission: null })
      return undefined
    },
    lookUp: (name: DomainName, mayWait: boolean) =>
      within8Seconds((pending) =>
        Effect.matchCauseEffect(mayWait ? lookUpLater({ name, pending }) : lookUp({ name, pending }), {
          onFailure: (cause) => Effect.fail(notStored(cause)),
          onSuccess: (answer) => Effect.succeed({ answer, after: Effect.void })
        })
      )
  }
})
