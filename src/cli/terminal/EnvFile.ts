import { ConfigProvider, Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { CommandFailed } from "./CommandFailed.ts"

/** The flag of the commands that read the service's settings. */
export const flag = Flag.File("env-file", { mustExist: true }).pipe(
  Flag.withDescription("File with settings, such as .env. The environment takes precedence"),
  Flag.optional
)

/** Adds the settings of a file to those of the environment, as Node's --env-file does. */
export const provide = Effect.fnUntraced(function* <A, E, R>(
  file: Option.Option<string>,
  effect: Effect.Effect<A, E, R>
) {
  if (Option.isNone(file)) return yield* effect
  yield* Effect.try({
    try: () => process.loadEnvFile(file.value),
    catch: (error) => new CommandFailed({ message: `--env-file: ${error instanceof Error ? error.message : error}` })
  })
  return yield* Effect.provide(effect, ConfigProvider.layer(ConfigProvider.fromEnv()))
})
