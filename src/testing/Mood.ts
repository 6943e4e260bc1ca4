import { Effect } from "effect"

/**
 * The behavior of a fake from now on. `refuse`: refuses and does nothing. `fail`: fails with an unknown outcome.
 * `hang`: never answers.
 */
export type Mood = "work" | "refuse" | "fail" | "hang"

export interface Moody<Call extends string> {
  /** Sets the mood of these calls, or of all. */
  will(mood: Mood, ...calls: ReadonlyArray<Call>): Effect.Effect<void>
}

/** Moods, and a function that applies them to a call. */
export const make = <Call extends string>(all: ReadonlyArray<Call>) => {
  const moods = new Map<Call, Mood>()
  const will: Moody<Call>["will"] = (mood, ...calls) =>
    Effect.sync(() => {
      for (const call of calls.length === 0 ? all : calls) moods.set(call, mood)
    })
  const under =
    <E1, E2>(
      call: Call,
      other: { readonly refuse: Effect.Effect<never, E1>; readonly fail: Effect.Effect<never, E2> }
    ) =>
    <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | E1 | E2, R> =>
      Effect.suspend((): Effect.Effect<A, E | E1 | E2, R> => {
        switch (moods.get(call) ?? "work") {
          case "work":
            return work
          case "refuse":
            return other.refuse
          case "fail":
            return other.fail
          case "hang":
            return Effect.never
        }
      })
  return { will, under }
}
