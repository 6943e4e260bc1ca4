import { Console, Effect, Option, Redacted } from "effect"
import * as Answer from "./Answer.ts"
import { CommandFailed } from "./CommandFailed.ts"
import * as Profiles from "./Profiles.ts"
import * as Service from "./Service.ts"

/**
 * Prints a created key, or stores it as the profile of `--save` and prints the rest. The service shows a key only once,
 * so a key that could not be stored is printed before the failure.
 */
export const record = Effect.fnUntraced(function* (
  json: boolean,
  answer: { readonly api_key: string },
  { place, save }: { readonly place: Service.Place; readonly save: Option.Option<string> }
) {
  if (Option.isNone(save)) return yield* Answer.record(json, answer)
  const { api_key: key, ...rest } = answer
  yield* Effect.flatMap(Service.baseUrl(place), (url) =>
    Profiles.keep(save.value, { url, key: Redacted.make(key) })
  ).pipe(
    Effect.tapError(() => Answer.record(json, answer)),
    Effect.mapError(
      ({ message }) =>
        new CommandFailed({
          message: `--save: The key above was not saved as the profile ${save.value}. Keep it, because it is shown only once. ${message}`
        })
    )
  )
  yield* Console.error(`Saved as the profile ${save.value}`)
  yield* Answer.record(json, rest)
})
