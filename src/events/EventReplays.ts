import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as DeliveryRows from "../delivery/DeliveryRows.ts"
import type { EventFeed } from "../delivery/EventFeed.ts"
import * as Pausing from "../delivery/Pausing.ts"
import { Conflict, type NotFound } from "../model/ApiError.ts"
import type { DomainId, DomainStatus } from "../model/Domain.ts"
import type { EventId } from "../model/InboundEvent.ts"
import * as EventQuery from "./EventQuery.ts"

interface Given {
  readonly announce: EventFeed["Service"]["announce"]
  get(domainId: DomainId, eventId: EventId): Effect.Effect<EventQuery.ListedEvent, NotFound | SqlError>
}

/** Makes the delivery of one event due, or says why there is none to make. */
export const make = (sql: SqlClient.SqlClient, { announce, get }: Given) => {
  const replay = Effect.fn("Events.replay")(function* (
    domainId: DomainId,
    eventId: EventId,
    { force }: { readonly force: boolean }
  ) {
    const rows = yield* DeliveryRows.replay<EventQuery.DeliveryRow>(sql, { domainId, eventId, force })
    if (rows[0] !== undefined) {
      yield* Pausing.resume(sql, domainId)
      announce(domainId, { isDue: true })
      return EventQuery.toDelivery(rows[0])
    }
    const { delivery } = yield* get(domainId, eventId)
    const [domain] = yield* sql<{ readonly status: DomainStatus; readonly disabledReason: string }>`
          SELECT status, disabled_reason FROM domains WHERE id = ${domainId}
        `
    return yield* new Conflict({
      message:
        domain?.status === "disabled"
          ? `This domain is disabled: ${domain.disabledReason}`
          : delivery.status === "delivered" && !force
            ? "This event is already delivered; add ?force=true to send it again"
            : "This domain has no webhook: set one with PATCH /api/domains/{id}/delivery, and replay then"
    })
  })

  const deliverNow = Effect.fn("Events.deliverNow")(function* (domainId: DomainId, eventId: EventId) {
    const rows = yield* DeliveryRows.tryNow<EventQuery.DeliveryRow>(sql, { domainId, eventId })
    if (rows[0] !== undefined) {
      announce(domainId, { isDue: true })
      return EventQuery.toDelivery(rows[0])
    }
    const { delivery } = yield* get(domainId, eventId)
    const [domain] = yield* sql<{ readonly status: DomainStatus; readonly isPaused: boolean }>`
          SELECT status, webhook_paused_at IS NOT NULL AS is_paused FROM domains WHERE id = ${domainId}
        `
    return yield* new Conflict({
      message:
        delivery.status !== "pending"
          ? notPending[delivery.status]
          : domain?.status === "disabled"
            ? "This domain is disabled. Its mail is delivered once the operator enables it"
            : domain?.isPaused === true
              ? "The webhook is paused. POST …/replay of this event resumes it"
              : "An attempt of this delivery is due or in progress. Read the event again in a few seconds"
    })
  })

  return { replay, deliverNow }
}

/** Why a delivery has no attempt to make now. */
const notPending = {
  delivered: "This event is already delivered. POST …/replay?force=true sends it again",
  dead: "This delivery is dead, because its last retry failed. POST …/replay queues it again",
  held: "This delivery is held, because no webhook was set. Set one, and POST …/replay"
}
