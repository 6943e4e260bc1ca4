import { Clock, Context, Effect, Layer, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import * as Elapsed from "./Elapsed.ts"

/** Milliseconds that a look counts. Tests shorten it. */
export const LookEvery = Context.Reference("inlet/schedule/DueWork/LookEvery", {
  defaultValue: () => 1_000
})

/** A check of whether a condition held at the last look. */
export type IsDue = Effect.Effect<boolean>

/**
 * Watches conditions of background work, all in one statement a second, because an idle process would otherwise ask the
 * database for each of them. Without its layer everything counts as due.
 */
export const DueWork = Context.Reference<{
  /**
   * Registers a condition: a subquery of one row and column, true if there is work. It counts as true if the look
   * fails, so that the work itself meets the failure.
   */
  readonly watch: (condition: Fragment) => Effect.Effect<IsDue>
}>("inlet/schedule/DueWork", { defaultValue: () => ({ watch: () => Effect.succeed(Effect.succeed(true)) }) })

export const layer = Layer.effect(
  DueWork,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const clock = yield* Clock.Clock
    const lookEvery = yield* LookEvery
    const oneAtATime = yield* Semaphore.make(1)
    const conditions: Array<Fragment> = []
    let found: ReadonlyArray<boolean> = []
    let lookedAt = Number.NEGATIVE_INFINITY

    const select = Effect.suspend(() => {
      const columns = conditions.map((condition) => sql`coalesce((${condition}), false)`)
      return sql<{ readonly due: ReadonlyArray<boolean> }>`SELECT json_build_array(${sql.csv(columns)}) AS due`
    })
    const lookAgain = Effect.gen(function* () {
      found = []
      const [row] = yield* select
      found = row?.due ?? []
    }).pipe(
      Effect.catchCause((cause) => Effect.logDebug("A look for background work failed", cause)),
      // A failed look counts too, so that the loops do not wait for one after another.
      Effect.ensuring(
        Effect.sync(() => {
          lookedAt = Elapsed.millisOf(clock)
        })
      )
    )
    const look = oneAtATime.withPermits(1)(
      Effect.suspend(() => (Elapsed.millisOf(clock) - lookedAt < lookEvery ? Effect.void : lookAgain))
    )

    return {
      watch: (condition) =>
        Effect.sync(() => {
          const number = conditions.push(condition) - 1
          return Effect.map(look, () => found[number] ?? true)
        })
    }
  })
)
