import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Queue, Scope, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlError, UnknownError } from "effect/sql/SqlError"
import { TestClock } from "effect/testing"
import * as DomainNews from "../../src/delivery/DomainNews.ts"
import { EventFeed } from "../../src/delivery/EventFeed.ts"
import { DomainId } from "../../src/model/Domain.ts"

const feed = EventFeed.layer.pipe(Layer.provide(SecureRandom.layerWebCrypto))

const idOf = (number: number) => DomainId.make(`01a22a92-6533-70c4-8ec7-${`${number}`.padStart(12, "0")}`)
const ids = Array.from({ length: 40 }, (_, number) => idOf(number))

/** A database as looks find it, and the looks. */
const world = Effect.gen(function* () {
  const looks: Array<ReadonlyArray<DomainId>> = []
  const database = { changed: new Set<DomainId>(), gone: new Set<DomainId>(), isAway: false }
  const newsOf = yield* DomainNews.make({
    says: "A look failed",
    statesOf: (asked) =>
      Effect.suspend(() => {
        looks.push(asked)
        if (database.isAway) return Effect.fail(new SqlError({ reason: new UnknownError({ cause: "away" }) }))
        const found = asked.filter((id) => !database.gone.has(id))
        return Effect.succeed(found.map((id) => ({ id, state: database.changed.has(id) ? "new" : "old" })))
      })
  })
  /** A client, and how often it was woken since the last question. */
  const client = Effect.fnUntraced(function* (id: DomainId) {
    const woken = yield* Stream.toQueue(newsOf(id), { capacity: "unbounded" })
    return { id, woken: Effect.map(Queue.clear(woken), ({ length }) => length) }
  })
  return { client, database, looks }
})

type Client = Effect.Success<ReturnType<Effect.Success<typeof world>["client"]>>

/** The domains of the clients that were woken since the last question. */
const wokenOf = (clients: ReadonlyArray<Client>) =>
  Effect.map(
    Effect.forEach(clients, ({ id, woken }) => Effect.map(woken, (times) => (times > 0 ? [id] : []))),
    (all) => all.flat()
  )

/** Two clients for each domain, after their first look. */
const pairs = Effect.gen(function* () {
  const { client, ...rest } = yield* world
  const clients = yield* Effect.forEach([...ids, ...ids], client)
  yield* TestClock.adjust("1 second")
  assert.lengthOf(yield* wokenOf(clients), 80)
  return { ...rest, woken: wokenOf(clients) }
})

describe("Clients that wait for news", () => {
  it.effect("share one look a second, which wakes those whose domain has news", () =>
    Effect.gen(function* () {
      const { database, looks, woken } = yield* pairs
      assert.deepStrictEqual(looks, [ids])
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* woken, [])
      database.changed.add(idOf(7))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* woken, [idOf(7), idOf(7)])
      assert.lengthOf(looks, 4)
    }).pipe(Effect.scoped, Effect.provide(feed))
  )

  it.effect("are woken by an announcement without a look", () =>
    Effect.gen(function* () {
      const { looks, woken } = yield* pairs
      ;(yield* EventFeed).announce(idOf(3), { due: null })
      yield* Effect.yieldNow
      assert.deepStrictEqual(yield* woken, [idOf(3), idOf(3)])
      assert.lengthOf(looks, 1)
    }).pipe(Effect.scoped, Effect.provide(feed))
  )

  it.effect("are woken once when their domain is removed", () =>
    Effect.gen(function* () {
      const { database, woken } = yield* pairs
      database.gone.add(idOf(5))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* woken, [idOf(5), idOf(5)])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* woken, [])
    }).pipe(Effect.scoped, Effect.provide(feed))
  )

  it.effect("are all woken by a failed look, to meet the failure themselves", () =>
    Effect.gen(function* () {
      const { database, woken } = yield* pairs
      database.isAway = true
      yield* TestClock.adjust("1 second")
      assert.lengthOf(yield* woken, 80)
      database.isAway = false
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(yield* woken, [])
    }).pipe(Effect.scoped, Effect.provide(feed))
  )

  it.effect("cost no look after the last has left, and the next is woken by what came meanwhile", () =>
    Effect.gen(function* () {
      const { client, database, looks } = yield* world
      const scope = yield* Scope.make()
      yield* Scope.provide(client(idOf(1)), scope)
      yield* TestClock.adjust("1 second")
      assert.lengthOf(looks, 1)
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("10 seconds")
      assert.lengthOf(looks, 1)

      const next = yield* client(idOf(1))
      yield* Effect.yieldNow
      assert.strictEqual(yield* next.woken, 1)
      database.changed.add(idOf(1))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* next.woken, 1)
    }).pipe(Effect.scoped, Effect.provide(feed))
  )
})
