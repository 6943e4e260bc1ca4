import { Cause, Clock, Context, Effect, Layer, Metric, Option, type Schema } from "effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { isUnreachable } from "../database/Database.ts"
import * as Patience from "../database/Patience.ts"
import { Asker } from "../database/Turns.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import * as Elapsed from "../schedule/Elapsed.ts"
import { type limits, type Noted, type Refusal, RefusalBuffer } from "./RefusalBuffer.ts"
import * as RefusalRows from "./RefusalRows.ts"
import * as RefusalTargets from "./RefusalTargets.ts"
import * as UnknownRows from "./UnknownRows.ts"

/** Entries that one round writes. */
const batch = 500

/** The bounds of the memory, and the pauses between rounds. Tests shorten them. */
export const Bounds = Context.Reference<{
  readonly limits: Partial<typeof limits>
  readonly idleMillis: number
  readonly afterFailureMillis: number
}>("inlet/refusals/RefusalNotes/Bounds", {
  defaultValue: () => ({ limits: {}, idleMillis: 1_000, afterFailureMillis: 10_000 })
})

const droppedTotal = Metric.counter("inlet_refusals_dropped_total", {
  description: "Refusals that are in no ledger, because too many different ones came at once"
})

/** Takes refused recipients and messages, and writes them to the ledgers apart from the path of mail. */
export class RefusalNotes extends Context.Service<
  RefusalNotes,
  {
    /** Remembers a refusal, or drops and counts it if the memory is full. Never waits. */
    note(refusal: Refusal): void
  }
>()("inlet/refusals/RefusalNotes") {
  /** Keeps nothing. */
  static readonly layerNone = Layer.succeed(RefusalNotes, RefusalNotes.of({ note: () => {} }))

  static readonly layer = Layer.effect(
    RefusalNotes,
    Effect.gen(function* () {
      const { afterFailureMillis, idleMillis, limits } = yield* Bounds
      const clock = yield* Clock.Clock
      const buffer = new RefusalBuffer(limits)
      const targetsOf = yield* RefusalTargets.make
      const writeRows = yield* RefusalRows.make
      const writeUnknown = yield* UnknownRows.make

      /** After an outage or a stop, the entries go back. A batch that the database refuses would fail forever. */
      const orKeep =
        (notes: ReadonlyArray<Noted>) =>
        <A>(written: Effect.Effect<A, SqlError | Schema.SchemaError>) =>
          Effect.onError(written, (cause) =>
            Effect.sync(() => {
              const error = Cause.findErrorOption(cause)
              const isRefused = Option.isSome(error) && !(isSqlError(error.value) && isUnreachable(error.value))
              if (isRefused) buffer.drop(notes)
              else buffer.restore(notes)
            })
          )

      const write = Effect.fnUntraced(function* (notes: ReadonlyArray<Noted>) {
        const { targets, unknown } = yield* orKeep(notes)(targetsOf(notes))
        yield* orKeep(notes)(writeRows(targets))
        yield* orKeep(unknown)(writeUnknown(unknown))
      })

      /** Writes one batch. Returns its size. */
      const some = Effect.gen(function* () {
        const notes = buffer.take(batch)
        if (notes.length > 0) yield* write(notes)
        return notes.length
      }).pipe(
        Effect.ensuring(Effect.suspend(() => Metric.update(droppedTotal, buffer.takeDropped()))),
        Effect.provideService(Asker, "refusals")
      )

      const round = Effect.gen(function* () {
        const began = yield* Elapsed.millis
        const written = yield* some
        const took = (yield* Elapsed.millis) - began
        // Leaves the database to others at least half of the time.
        yield* Effect.sleep(written < batch ? idleMillis : Math.max(took, 50))
      }).pipe(Effect.tapCause(() => Effect.sleep(afterFailureMillis)))

      // Briefly, because the process is about to end.
      const rest = Effect.repeat(some, { while: (written) => written === batch, times: 20 }).pipe(
        Effect.timeout("3 seconds"),
        Effect.ignoreCause
      )
      yield* Effect.addFinalizer(() => (buffer.size === 0 ? Effect.void : Patience.ofRequest(rest)))
      yield* BackgroundLoop.endless(
        {
          says: "Refused mail could not be written to its ledger. Inlet retries after an outage, and drops what the database rejects",
          level: "Warn"
        },
        round
      )
      return RefusalNotes.of({ note: (refusal) => buffer.add(refusal, clock.currentTimeMillisUnsafe()) })
    })
  )
}
