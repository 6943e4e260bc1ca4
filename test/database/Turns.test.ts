import { assert, describe, it } from "@effect/vitest"
import { Array, Deferred, Effect, Fiber } from "effect"
import * as Database from "../../src/database/Database.ts"
import * as Patience from "../../src/database/Patience.ts"
import * as Turns from "../../src/database/Turns.ts"

/** A client that takes a connection and releases it on request. The order is recorded. */
const make = Effect.fnUntraced(function* (turns: Turns.Turns) {
  const begun: Array<string> = []
  const ask = Effect.fnUntraced(function* (name: string, asker: string | undefined) {
    const over = yield* Deferred.make<void>()
    const work = Effect.andThen(
      Effect.sync(() => begun.push(name)),
      Deferred.await(over)
    )
    const fiber = yield* Effect.forkChild(Effect.provideService(turns.within(work), Turns.Asker, asker))
    yield* Effect.yieldNow
    return { fiber, end: Effect.andThen(Deferred.succeed(over, undefined), Fiber.await(fiber)) }
  })
  return { ask, begun }
})

describe("Database connection sharing", () => {
  it.effect("alternates between clients", () =>
    Effect.gen(function* () {
      const { ask, begun } = yield* make(Turns.make({ places: 1, mailShares: true }))
      const first = yield* ask("first", "busy")
      const busy = yield* Effect.forEach(Array.range(1, 20), (number) => ask(`busy ${number}`, "busy"))
      const others = [yield* ask("a", "a"), yield* ask("b", "b"), yield* ask("a again", "a")]
      yield* Effect.forEach([first, ...busy, ...others], ({ end }) => Effect.forkChild(end))
      yield* Effect.forEach([first, ...busy, ...others], ({ fiber }) => Fiber.await(fiber))
      assert.deepStrictEqual(begun.slice(0, 7), ["first", "busy 1", "a", "b", "busy 2", "a again", "busy 3"])
      assert.strictEqual(begun.length, 24)
    })
  )

  it.effect("prefers mail on a shared connection, and lets the API in at intervals", () =>
    Effect.gen(function* () {
      // All statements are quick.
      const { ask, begun } = yield* make(Turns.make({ places: 1, mailShares: true, now: () => 0n }))
      const api = yield* Effect.forEach(Array.range(1, 3), (number) => ask(`api ${number}`, "client"))
      const mail = yield* Effect.forEach(Array.range(1, 20), (number) => ask(`mail ${number}`, undefined))
      yield* Effect.forEach([...api, ...mail], ({ end }) => Effect.forkChild(end))
      yield* Effect.forEach([...api, ...mail], ({ fiber }) => Fiber.await(fiber))
      assert.deepStrictEqual(begun.slice(0, 4), ["api 1", "mail 1", "mail 2", "mail 3"])
      assert.deepStrictEqual(begun.slice(17, 19), ["api 2", "mail 17"])
      assert.strictEqual(begun.length, 23)
    })
  )

  it.effect("lets the API in after a few slow statements of mail", () =>
    Effect.gen(function* () {
      let now = 0n
      const { ask, begun } = yield* make(Turns.make({ places: 1, mailShares: true, now: () => now }))
      const holder = yield* ask("holder", undefined)
      const slow = yield* ask("slow", undefined)
      const mail = yield* ask("mail", undefined)
      const api = yield* ask("api", "client")
      yield* holder.end
      now = 30_000_000n
      for (const { end } of [slow, api, mail]) yield* end
      assert.deepStrictEqual(begun, ["holder", "slow", "api", "mail"])
    })
  )

  it.effect("does not delay mail with connections of its own", () =>
    Effect.gen(function* () {
      const { ask, begun } = yield* make(Turns.make({ places: 2, mailShares: false }))
      for (const name of ["one", "two", "three"]) yield* ask(name, "client")
      for (const name of ["mail", "more mail"]) yield* ask(name, undefined)
      assert.deepStrictEqual(begun, ["one", "two", "mail", "more mail"])
    })
  )

  it.effect("loses no connection to interruptions before, during and after its use", () =>
    Effect.gen(function* () {
      const { ask, begun } = yield* make(Turns.make({ places: 1, mailShares: true }))
      const holder = yield* ask("holder", "a")
      const given = yield* ask("given", "b")
      const waiting = yield* ask("waiting", "c")
      const last = yield* ask("last", undefined)
      yield* Fiber.interrupt(waiting.fiber)
      yield* Fiber.interrupt(last.fiber)
      // It is interrupted in the moment it gets the connection.
      const end = yield* Effect.forkChild(holder.end)
      yield* Fiber.interrupt(given.fiber)
      yield* Fiber.await(end)
      const next = yield* ask("next", "d")
      assert.strictEqual(begun.at(-1), "next")
      yield* Fiber.interrupt(next.fiber)
      yield* ask("one more", undefined)
      assert.strictEqual(begun.at(-1), "one more")
    })
  )

  it.live("fails a client on timeout as with an unreachable database", () =>
    Effect.gen(function* () {
      const turns = Turns.make({ places: 1, mailShares: true })
      yield* Effect.forkChild(turns.within(Effect.never))
      yield* Effect.yieldNow
      const error = yield* Effect.flip(
        Patience.ofRequest(Effect.provideService(turns.within(Effect.void), Turns.Asker, "client"))
      )
      assert.isTrue(Database.isUnreachable(error))
    })
  )
})
