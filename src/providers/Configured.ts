import { Effect, Schema } from "effect"

/** Incomplete credentials. The message names the missing settings. */
export class Unconfigured extends Schema.TaggedError<Unconfigured>()("Unconfigured", { message: Schema.String }) {}

/** Every one of the named settings, or a failure with the missing ones. */
export const whole = <const A extends Record<string, unknown>>(settings: A) => {
  const missing = Object.keys(settings).filter((name) => settings[name] === undefined)
  return missing.length === 0
    ? // All are defined here, as checked above.
      Effect.succeed(settings as { readonly [Name in keyof A]: Exclude<A[Name], undefined> })
    : Effect.fail(
        new Unconfigured({
          message: `${missing.join(", ")}: Missing beside ${Object.keys(settings)
            .filter((name) => settings[name] !== undefined)
            .join(", ")}`
        })
      )
}

/** A name that no Layer has. */
export const unknown = (setting: string, name: string, known: Iterable<string>) =>
  new Unconfigured({ message: `${setting}: ${name} is unknown. Known: ${[...known].join(", ")}` })

/** A Layer under another name than its own. */
export const misnamed = (setting: string, name: string, itself: string) =>
  new Unconfigured({ message: `${setting}: the Layer given as ${name} has the name ${itself}` })
