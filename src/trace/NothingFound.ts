import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { DomainId, DomainName, DomainStatus } from "../model/Domain.ts"
import type { Scope, Wanted } from "./TraceSearch.ts"

/** Messages that are counted, at most. */
const mostCounted = 1_000

interface DomainState {
  readonly id: DomainId
  readonly name: DomainName
  readonly status: DomainStatus
  readonly disabledReason: string | null
  readonly unread: number
}

/** Explains a search without a result: what is known of the domain, and where to look next. */
export const make = Effect.map(SqlClient.SqlClient, (sql) =>
  Effect.fnUntraced(function* (
    scope: Scope,
    domainIds: ReadonlyArray<DomainId> | "all",
    { messageId, subject, to }: Wanted
  ): Effect.fn.Return<string, SqlError> {
    if (domainIds === "all") return "No mail and no refusal matches. GET /admin/refusals has mail for unknown domains"
    if (domainIds.length === 0) {
      return scope === "all"
        ? `No workspace has the domain of ${to}. GET /admin/refusals?domain=… has mail for it`
        : to === undefined
          ? "This workspace has no domain. POST /api/instant-inbox creates an inbox"
          : `No domain of this workspace takes mail for ${to}. GET /api/domains lists its domains`
    }
    const domains = yield* sql<DomainState>`
        SELECT id, name, status, disabled_reason, (
          SELECT count(*)::int FROM (
            SELECT 1 FROM inbound_emails WHERE domain_id = domains.id AND state = 'received' LIMIT ${mostCounted}
          ) AS counted
        ) AS unread
        FROM domains WHERE id = ANY(${domainIds.slice(0, 1)}::uuid[])
      `
    const [domain] = domains
    const limit = scope === "all" ? null : scope.limit
    const health = `GET /api/domains/${domainIds.length === 1 ? domain?.id : "{id}"}/health`
    if (domainIds.length === 1 && domain?.status === "pending_verification") {
      return `${domain.name} is not verified, so it takes no mail. ${health} says what is missing`
    }
    if (domainIds.length === 1 && domain?.status === "disabled") {
      return `${domain.name} is disabled: ${domain.disabledReason ?? "by the operator"}. It takes no mail`
    }
    if (
      limit === null &&
      domain !== undefined &&
      domain.unread > 0 &&
      (messageId !== undefined || subject !== undefined)
    ) {
      const mails = domain.unread === 1 ? "1 stored mail is" : `${domain.unread} stored mails are`
      return `Nothing matches yet. ${mails} not parsed, so subject and Message-ID are not known. Search by from and to, or wait some seconds`
    }
    if (limit !== null) {
      return `No mail and no refusal for ${limit.pattern} matches. Whoever gave you this key can search all mail`
    }
    return `No mail and no refusal matches, so the mail did not reach this service, was too large and refused before it named its recipient, or was removed since. ${health} checks the MX record. The sender's server has the reply it got`
  })
)
