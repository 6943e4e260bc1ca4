import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import * as Database from "./database/Database.ts"
import * as Inlet from "./Inlet.ts"
import * as ListenError from "./ListenError.ts"
import * as Platform from "./Platform.ts"
import * as Providers from "./providers/Providers.ts"
import * as Settings from "./Settings.ts"
import * as Telemetry from "./Telemetry.ts"
import * as Tour from "./Tour.ts"

const service = Tour.layer.pipe(
  Layer.provide(Inlet.layer),
  Layer.provide(Providers.layer),
  Layer.provide(Database.layer),
  Layer.provide(Telemetry.layer),
  Layer.provide(Platform.layer)
)

/** A person has to do something before this can start: one line says what. */
const refuse = (line: string) =>
  Effect.andThen(Console.error(`Inlet can't start: ${line}`), Effect.fail("refused" as const))

/** The innermost message: the outer ones only say that something failed. */
const messageOf = (error: { readonly message: string; readonly cause?: unknown }): string =>
  error.cause instanceof Error ? messageOf(error.cause) : error.message

// Typed, so that an error that says nothing of its own does not compile.
const program: Effect.Effect<never, "refused"> = Settings.all.pipe(
  Effect.andThen(Layer.launch(service)),
  Effect.catchTags({
    ConfigError: (error) => refuse(Settings.explain(error)),
    FolderTaken: ({ message }) => refuse(`DATA_DIR: ${message}`),
    FolderUnusable: ({ message }) => refuse(`DATA_DIR: ${message}`),
    WrongSecretsKey: ({ message }) => refuse(message),
    Unconfigured: ({ message }) => refuse(message),
    BucketUnusable: ({ message }) => refuse(message),
    TlsUnusable: ({ message }) => refuse(message),
    SmtpLibraryChanged: ({ message }) => refuse(message),
    NetAddressError: (error) => refuse(`DNS_SERVERS: ${messageOf(error)}`),
    ServeError: ({ cause }) => refuse(ListenError.explain({ host: "HTTP_HOST", port: "HTTP_PORT" }, cause)),
    SmtpListenError: ({ cause }) => refuse(ListenError.explain({ host: "SMTP_HOST", port: "SMTP_PORT" }, cause)),
    MigrationError: (error) => refuse(`DATABASE_URL: The database could not be migrated: ${messageOf(error)}`),
    SqlError: ({ reason }) => refuse(`DATABASE_URL: The database can't be used: ${messageOf(reason)}`),
    PlatformError: (error) => refuse(`DATA_DIR, RAW_DIR: ${messageOf(error)}`),
    CryptoError: Effect.die
  }),
  Effect.tapDefect((defect) => Console.error("Inlet stopped because of a bug:", defect))
)

NodeRuntime.runMain(program, { disableErrorReporting: true })
