import { Effect } from "effect"

/** The error that a client call throws or rejects with. */
export const failure = (call: () => unknown): Effect.Effect<unknown> =>
  Effect.promise(() =>
    Promise.resolve()
      .then(call)
      .then(
        () => new Error("It has not failed"),
        (error: unknown) => error
      )
  )
