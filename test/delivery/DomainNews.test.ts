import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Queue, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import * as DomainNews from "../../src/delivery/DomainNews.ts"
import { EventFeed } from "../../src/delivery/EventFeed.ts"
import { DomainId } from "../../src/model/Domain.ts"

const feed = EventFeed.layer.pipe(Layer.provide(SecureRandom.layerWebCrypto))

const ids = Array.from({ length: 40 }, (_, number) =>
  DomainId.make(`01a22a92-6533-70c4-8ec7-${`${number}`.padStart(12, "0")}`)
)

describe("Clients that wait for news", () => {
  it.effect("share one look a second, which wakes those whose domain has news", () =>
    Effect.gen(function* () {
      const looks: Array<ReadonlyArray<DomainId>> = []
      let changed: DomainId | undefined
      const newsOf = yield* DomainNews.make({
        says: "A look failed",
        statesOf: (asked) =>
          Effect.sync(() => {
            looks.push(asked)
            return asked.map((id) => ({ id, state: id === changed ? "new" : "old" }))
          })
      })
      const clients = yield* Effect.forEach([...ids, ...ids], (id) =>
        Effect.map(Stream.toQueue(newsOf(id), { capacity: "unbounded" }), (woken) => ({ id, woken }))
      )
      const woken = Effect.forEach(clients, ({ id, woken }) =>
        Effect.map(Queue.clear(woken), (times) => (times.length > 0 ? [id] : []))
      ).pipe(Effect.map((all) => all.flat()))
      yield* TestClock.adjust("1 second")
      assert.lengthOf(yield* woken, 80)
      assert.deepStrictEqual(looks, [ids])

      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* woken, [])
      changed = ids[7]
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* woken, [ids[7], ids[7]])
      assert.lengthOf(looks, 4)
    }).pipe(Effect.scoped, Effect.provide(feed))
  )
})
