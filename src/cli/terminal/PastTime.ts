import { DateTime, Effect, Option } from "effect"
import { CommandFailed } from "./CommandFailed.ts"
import * as SpanText from "./SpanText.ts"

/** The query parameter of a flag. Without the flag there is none. */
export const query = <Name extends string>(name: Name, given: Option.Option<string>) =>
  Option.match(given, {
    onNone: () => Effect.succeed({}),
    onSome: (text) => Effect.map(parse(name, text), (time) => ({ [name]: time }))
  })

/** The time that a flag gives, as a time or as a duration before now. */
export const parse = Effect.fnUntraced(function* (flag: string, text: string) {
  const ago = SpanText.parse(text)
  if (Option.isSome(ago)) return DateTime.subtractDuration(yield* DateTime.now, ago.value)
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? DateTime.make(text) : Option.none<DateTime.Utc>()
  if (Option.isSome(time)) return DateTime.toUtc(time.value)
  return yield* new CommandFailed({
    message: `--${flag}: Expected a duration such as 2d, or a time such as 2026-01-31`
  })
})
