import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Queue, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { EventFeed } from "../../src/delivery/EventFeed.ts"
import { EventNews } from "../../src/events/EventNews.ts"
import { DomainId } from "../../src/model/Domain.ts"
import { TestInlet } from "../TestInlet.ts"

const news = EventNews.layer.pipe(Layer.provideMerge(EventFeed.layer))

layer(news.pipe(Layer.provideMerge(TestInlet.layer())), { excludeTestServices: true })("News of a domain", (it) => {
  it.effect("come at once, from announcements, and without one after the next look", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const feed = yield* EventFeed
      const domainId = DomainId.make((yield* inlet.inbox()).domainId)
      const told = yield* Stream.toQueue((yield* EventNews).of(domainId), { capacity: "unbounded" })
      const next = Queue.take(told).pipe(Effect.timeout("10 seconds"))
      yield* next
      // The first look finds a position that it did not know.
      yield* next
      feed.announce(domainId, { due: null })
      yield* next
      assert.strictEqual(yield* Queue.size(told), 0)
      yield* sql`INSERT INTO event_positions (domain_id, position) VALUES (${domainId}, 7)
          ON CONFLICT (domain_id) DO UPDATE SET position = 7`
      yield* next
      yield* sql`DELETE FROM domains WHERE id = ${domainId}`
      yield* next
    }).pipe(Effect.scoped)
  )
})
