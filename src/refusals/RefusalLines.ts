import { Effect, FiberSet } from "effect"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"

/** Log lines about single refusals in each interval. */
const mostLines = 100
const interval = "10 seconds"

/**
 * Limits the log lines about single refusals. A flood has thousands of sessions a minute, and their lines would fill
 * the disk. Another line tells how many were left out.
 */
export const make = Effect.gen(function* () {
  const run = yield* FiberSet.makeRuntime()
  let lines = 0
  const count = yield* BackgroundLoop.whileBusy(interval, "A count of refusals was not logged", () => {
    const leftOut = lines - mostLines
    lines = 0
    if (leftOut > 0) {
      run(
        Effect.annotateLogs(Effect.logInfo("Further refusals of mail were counted, not logged"), { refusals: leftOut })
      )
    }
    return false
  })
  return {
    /** Whether one more line may be logged. */
    take: (): boolean => {
      count()
      return ++lines <= mostLines
    }
  }
})
