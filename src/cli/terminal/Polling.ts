import { Console, Duration, Effect, Stdio } from "effect"
import { Flag } from "effect/cli"
import * as Elapsed from "../../schedule/Elapsed.ts"
import { CommandFailed } from "./CommandFailed.ts"
import * as SpanText from "./SpanText.ts"

export const wait = Flag.String("wait").pipe(
  Flag.withDescription("Time to wait for it, such as 5m. Exits with 4 on timeout"),
  Flag.filterMap(SpanText.parse, () => "a time such as 90s or 5m"),
  Flag.withDefault(Duration.zero)
)

/** Polls every two seconds until the state is final, and prints the progress. */
export const until = Effect.fnUntraced(function* <A, E, R>(
  time: Duration.Duration,
  question: Effect.Effect<A, E, R>,
  { isLast, state }: { readonly isLast: (answer: A) => boolean; readonly state: (answer: A) => string }
) {
  const stdio = yield* Stdio.Stdio
  const isTerminal = yield* stdio.stderrIsTerminal
  const ends = (yield* Elapsed.millis) + Duration.toMillis(time)
  let told = ""
  for (;;) {
    const answer = yield* question
    if (isLast(answer) || Duration.isZero(time)) return answer
    const stands = state(answer)
    if (isTerminal && stands !== told) yield* Console.error(`${stands} …`)
    told = stands
    if ((yield* Elapsed.millis) >= ends) {
      return yield* new CommandFailed({ message: `${stands} after ${Duration.format(time)}`, exitCode: 4 })
    }
    yield* Effect.sleep("2 seconds")
  }
})
