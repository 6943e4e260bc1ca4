import { ConfigProvider, Effect, FileSystem, Option } from "effect"
import { Command, Flag } from "effect/cli"

/** The environment overrides the file, as with Node's --env-file. */
const settingsIn = Effect.fnUntraced(function* (file: string) {
  const text = yield* FileSystem.FileSystem.use((fs) => fs.readFileString(file))
  return ConfigProvider.layerAdd(ConfigProvider.fromDotEnvContents(text))
})

// Loads the service only for this command, so that other commands start faster.
const service = Effect.flatMap(
  Effect.promise(() => import("../../start/Start.ts")),
  ({ program }) => program
)

export const command = Command.make(
  "start",
  {
    envFile: Flag.File("env-file", { mustExist: true }).pipe(
      Flag.withDescription("File with settings, such as .env. The environment takes precedence"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ envFile }) {
    return yield* Option.isSome(envFile) ? Effect.provide(service, yield* settingsIn(envFile.value)) : service
  })
).pipe(Command.withDescription("Start the service. Its data is in DATA_DIR, default ./data"))
