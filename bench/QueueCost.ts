import { Clock, ConfigProvider, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../src/database/Database.ts"
import * as Patience from "../src/database/Patience.ts"
import { DeliveryQueue } from "../src/delivery/DeliveryQueue.ts"
import { EventFeed } from "../src/delivery/EventFeed.ts"
import { Handover } from "../src/delivery/Handover.ts"
import * as Platform from "../src/process/Platform.ts"
import * as Providers from "../src/providers/Providers.ts"
import { Workspaces } from "../src/workspaces/Workspaces.ts"
import * as StatementPlans from "../test/StatementPlans.ts"
import type { Installation } from "./Installation.ts"
import * as ListCost from "./ListCost.ts"
import { percentile } from "./Statistics.ts"
import * as Table from "./Table.ts"

const rounds = 12
const webhooks = 4
const ofWebhook = 4

const outcome = {
  statusCode: 200,
  error: null,
  durationMs: 3,
  responseBody: '{"ok":true}',
  retryAfter: null,
  isFinal: false
}

/** The rows of a table: the cost of the queue's statements, with as many events as the installation has. */
export const measure = Effect.fnUntraced(function* (own: Installation) {
  const plans = yield* StatementPlans.before(own.url, ListCost.explaining)
  const env = { ...own.settings, DATABASE_URL: plans.url, DNS_SERVERS: "127.0.0.1:9" }
  const world = Layer.mergeAll(DeliveryQueue.layer, Workspaces.layer).pipe(
    Layer.provideMerge([EventFeed.layer, Handover.layerNone]),
    Layer.provideMerge(Providers.layer),
    Layer.provideMerge(Database.layer),
    Layer.provideMerge(ConfigProvider.layer(ConfigProvider.fromEnv({ env }))),
    Layer.provide(Platform.layer)
  )
  const walk: Array<StatementPlans.Executed> = []
  const claim: Array<StatementPlans.Executed> = []
  const settled: Array<StatementPlans.Executed> = []
  yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const queue = yield* DeliveryQueue
    const found = (words: string) =>
      Effect.map(plans.taken, (executed) => executed.filter(({ statement }) => statement.includes(words)))
    for (let round = 0; round < rounds; round++) {
      yield* Patience.forMuch(sql`
        UPDATE deliveries SET due_at = now() - interval '1 second' WHERE event_id = ANY(ARRAY(
          SELECT event_id FROM deliveries WHERE status = 'pending' AND due_at > now()
          ORDER BY event_id DESC LIMIT ${webhooks * ofWebhook}
        ))
      `)
      yield* plans.taken
      const waiting = yield* queue.waiting
      const walks = yield* found("waiting AS")
      const room = new Map(waiting.slice(0, webhooks).map(({ webhookId }) => [webhookId, ofWebhook]))
      const leases = yield* queue.claim(room, 1024 ** 3)
      const claims = yield* found("room.places")
      // Few events have few pending deliveries.
      if (leases.length === 0) break
      walk.push(...walks)
      claim.push(...claims)
      const now = yield* Clock.currentTimeMillis
      yield* Effect.forEach(leases, (lease) => queue.settle(lease, outcome, now), { concurrency: "unbounded" })
      settled.push(...(yield* found("settled AS")))
    }
  }).pipe(Effect.provide(world))
  const row = (name: string, executed: ReadonlyArray<StatementPlans.Executed>) => [
    name,
    percentile(
      executed.map(({ milliseconds }) => milliseconds),
      0.5
    ).toFixed(1),
    percentile(executed.map(ListCost.pagesOf), 0.5).toFixed(0)
  ]
  return Table.render(
    ["the queue", "ms", "pages"],
    [
      row("webhooks with due deliveries, among 50 with pending ones", walk),
      row("a claim for four webhooks", claim),
      row("the outcomes of a claim", settled)
    ]
  )
}, Effect.scoped)
