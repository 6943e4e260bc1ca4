import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { DomainId, DomainName, DomainStatus } from "../model/Domain.ts"
import type { RefusalReason } from "../model/Refusal.ts"
import type { Noted } from "./RefusalBuffer.ts"

/** Unverified domains of a name that get a row each. Any number of workspaces may have added it. */
const mostClaims = 10

const Named = Schema.Struct({
  id: DomainId,
  name: DomainName,
  status: DomainStatus,
  isDemo: Schema.Boolean,
  isVerified: Schema.Boolean
})
type Named = typeof Named.Type

/** Refusals for one domain, with the reason that its workspace sees. */
export interface Target {
  readonly noted: Noted
  readonly domainId: DomainId
  readonly reason: RefusalReason
  /** False if the details belong to another workspace, or are not kept. */
  readonly hasDetails: boolean
}

/**
 * Makes a function that finds the domains that refusals belong to, of one batch in one statement. `unknown` has those
 * without a domain. Refusals of demo inboxes are in neither list.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Two lookups for each name, because the indexes by name are partial.
  const select = SqlSchema.findAll({
    Request: Schema.Array(DomainName),
    Result: Named,
    execute: (names) => sql`
      SELECT found.* FROM unnest(${names}::text[]) AS asked (name) CROSS JOIN LATERAL (
        (
          SELECT id, name, status, workspace_id IS NULL AS is_demo, true AS is_verified
          FROM domains WHERE domains.name = asked.name AND verified_at IS NOT NULL
        )
        UNION ALL
        (
          SELECT id, name, status, workspace_id IS NULL, false
          FROM domains WHERE domains.name = asked.name AND verified_at IS NULL
          ORDER BY id LIMIT ${mostClaims}
        )
      ) AS found
    `
  })

  return Effect.fnUntraced(function* (batch: ReadonlyArray<Noted>) {
    const names = new Set(batch.flatMap(({ domain }) => (domain !== null && "name" in domain ? [domain.name] : [])))
    const found = Map.groupBy(names.size === 0 ? [] : yield* select([...names]), ({ name }) => name)
    const targets: Array<Target> = []
    const unknown: Array<Noted> = []
    for (const noted of batch) {
      const { domain, isRest, reason } = noted
      const known = domain !== null && "name" in domain ? (found.get(domain.name) ?? []) : []
      if (domain === null || ("name" in domain && known.length === 0)) unknown.push(noted)
      else if ("id" in domain) targets.push({ noted, domainId: domain.id, reason, hasDetails: !isRest })
      else targets.push(...ofName(noted, known))
    }
    return { targets, unknown }
  })
})

/** What each workspace with the name sees. The holder's mail is not shown to others that want the name. */
const ofName = (noted: Noted, known: ReadonlyArray<Named>): ReadonlyArray<Target> => {
  const holder = known.find(({ isVerified }) => isVerified)
  // Each workspace has its own reason.
  const isOfDomain = noted.reason === "unknown" || noted.reason === "disabled"
  return known.flatMap((one) => {
    if (one.isDemo || (!isOfDomain && holder !== undefined && one !== holder)) return []
    const reason = isOfDomain ? reasonFor(one, holder, noted.reason) : noted.reason
    return [{ noted, domainId: one.id, reason, hasDetails: !noted.isRest && (one === holder || holder === undefined) }]
  })
}

const reasonFor = ({ isVerified, status }: Named, holder: Named | undefined, noted: RefusalReason): RefusalReason =>
  // It may be enabled again.
  status === "disabled" || (isVerified && noted === "disabled")
    ? "disabled"
    : holder !== undefined && !isVerified
      ? "held_elsewhere"
      : "not_verified"
