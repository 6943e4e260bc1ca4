import { Config, Effect, Option } from "effect"
import type { Documented } from "./Setting.ts"

/** Settings whose values are secret, or may contain a secret or a person's data. */
const hidden = /KEY|SECRET|TOKEN|PASSWORD|USER|CONTACT|^DATABASE_URL$|^OTEL_/

/** The settings that the environment sets, without the values of secrets. */
export const of = Effect.fnUntraced(function* (documented: ReadonlyArray<Documented>) {
  const found = yield* Effect.forEach(documented, ({ fallback, name }) =>
    Effect.map(Effect.orDie(Config.option(Config.String(name))), (value) =>
      Option.isNone(value) ? [] : [{ name, value: hidden.test(name) ? null : value.value, fallback }]
    )
  )
  return found.flat()
})
