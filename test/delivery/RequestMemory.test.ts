import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as RequestMemory from "../../src/delivery/RequestMemory.ts"
import { WebhookId } from "../../src/model/Webhook.ts"

const mebibyte = 1024 * 1024
const webhook = (number: number) => WebhookId.make(`01980000-0000-7000-8000-00000000000${number}`)

describe("The memory of requests in other formats", () => {
  it.effect("is refused after 10 s, and to one webhook only if that holds its quarter", () =>
    Effect.gen(function* () {
      const reserve = yield* RequestMemory.make
      const held = yield* Scope.make()
      for (const _ of [1, 2, 3, 4]) yield* Scope.provide(reserve(webhook(1), mebibyte), held)
      const waiting = yield* Effect.forkChild(Effect.flip(Effect.scoped(reserve(webhook(1), mebibyte))))
      yield* Effect.scoped(reserve(webhook(2), mebibyte))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Fiber.join(waiting))._tag, "Crowded")

      yield* Scope.close(held, Exit.void)
      yield* Effect.scoped(reserve(webhook(1), mebibyte))
    })
  )

  it.effect("serves four webhooks at their most, and the next one after them", () =>
    Effect.gen(function* () {
      const reserve = yield* RequestMemory.make
      const held = yield* Scope.make()
      // A larger message than a webhook may hold counts as its quarter.
      for (const number of [1, 2, 3, 4]) yield* Scope.provide(reserve(webhook(number), 100 * mebibyte), held)
      const next = yield* Effect.forkChild(Effect.scoped(reserve(webhook(5), 1)))
      yield* TestClock.adjust("9 seconds")
      yield* Scope.close(held, Exit.void)
      yield* Fiber.join(next)
    })
  )
})
