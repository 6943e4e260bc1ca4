import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as RequestMemory from "../../src/delivery/RequestMemory.ts"
import { WebhookId } from "../../src/model/Webhook.ts"
import { WorkspaceId } from "../../src/model/Workspace.ts"

const mebibyte = 1024 * 1024

/** A webhook of a workspace, by numbers of two digits. */
const owner = (workspace: number, webhook: number) => ({
  workspaceId: WorkspaceId.make(`01980000-0000-7000-8000-0000000000${workspace}`),
  webhookId: WebhookId.make(`01980000-0000-7000-8000-00000000${workspace}${webhook}`)
})

/** Requests of messages of 1 MiB hang from now on, each with 4 MiB. */
const hang = Effect.fnUntraced(function* (
  open: Effect.Success<typeof RequestMemory.make>,
  owners: ReadonlyArray<RequestMemory.Owner>
) {
  for (const one of owners) yield* Effect.forkScoped((yield* open(one)).reserve(mebibyte))
  yield* Effect.yieldNow
})

const took = (open: Effect.Success<typeof RequestMemory.make>, one: RequestMemory.Owner, bytes = mebibyte) =>
  Effect.scoped(Effect.flatMap(open(one), ({ reserve }) => reserve(bytes)))

describe("The memory of requests in other formats", () => {
  it.effect("is refused after 10 s, and to one webhook only if that holds its share", () =>
    Effect.gen(function* () {
      const open = yield* RequestMemory.make
      const held = yield* Scope.make()
      yield* Scope.provide(hang(open, Array(4).fill(owner(10, 10))), held)
      const waiting = yield* Effect.forkChild(Effect.flip(took(open, owner(10, 10))))
      yield* took(open, owner(10, 11))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Fiber.join(waiting))._tag, "Crowded")

      yield* Scope.close(held, Exit.void)
      yield* took(open, owner(10, 10))
    })
  )

  it.effect("is left to other workspaces by one whose hundred webhooks hang", () =>
    Effect.gen(function* () {
      const open = yield* RequestMemory.make
      const webhooks = Array.from({ length: 90 }, (_, index) => owner(10, 10 + index))
      yield* hang(open, [...webhooks, ...webhooks])
      for (const number of [11, 12, 13]) yield* took(open, owner(number, 10), 4 * mebibyte)
    }).pipe(Effect.scoped)
  )

  it.effect("is left to a workspace without requests by any number of others that hang", () =>
    Effect.gen(function* () {
      const open = yield* RequestMemory.make
      for (const workspace of [10, 11, 12, 13]) {
        yield* hang(
          open,
          Array.from({ length: 40 }, (_, index) => owner(workspace, 10 + index))
        )
      }
      yield* took(open, owner(14, 10))
    }).pipe(Effect.scoped)
  )

  it.effect("serves four webhooks at their most, and the next one after them", () =>
    Effect.gen(function* () {
      const open = yield* RequestMemory.make
      const held = yield* Scope.make()
      // A larger message than a webhook may hold counts as its share.
      for (const number of [10, 11, 12, 13]) {
        const { reserve } = yield* Scope.provide(open(owner(number, 10)), held)
        yield* reserve(100 * mebibyte)
      }
      const next = yield* Effect.forkChild(took(open, owner(14, 10), 1))
      yield* TestClock.adjust("9 seconds")
      yield* Scope.close(held, Exit.void)
      yield* Fiber.join(next)
    })
  )

  it.effect("is free for the next request once a larger one before it gives up", () =>
    Effect.gen(function* () {
      const open = yield* RequestMemory.make
      yield* hang(
        open,
        [10, 11, 12, 13].flatMap((workspace) => [owner(workspace, 10), owner(workspace, 11)])
      )
      const large = yield* Effect.forkChild(took(open, owner(10, 10), 3 * mebibyte))
      yield* Effect.yieldNow
      const small = yield* Effect.forkChild(took(open, owner(11, 10)))
      yield* Effect.yieldNow
      assert.isUndefined(small.pollUnsafe())
      yield* Fiber.interrupt(large)
      yield* Effect.yieldNow
      assert.isDefined(small.pollUnsafe())
    }).pipe(Effect.scoped)
  )

  it.effect("is freed but for the body once the request is made", () =>
    Effect.gen(function* () {
      const open = yield* RequestMemory.make
      for (let requests = 0; requests < 10; requests++) {
        const { keep, reserve } = yield* open(owner(10, 10))
        yield* reserve(mebibyte)
        keep(mebibyte)
      }
      yield* took(open, owner(10, 10))
    }).pipe(Effect.scoped)
  )

  it.effect("is not kept by a request that ends while it waits", () =>
    Effect.gen(function* () {
      const open = yield* RequestMemory.make
      const held = yield* Scope.make()
      yield* Scope.provide(hang(open, Array(4).fill(owner(10, 10))), held)
      const waiting = yield* Effect.forkChild(took(open, owner(10, 10)))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(waiting)
      yield* Scope.close(held, Exit.void)
      yield* hang(open, Array(3).fill(owner(10, 10)))
      yield* took(open, owner(10, 10))
    }).pipe(Effect.scoped)
  )
})
