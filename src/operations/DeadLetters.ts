import { DateTime, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import * as NewDeadLetters from "../statistics/NewDeadLetters.ts"
import type * as Ledger from "./Ledger.ts"

/** Records the next domain with new dead letters. Succeeds with false if there is none. */
export const recordNext = (sql: SqlClient.SqlClient, record: Ledger.Record) =>
  sql.withTransaction(
    Effect.gen(function* () {
      const news = yield* NewDeadLetters.take(sql)
      if (news === undefined) return false
      const { day, dead, domain, domainId, workspaceId } = news
      const mails = dead === 1 ? "1 delivery" : `${dead} deliveries`
      yield* record({
        workspaceId,
        domainId,
        details: {
          type: "delivery.dead",
          occurred_at: yield* DateTime.now,
          domain_id: domainId,
          domain,
          day,
          dead,
          message: `${mails} of ${domain} became dead on ${day}, because every attempt failed. Repair the webhook, then replay them: POST /api/domains/${domainId}/replays {"status": "dead"}`
        }
      })
      return true
    })
  )
