import { fileURLToPath } from "node:url"
import { PgPool } from "@effect/sql-pg"
import { Config, Context, Effect, Layer, Predicate, Redacted, Schedule, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { Migrator, SqlClient, type SqlError } from "effect/sql"
import * as MigratorFileSystem from "effect/sql/MigratorFileSystem"
import * as ErrorOrigin from "../ErrorOrigin.ts"
import * as Settings from "../Settings.ts"
import * as AppliedMigrations from "./AppliedMigrations.ts"
import * as EarlierVersion from "./EarlierVersion.ts"
import * as EmbeddedDatabase from "./EmbeddedDatabase.ts"
import * as Failover from "./Failover.ts"
import * as Outage from "./Outage.ts"
import * as Patience from "./Patience.ts"
import * as PgSqlClient from "./PgSqlClient.ts"
import * as Planner from "./Planner.ts"
import * as ServerCertificate from "./ServerCertificate.ts"
import * as ServerEncoding from "./ServerEncoding.ts"
import * as Turns from "./Turns.ts"

/** Messages between the processes of one database, by `LISTEN` and `NOTIFY`. */
export interface Notices {
  /** Every message of a channel, those of this process included. The stream ends with its connection. */
  readonly hear: (channel: string) => Stream.Stream<string, SqlError.SqlError>
  /** Sends messages of less than 8,000 bytes each, in a transaction of their own. */
  readonly send: (channel: string, messages: ReadonlyArray<string>) => Effect.Effect<void, SqlError.SqlError>
}

/** Undefined for the embedded database, which has one process. */
export const Notices = Context.Reference<Notices | undefined>("inlet/database/Notices", {
  defaultValue: () => undefined
})

/**
 * How long a transaction may have no statement. A process that is suspended within one, or whose machine is gone, holds
 * the locks of its rows, and others wait for them.
 */
const idleInTransaction = "15s"

/** The connections of mail, the worker and the listener, without those of the API. */
const mailConnections = 12

/** Connections of the API. More would not answer sooner: the statements of mail and deliveries need the server too. */
const apiConnections = 8

/** PostgreSQL at `DATABASE_URL`. The API has its own connections, so that mail never waits for it. */
export const layerPostgres = (url: Redacted.Redacted) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const config = {
        url,
        applicationName: EarlierVersion.applicationName,
        startupParameters: { ...Planner.settings, idle_in_transaction_session_timeout: idleInTransaction },
        connectTimeout: "5 seconds",
        // A machine that vanished closes no connection. Without this, an idle one would lead to it for hours.
        keepAlive: "10 seconds"
      } as const
      const pool = yield* PgPool.make({ ...config, maxConnections: mailConnections })
      const forApi = yield* PgPool.make({ ...config, maxConnections: apiConnections })
      const [ofMail, ofApi] = [Failover.sessionsOf(pool), Failover.sessionsOf(forApi)]
      const sql = yield* PgSqlClient.make({
        poolOf: (asker) => (asker === undefined ? ofMail : ofApi),
        turns: Turns.make({ places: apiConnections, mailShares: false }),
        patience: { within: Patience.within, withinAnew: Patience.withinAnew }
      })
      return Context.make(SqlClient.SqlClient, sql).pipe(
        Context.add(Notices, {
          hear: (channel) =>
            Stream.unwrap(
              Effect.gen(function* () {
                const session = yield* ofMail.reserve
                return Stream.fromQueue(yield* session.listen(channel))
              })
            ).pipe(Stream.map(({ payload }) => payload)),
          send: (channel, messages) =>
            Effect.asVoid(sql`SELECT pg_notify(${channel}, message) FROM unnest(${messages}::text[]) AS message`)
        })
      )
    })
  ).pipe(Layer.provide(Reactivity.layer))

const migrate = Migrator.make({})

const loader = MigratorFileSystem.fromFileSystem(fileURLToPath(new URL("../../migrations", import.meta.url)))

/** The database's URL without its password, for messages. */
export const place = Config.map(Settings.database, ({ dataDirectory, url }) =>
  url === undefined ? dataDirectory : new URL(Redacted.value(url)).host
)

/** The message of a start without its database, with the next step. */
export const explain = (where: string, error: SqlError.SqlError): string => {
  const message = ErrorOrigin.messageOf(error)
  if (Outage.isReadOnly(error)) {
    return `The database at ${where} takes no writes (${message}): ${Outage.whyReadOnly}. Name the primary, wait for the end of a failover, or turn the setting off`
  }
  if (Outage.isOfChange(error)) {
    return `The database at ${where} is not a primary at the moment (${message}). A restart or a failover is under way. Wait for its end`
  }
  if (isTlsRefused(error)) {
    return `The server at ${where} does not support TLS, and sslmode requires it. Turn TLS on (ssl = on in postgresql.conf), or in a private network remove sslmode`
  }
  const rejected = ServerCertificate.explain(where, error, message)
  if (rejected !== undefined) return rejected
  if (isUnreachable(error)) {
    return `The database at ${where} does not answer (${message}). Start it, or correct the setting`
  }
  if (message === noUser) {
    return "Expected a user name in the URL, as in postgres://user:password@host:5432/database"
  }
  const { cause } = error.reason
  const remedy = Predicate.hasProperty(cause, "code") ? remedies[`${cause.code}`] : undefined
  return `The database at ${where} can't be used: ${message}${remedy === undefined ? "" : `. ${remedy}`}`
}

/** What to do about an answer of the server, by its SQLSTATE. */
const remedies: Readonly<Record<string, string>> = {
  "3D000": "Create it with createdb, or correct DATABASE_URL",
  "28000": "Create the role with createuser and allow it in pg_hba.conf, or correct DATABASE_URL",
  "28P01": "Correct the user or the password in DATABASE_URL, or DATABASE_PASSWORD",
  "42501": "GRANT the right, or make the role the owner of the tables"
}

/** Logs once that the start waits for the database, and where. */
const tellOnce = () => {
  let isTold = false
  return (error: SqlError.SqlError) => {
    if (isTold || !mayAnswerLater(error)) return Effect.void
    isTold = true
    return Effect.flatMap(Effect.orDie(place), (where) =>
      Effect.logWarning(
        `DATABASE_URL: The database at ${where} ${Outage.isReadOnly(error) ? "takes no writes" : "does not answer"} yet (${ErrorOrigin.messageOf(error)}). Inlet retries for a minute`
      )
    )
  }
}

/** Fails if the migrations of this version can't be run on the database. Reads only. */
export const refuseOthers = Effect.andThen(
  ServerEncoding.requireUtf8,
  Effect.flatMap(loader, AppliedMigrations.refuseOthers)
)

/** Runs the missing migrations in order, once each. Several processes may start at the same time. */
export const migrations = Layer.effectDiscard(
  Effect.suspend(() =>
    refuseOthers.pipe(
      Effect.andThen(migrate({ loader, table: "migrations" })),
      // Waits for a migration in another process.
      Patience.forMuch,
      Effect.tapErrorTag("SqlError", tellOnce()),
      // A database that starts at the same time may not answer yet. Completed migrations are not repeated.
      Effect.retry({
        schedule: Schedule.spaced("1 second"),
        times: 60,
        while: (error) => error._tag === "SqlError" && mayAnswerLater(error)
      })
    )
  )
)

/** `sslmode=require` at a server without TLS: the driver calls it a lost connection. */
const isTlsRefused = (error: SqlError.SqlError) => ErrorOrigin.messageOf(error) === "The server does not support TLS"

/** True if a start may succeed a moment later. */
const mayAnswerLater = (error: SqlError.SqlError) =>
  isUnreachable(error) && !isTlsRefused(error) && !ServerCertificate.isRejected(error)

/** True if the database was unavailable, as opposed to refusing the statement. */
export const isUnreachable = ({ reason }: SqlError.SqlError): boolean =>
  !isMisconfigured(reason) &&
  (reason.isRetryable || (Predicate.hasProperty(reason.cause, "code") && isOutage(`${reason.cause.code}`)))

/** A URL without a user, on a machine without USER: the driver calls it a lost connection. */
const isMisconfigured = ({ cause }: SqlError.SqlError["reason"]) =>
  Predicate.hasProperty(cause, "message") && cause.message === noUser

const noUser = "No username configured"

/**
 * Temporary states of a server: out of resources (53), shutting down or starting up (57P), a system error (58), a
 * standby (25006), or a database that takes no connections (55000).
 */
const isOutage = (sqlState: string) => /^(53...|57P..|58...|25006|55000)$/.test(sqlState)

/** True for an embedded database, which has one process: all earlier leases are void at its start. */
export const IsOwn = Context.Reference<boolean>("inlet/database/IsOwn", { defaultValue: () => false })

/** Postgres by the settings, migrated. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { dataDirectory, url } = yield* Settings.database
    return url === undefined
      ? migrations.pipe(
          Layer.provideMerge(EmbeddedDatabase.layer(dataDirectory)),
          Layer.merge(Layer.succeed(IsOwn, true))
        )
      : migrations.pipe(Layer.provideMerge(layerPostgres(url)))
  })
)
