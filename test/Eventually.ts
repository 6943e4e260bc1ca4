import { Duration, Effect } from "effect"

/** Repeats an effect until its result matches. Dies with the last result on timeout. */
export const eventually = Effect.fnUntraced(function* <A, E, R>(
  look: Effect.Effect<A, E, R>,
  expected: (seen: A) => boolean,
  limit: Duration.Input = "20 seconds"
) {
  const most = Duration.toMillis(limit) / 25
  let seen = yield* look
  for (let looks = 0; !expected(seen); looks++) {
    if (looks >= most) return yield* Effect.die(new Error(`Timed out with ${JSON.stringify(seen)?.slice(0, 2_000)}`))
    yield* Effect.sleep("25 millis")
    seen = yield* look
  }
  return seen
})
