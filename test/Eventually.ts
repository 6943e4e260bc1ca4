import { Duration, Effect } from "effect"

/** The milliseconds until the next look. They grow, because looks every 25 ms took a seventh of the suite's CPU time. */
const pauseAfter = (looks: number) => Math.min(25 * 1.25 ** looks, 200)

/** Repeats an effect until its result matches. Dies with the last result on timeout. */
export const eventually = Effect.fnUntraced(function* <A, E, R>(
  look: Effect.Effect<A, E, R>,
  expected: (seen: A) => boolean,
  limit: Duration.Input = "1 minute"
) {
  const most = Duration.toMillis(limit)
  let seen = yield* look
  let waited = 0
  for (let looks = 0; !expected(seen); looks++) {
    if (waited >= most) return yield* Effect.die(new Error(`Timed out with ${JSON.stringify(seen)?.slice(0, 2_000)}`))
    yield* Effect.sleep(pauseAfter(looks))
    waited += pauseAfter(looks)
    seen = yield* look
  }
  return seen
})
