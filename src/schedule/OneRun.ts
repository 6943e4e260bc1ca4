import { Effect, Fiber } from "effect"

/**
 * Runs `work` in a fiber of the scope, once at a time, for all that ask meanwhile. A timeout ends the wait for it also
 * while `work` cannot be interrupted, as in a system call of a disk that hangs.
 */
export const make = Effect.fnUntraced(function* <A, E, R>(work: Effect.Effect<A, E, R>) {
  const scope = yield* Effect.scope
  let running: Fiber.Fiber<A, E> | undefined
  const started = Effect.map(Effect.forkIn(work, scope), (fiber) => {
    running = fiber
    fiber.addObserver(() => {
      running = undefined
    })
    return fiber
  })
  const current = Effect.suspend(() => (running === undefined ? started : Effect.succeed(running)))
  return Effect.flatMap(Effect.uninterruptible(current), Fiber.join)
})
