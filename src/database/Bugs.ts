import { Cause, Effect, Schema } from "effect"

type Bug = Schema.SchemaError | Cause.NoSuchElementError

const isBug = (error: unknown): error is Bug => Schema.isSchemaError(error) || Cause.isNoSuchElementError(error)

/** Makes bugs of statements defects: a row of another shape, or no row where there must be one. `SqlError` stays typed. */
export const die = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, Exclude<E, Bug>, R> =>
  Effect.catch(self, (error) =>
    // The guard narrows `unknown`, and TypeScript does not subtract it from a type parameter.
    isBug(error) ? Effect.die(error) : Effect.fail(error as Exclude<E, Bug>)
  )
