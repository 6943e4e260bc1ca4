import { setFlagsFromString } from "node:v8"
import { Console, Effect, Layer, Runtime, Schema } from "effect"
import * as Database from "../database/Database.ts"
import * as ErrorOrigin from "../ErrorOrigin.ts"
import * as Inlet from "../Inlet.ts"
import * as ExitCode from "../process/ExitCode.ts"
import * as ListenError from "../process/ListenError.ts"
import * as Platform from "../process/Platform.ts"
import * as Providers from "../providers/Providers.ts"
import * as Settings from "../Settings.ts"
import * as IdleSettings from "../settings/IdleSettings.ts"
import * as PlainHttp from "../settings/PlainHttp.ts"
import * as UnknownSettings from "../settings/UnknownSettings.ts"
import * as Telemetry from "../telemetry/Telemetry.ts"
import * as StorageFailure from "./StorageFailure.ts"
import * as Tour from "./Tour.ts"

const settingWarnings = Layer.effectDiscard(
  Effect.all([UnknownSettings.warn(Settings.documented.map(({ name }) => name)), IdleSettings.warn, PlainHttp.warn], {
    discard: true
  })
)

const service = Tour.layer.pipe(
  Layer.merge(settingWarnings),
  Layer.provide(Inlet.layer),
  Layer.provide(Providers.layer),
  Layer.provide(Database.layer),
  Layer.provide(Telemetry.layer),
  Layer.provide(Platform.layer)
)

/** The start failed, and one printed line says what to do. */
export class StartRefused extends Schema.TaggedError<StartRefused>()("StartRefused", {}) {
  override readonly [Runtime.errorReported] = false
}

const refuse = (lines: string) =>
  Console.error(lines.replace(/^/gm, "Inlet can't start: ")).pipe(Effect.andThen(Effect.fail(new StartRefused())))

/** Whether the database is in `DATA_DIR`. The settings were read before. */
const isEmbedded = Effect.map(Effect.orDie(Settings.database), ({ url }) => url === undefined)

/**
 * The young generation of this thread has room for objects that live as long as an SMTP session. Parser and database
 * threads create short-lived objects, for which 4 MiB are enough.
 */
const boundThreads = Effect.sync(() => setFlagsFromString("--max-semi-space-size=4"))

/** Runs the service until it is stopped. Typed so that an error without an explanation does not compile. */
export const program: Effect.Effect<never, StartRefused> = Settings.all.pipe(
  Effect.andThen(ExitCode.serve),
  Effect.andThen(boundThreads),
  Effect.andThen(Layer.launch(service)),
  Effect.catchTags({
    ConfigError: (error) => refuse(Settings.explain(error)),
    FolderTaken: ({ message }) => refuse(`DATA_DIR: ${message}`),
    FolderUnusable: ({ message }) => refuse(`DATA_DIR: ${message}`),
    WrongSecretsKey: ({ message }) => refuse(message),
    SecretUnusable: ({ message }) => refuse(`DATA_DIR: ${message}`),
    Unconfigured: ({ message }) => refuse(message),
    BucketUnusable: ({ message }) => refuse(message),
    RootsUnusable: ({ message }) => refuse(message),
    TlsUnusable: ({ message }) => refuse(message),
    SmtpLibraryChanged: ({ message }) => refuse(message),
    NetAddressError: (error) => refuse(`DNS_SERVERS: ${ErrorOrigin.messageOf(error)}`),
    ServeError: ({ cause }) => refuse(ListenError.explain({ host: "HTTP_HOST", port: "HTTP_PORT" }, cause)),
    MonitorListenError: ({ cause }) => refuse(ListenError.explain({ host: "HTTP_HOST", port: "METRICS_PORT" }, cause)),
    SmtpListenError: ({ cause }) => refuse(ListenError.explain({ host: "SMTP_HOST", port: "SMTP_PORT" }, cause)),
    MigrationError: (error) =>
      Effect.flatMap(isEmbedded, (embedded) => refuse(StorageFailure.ofMigration(error, embedded))),
    SqlError: (error) =>
      Effect.all([isEmbedded, Effect.orDie(Database.place)]).pipe(
        Effect.flatMap(([embedded, place]) =>
          refuse(`${embedded ? "DATA_DIR" : "DATABASE_URL"}: ${Database.explain(place, error)}`)
        )
      ),
    PlatformError: (error) => refuse(StorageFailure.ofFolder(error)),
    CryptoError: Effect.die
  }),
  Effect.tapDefect((defect) => Console.error("Inlet stopped because of a bug:", defect))
)
