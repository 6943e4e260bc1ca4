import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import * as Database from "./Database.ts"
import * as Inlet from "./Inlet.ts"
import * as Providers from "./providers/Providers.ts"
import * as Settings from "./Settings.ts"
import * as Telemetry from "./Telemetry.ts"
import * as Tour from "./Tour.ts"

const service = Tour.layer.pipe(
  Layer.provide(Inlet.layer),
  Layer.provide([Database.layer, Providers.layer]),
  Layer.provide(Telemetry.layer)
)

/** A person has to do something before this can start: one line says what. */
const refuse = Effect.fnUntraced(function* (message: string) {
  yield* Console.error(`Inlet can't start: ${message}`)
  return yield* Effect.interrupt
})

Settings.all.pipe(
  Effect.andThen(Layer.launch(service)),
  Effect.catchTags({
    ConfigError: (error) => refuse(Settings.explain(error)),
    FolderTaken: (error) => refuse(error.message),
    WrongSecretsKey: (error) => refuse(error.message),
    TlsUnusable: (error) => refuse(error.message),
    UnknownError: (error) => refuse(error.message),
    ServeError: (error) => refuse(`HTTP_HOST, HTTP_PORT: ${error.message}`),
    MigrationError: (error) => refuse(`the database could not be migrated: ${error.message}`),
    SqlError: (error) => refuse(`DATABASE_URL: the database does not answer: ${error.message}`)
  }),
  NodeRuntime.runMain
)
