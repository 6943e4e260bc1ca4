import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as DeliveryRows from "../delivery/DeliveryRows.ts"
import { EventFeed } from "../delivery/EventFeed.ts"
import type { DomainId } from "../model/Domain.ts"
import type { EventId } from "../model/InboundEvent.ts"
import type { Route } from "../model/Webhook.ts"
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
      const [domain] = yield* sql<{ readonly routes: ReadonlyArray<Route> }>`
        SELECT ${Routes.column(sql)} AS routes FROM domains WHERE id = ${domainId}
      `
      for (const { id: eventId, recipient } of events) {
        const route = Routes.match(domain?.routes ?? [], Routes.localPartOf(recipient))
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
