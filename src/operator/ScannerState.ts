import { DateTime, Duration, Effect, Schema } from "effect"
import * as ScannerTrial from "../health/ScannerTrial.ts"
import * as Elapsed from "../schedule/Elapsed.ts"

/** How long a trial is cached, and how long it may take. */
const keptFor = "10 seconds"
const mostTime = Duration.seconds(3)

export const ScannerState = Schema.Struct({
  answers: Schema.Boolean.annotate({ description: "whether it has scanned a harmless mail" }),
  error: Schema.NullOr(Schema.String).annotate({
    description:
      "why not. This trial ends after 3 s, but mail waits up to `MAIL_SCANNER_TIMEOUT`, and then goes on with the verdict `unknown`"
  }),
  checked_at: Schema.DateTimeUtcFromString
}).annotate({ identifier: "ScannerState" })
export type ScannerState = typeof ScannerState.Type

/** Makes an effect that asks the mail scanner. Null without one. */
export const make = Effect.gen(function* () {
  const trial = yield* ScannerTrial.make(mostTime)
  if (trial === undefined) return Effect.succeed(null)
  return yield* trial.pipe(
    Effect.match({
      onFailure: ({ message }) => ({ answers: false, error: message }),
      onSuccess: () => ({ answers: true, error: null })
    }),
    Effect.zipWith(DateTime.now, (found, now): ScannerState => ({ ...found, checked_at: now })),
    // The first caller may disconnect, while others wait for the same trial.
    Effect.uninterruptible,
    Elapsed.cached(keptFor)
  )
})
