import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { heldBytes } from "../HeldBytes.ts"
import * as Ports from "../Ports.ts"

const bytes = 32 * 1024 * 1024

/** Reserves a port, and has a large result. */
const owner = Effect.map(Ports.free, () => Array.from({ length: bytes / 8 }, (_, index) => index + 0.5))

describe("A reserved port", () => {
  it.live("retains nothing of the fiber that reserved it", () =>
    Effect.gen(function* () {
      const before = yield* heldBytes
      yield* Effect.asVoid(Effect.flatMap(Effect.forkDetach(owner), Fiber.await))
      yield* Effect.sleep("50 millis")
      assert.isBelow((yield* heldBytes) - before, bytes / 2)
    })
  )
})
