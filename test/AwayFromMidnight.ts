import { Clock, Effect } from "effect"

const day = 86_400_000

/** No file takes longer whose tests count by UTC day. */
const before = 90_000

/** Some of them set times back by 2 min. */
const after = 150_000

// Runs before each file. Around midnight, a test would find in two days what it expects in one.
const untilOneDayIsSure = Effect.gen(function* () {
  const sinceMidnight = ((yield* Clock.currentTimeMillis) + before) % day
  if (sinceMidnight < before + after) yield* Effect.sleep(before + after - sinceMidnight)
})

await Effect.runPromise(untilOneDayIsSure)
