import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Conflict } from "../model/ApiError.ts"
import { type DomainId, type DomainStatus, noSuchDomain } from "../model/Domain.ts"
import { noSuchWebhook, type WebhookAction, type WebhookId } from "../model/Webhook.ts"
import * as DeliveryRows from "./DeliveryRows.ts"
import * as DomainNews from "./DomainNews.ts"

/** The condition that a webhook has a due delivery. */
const isDue = (sql: SqlClient.SqlClient) => sql`
  webhooks.action = 'pull' AND EXISTS (
    SELECT 1 FROM deliveries
    WHERE ${DeliveryRows.ofDelivery(sql)} = webhooks.id AND deliveries.status = 'pending'
      AND (leased_until IS NULL OR leased_until <= now()) AND due_at <= now()
  )
`

/** Finds deliveries that pull clients may lease, without a lock. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  /**
   * The webhooks of a domain that have due deliveries: all with the action `pull`, or one. Fails if there is none, or if
   * the domain is disabled.
   */
  const webhooksOf = Effect.fnUntraced(function* (domainId: DomainId, webhookId: WebhookId | undefined) {
    const found = yield* sql<{
      readonly status: DomainStatus
      readonly disabledReason: string
      readonly id: WebhookId | null
      readonly action: WebhookAction | null
      readonly isDue: boolean
    }>`
      SELECT domains.status, disabled_reason, webhooks.id, webhooks.action, ${isDue(sql)} AS is_due
      FROM domains LEFT JOIN webhooks ON webhooks.domain_id = domains.id
        AND ${webhookId === undefined ? sql`(webhooks.action = 'pull' OR pattern = '*')` : sql`webhooks.id = ${webhookId}`}
      WHERE domains.id = ${domainId}
    `
    const [domain] = found
    if (domain === undefined) return yield* noSuchDomain
    if (domain.status === "disabled") {
      return yield* new Conflict({ message: `This domain is disabled: ${domain.disabledReason}` })
    }
    if (domain.id === null) return yield* noSuchWebhook
    if (found.every(({ action }) => action !== "pull")) {
      return yield* new Conflict({
        message:
          webhookId === undefined
            ? 'This domain delivers no mail by lease. PATCH /api/domains/{id}/delivery {"pull": true} changes that, where no webhook is set'
            : 'This webhook delivers no mail by lease. PATCH /api/domains/{id}/webhooks/{webhookId} {"action": "pull"} changes that'
      })
    }
    return found.flatMap(({ id, isDue }) => (isDue && id !== null ? [id] : []))
  })

  const news = yield* DomainNews.make({
    says: "Due pull deliveries were not looked for",
    // A domain with due deliveries has news at each look, because another client may hold them only for now.
    statesOf: (ids) => sql<DomainNews.DomainState>`
      SELECT domains.id, concat_ws(
        ' ', domains.status, string_agg(webhooks.id || webhooks.action, ' ' ORDER BY webhooks.id),
        CASE WHEN bool_or(${isDue(sql)}) THEN now() END
      ) AS state
      FROM domains LEFT JOIN webhooks ON webhooks.domain_id = domains.id
      WHERE domains.id = ANY(${ids}::uuid[])
      GROUP BY domains.id
    `
  })

  return { webhooksOf, news }
})
