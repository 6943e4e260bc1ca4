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
const refuse = (message: string) =>
  Effect.andThen(Console.error(`Inlet can't start: ${message}`), Effect.fail("refused"))

Settings.all.pipe(
  Effect.andThen(Layer.launch(service)),
  Effect.catchTags({
    ConfigError: (error) => refuse(Settings.explain(error)),
    FolderTaken: ({ message }) => refuse(message),
    WrongSecretsKey: ({ message }) => refuse(message),
    TlsUnusable: ({ message }) => refuse(message),
    UnknownError: ({ message }) => refuse(message),
    ServeError: ({ cause }) => refuse(`HTTP_HOST, HTTP_PORT: ${cause instanceof Error ? cause.message : cause}`),
    MigrationError: ({ message }) => refuse(`the database could not be migrated: ${message}`),
    SqlError: ({ message }) => refuse(`DATABASE_URL: the database does not answer: ${message}`),
    PlatformError: ({ message }) => refuse(`DATA_DIR, RAW_DIR: ${message}`)
  }),
  Effect.tapDefect((defect) => Console.error("Inlet stopped because of a bug:", defect)),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
