import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as DeliveryRows from "../delivery/DeliveryRows.ts"
import type { EventFeed } from "../delivery/EventFeed.ts"
import * as Pausing from "../delivery/Pausing.ts"
import { Conflict, type NotFound } from "../model/ApiError.ts"
import type { DomainId, DomainStatus } from "../model/Domain.ts"
import type { EventId } from "../model/InboundEvent.ts"
import type { HoldReason } from "../model/Trust.ts"
import { catchAll, noSuchWebhook, type WebhookId } from "../model/Webhook.ts"
import * as EventQuery from "./EventQuery.ts"

interface Given {
  readonly announce: EventFeed["Service"]["announce"]
  get(domainId: DomainId, eventId: EventId): Effect.Effect<EventQuery.ListedEvent, NotFound | SqlError>
}

interface DueRow extends EventQuery.DeliveryRow {
  readonly webhookId: WebhookId
}

/** Makes the delivery of one event due, or says why there is none to make. */
export const make = (sql: SqlClient.SqlClient, { announce, get }: Given) => {
  const replay = Effect.fn("Events.replay")(function* (
    domainId: DomainId,
    eventId: EventId,
    { force, webhookId }: { readonly force: boolean; readonly webhookId: WebhookId | undefined }
  ) {
    const [row] = yield* DeliveryRows.replay<DueRow>(sql, { domainId, eventId, force, webhookId })
    if (row !== undefined) {
      yield* Pausing.resume(sql, row.webhookId)
      announce(domainId, { due: row.webhookId })
      return EventQuery.toDelivery(row)
    }
    const { delivery } = yield* get(domainId, eventId)
    const [domain] = yield* sql<{
      readonly status: DomainStatus
      readonly disabledReason: string
      readonly pattern: string | null
    }>`
      SELECT domains.status, disabled_reason, pattern
      FROM domains
      JOIN deliveries ON deliveries.event_id = ${eventId}
      LEFT JOIN webhooks ON webhooks.domain_id = domains.id
        AND webhooks.id = ${webhookId === undefined ? DeliveryRows.ofDelivery(sql) : sql`${webhookId}`}
      WHERE domains.id = ${domainId}
    `
    if (webhookId !== undefined && domain?.pattern === null) return yield* noSuchWebhook
    return yield* new Conflict({
      message:
        domain?.status === "disabled"
          ? `This domain is disabled: ${domain.disabledReason}`
          : delivery.reason !== undefined
            ? heldFor(delivery.reason, domainId, eventId)
            : delivery.status === "delivered" && !force
              ? alreadyDelivered(domainId, eventId)
              : domain?.pattern === catchAll || domain === undefined
                ? "This domain has no webhook: set one with PATCH /api/domains/{id}/delivery, and replay then"
                : `The webhook ${domain.pattern ?? "that took it"} takes no deliveries now. Give it a URL with PATCH /api/domains/{id}/webhooks/{webhookId}, or replay to another one with ?webhook=ID`
    })
  })

  const deliverNow = Effect.fn("Events.deliverNow")(function* (domainId: DomainId, eventId: EventId) {
    const [row] = yield* DeliveryRows.tryNow<DueRow>(sql, { domainId, eventId })
    if (row !== undefined) {
      announce(domainId, { due: row.webhookId })
      return EventQuery.toDelivery(row)
    }
    const { delivery } = yield* get(domainId, eventId)
    const [domain] = yield* sql<{ readonly status: DomainStatus; readonly isPaused: boolean }>`
      SELECT domains.status, paused_at IS NOT NULL AS is_paused
      FROM domains
      JOIN deliveries ON deliveries.event_id = ${eventId}
      LEFT JOIN webhooks ON webhooks.id = ${DeliveryRows.ofDelivery(sql)}
      WHERE domains.id = ${domainId}
    `
    return yield* new Conflict({
      message:
        delivery.reason !== undefined
          ? heldFor(delivery.reason, domainId, eventId)
          : delivery.status !== "pending"
            ? notPending[delivery.status](domainId, eventId)
            : domain?.status === "disabled"
              ? "This domain is disabled. Its mail is delivered once the operator enables it"
              : domain?.isPaused === true
                ? `The webhook is paused. ${routeOf(domainId, eventId, "replay")} resumes it`
                : "An attempt of this delivery is due or in progress. Read the event again in a few seconds"
    })
  })

  const release = Effect.fn("Events.release")(function* (domainId: DomainId, eventId: EventId) {
    const [row] = yield* DeliveryRows.release<DueRow>(sql, { domainId, eventId })
    if (row?.status === "pending") announce(domainId, { due: row.webhookId })
    return row === undefined ? (yield* get(domainId, eventId)).delivery : EventQuery.toDelivery(row)
  })

  return { replay, deliverNow, release }
}

const routeOf = (domainId: DomainId, eventId: EventId, work: "release" | "replay") =>
  `POST /api/domains/${domainId}/events/${eventId}/${work}`

const alreadyDelivered = (domainId: DomainId, eventId: EventId) =>
  `This event is already delivered. ${routeOf(domainId, eventId, "replay")}?force=true sends it again`

const heldFor = (reason: HoldReason, domainId: DomainId, eventId: EventId) =>
  `A sender rule, the mail scanner or the loop guard holds this event (${reason}). ${routeOf(domainId, eventId, "release")} delivers it. Ask a person first`

/** Why a delivery has no attempt to make now. */
const notPending = {
  delivered: alreadyDelivered,
  dead: (domainId: DomainId, eventId: EventId) =>
    `This delivery is dead, because its last attempt failed. ${routeOf(domainId, eventId, "replay")} queues it again`,
  held: (domainId: DomainId, eventId: EventId) =>
    `This delivery is held, because its webhook had no URL. Set one, and ${routeOf(domainId, eventId, "replay")}`
}
