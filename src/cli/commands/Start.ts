import { Effect } from "effect"
import { Command } from "effect/cli"
import * as EnvFile from "../terminal/EnvFile.ts"

// Loads the service only for this command, so that other commands start faster.
const service = Effect.flatMap(
  Effect.promise(() => import("../../start/Start.ts")),
  ({ program }) => program
)

export const command = Command.make("start", { envFile: EnvFile.flag }, ({ envFile }) =>
  EnvFile.provide(envFile, service)
).pipe(Command.withDescription("Start the service. Its data is in DATA_DIR, default ./data"))
