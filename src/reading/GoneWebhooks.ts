import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as DeliveryRows from "../delivery/DeliveryRows.ts"
import { EventFeed } from "../delivery/EventFeed.ts"
import type { DomainId } from "../model/Domain.ts"
import type { EventId } from "../model/InboundEvent.ts"
import * as RouteColumn from "../webhooks/routes/RouteColumn.ts"
import * as Routes from "../webhooks/routes/Routes.ts"

/** An event whose webhook was removed between `RCPT` and the insert of its delivery, which is held. */
interface Unrouted {
  readonly id: EventId
  readonly recipient: string
}

/**
 * Makes a function that sends such events to the webhooks that take their recipients now. After a failure or a crash
 * they stay held, like other mail of a removed webhook.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const feed = yield* EventFeed

  return (domainId: DomainId, events: ReadonlyArray<Unrouted>): Effect.Effect<void> =>
    Effect.gen(function* () {
      const [domain] = yield* sql<{ readonly routes: RouteColumn.RouteColumn }>`
        SELECT ${RouteColumn.of(sql)} AS routes FROM domains WHERE id = ${domainId}
      `
      const routes = domain === undefined ? [] : RouteColumn.read(domain.routes)
      for (const { id: eventId, recipient } of events) {
        const route = Routes.match(routes, Routes.localPartOf(recipient))
        if (route === undefined) continue
        const due = yield* DeliveryRows.replay(sql, { domainId, eventId, force: false, webhookId: route.id })
        if (due.length > 0) feed.announce(domainId, { due: route.id })
      }
    }).pipe(
      Effect.catchCause((cause) =>
        Effect.logWarning("Mail of a removed webhook stays held, because its new one could not be found", cause).pipe(
          Effect.annotateLogs({ domain_id: domainId })
        )
      )
    )
})
