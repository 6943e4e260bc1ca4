import { Effect } from "effect"

/** What a call of the client throws, or its promise is rejected with. */
export const failure = (call: () => unknown): Effect.Effect<unknown> =>
  Effect.promise(() =>
    Promise.resolve()
      .then(call)
      .then(
        () => new Error("It has not failed"),
        (error: unknown) => error
      )
  )
