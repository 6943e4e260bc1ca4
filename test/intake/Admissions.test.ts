import { randomUUID } from "node:crypto"
import { setImmediate } from "node:timers/promises"
import { assert, layer } from "@effect/vitest"
import { Array, Clock, Effect, Fiber, Latch } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentTransformer } from "effect/sql/Statement"
import { TestClock } from "effect/testing"
import * as Admissions from "../../src/intake/Admissions.ts"
import { DomainName } from "../../src/model/Domain.ts"
import * as TestDatabase from "../TestDatabase.ts"

const turns = Effect.replicateEffect(
  Effect.promise(() => setImmediate()),
  5
)

/** How many statements two lookups take, of which the second comes some turns of the event loop after the first. */
const statementsOfTwo = Effect.fnUntraced(function* (mayWait: boolean) {
  let statements = 0
  const count = <A>(statement: A) =>
    Effect.sync(() => {
      statements++
      return statement
    })
  const { lookUp } = yield* Effect.provideService(Admissions.make, CurrentTransformer, count)
  const first = yield* Effect.forkChild(lookUp(DomainName.make("one.example"), mayWait))
  yield* turns
  const second = yield* Effect.forkChild(lookUp(DomainName.make("two.example"), mayWait))
  assert.deepStrictEqual(yield* Fiber.joinAll([first, second]), [null, null])
  return statements
}, Effect.scoped)

layer(TestDatabase.layer, { excludeTestServices: true })("A lookup of a domain", (it) => {
  it.effect("waits for no later one", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* statementsOfTwo(false), 2)
    })
  )

  it.effect("shares its statement with later ones if it may wait", () =>
    Effect.gen(function* () {
      // On a busy machine the 10 ms may be over before the second one comes.
      const tries = yield* Effect.replicateEffect(statementsOfTwo(true), 20)
      assert.include(tries, 1)
    })
  )

  it.effect("whose sender has its 451 takes no statement, so that none collect while the database hangs", () =>
    Effect.gen(function* () {
      const clock = yield* TestClock.make()
      const works = yield* Latch.make(false)
      let statements = 0
      const hang = <A>(statement: A) =>
        Effect.suspend(() => {
          statements++
          return Effect.as(works.await, statement)
        })
      const { lookUp } = yield* Admissions.make.pipe(
        Effect.provideService(CurrentTransformer, hang),
        Effect.provideService(Clock.Clock, clock)
      )
      const lookUps = Array.range(1, 130).map((number) => lookUp(DomainName.make(`${number}.example`), false))
      const asking = yield* Effect.forEach(lookUps, (one) => Effect.forkChild(Effect.flip(one)))
      yield* turns
      yield* clock.adjust("9 seconds")
      for (const { _tag } of yield* Fiber.joinAll(asking)) assert.strictEqual(_tag, "NotStored")
      const before = statements
      yield* works.open
      assert.isNull(yield* lookUp(DomainName.make("new.example"), false))
      assert.strictEqual(statements, before + 1)
    }).pipe(Effect.scoped)
  )

  it.effect("sees a busy domain that is enabled again at once", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      // Results are cached for a second. This clock stands still.
      const clock = yield* TestClock.make()
      const { lookUp, recent } = yield* Effect.provideService(Admissions.make, Clock.Clock, clock)
      const name = DomainName.make("busy.example")
      const seen = Effect.suspend(() => {
        const known = recent(name)
        return Effect.map(known === undefined ? lookUp(name, false) : Effect.succeed(known), (it) => it?.takesMail)
      })
      yield* sql`
        INSERT INTO domains (id, name, origin, status, status_before, verified_at)
        VALUES (${randomUUID()}, ${name}, 'byo', 'disabled', 'verified', now())
      `
      assert.deepStrictEqual(new Set(yield* Effect.replicateEffect(seen, 20)), new Set([false]))
      yield* sql`UPDATE domains SET status = status_before, status_before = NULL WHERE name = ${name}`
      assert.isTrue(yield* seen)
      // From then on its result is cached.
      assert.strictEqual(recent(name)?.takesMail, true)
    }).pipe(Effect.scoped)
  )
})
