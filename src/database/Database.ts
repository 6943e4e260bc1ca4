import { fileURLToPath } from "node:url"
import { PgClient, type PgConnection, PgPool } from "@effect/sql-pg"
import { Cause, Context, Effect, Layer, Option, Predicate, type Redacted, Schedule, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { Migrator, SqlClient, SqlError, Statement } from "effect/sql"
import * as MigratorFileSystem from "effect/sql/MigratorFileSystem"
import type { Connection } from "effect/sql/SqlConnection"
import * as Settings from "../Settings.ts"
import * as EmbeddedDatabase from "./EmbeddedDatabase.ts"
import * as Patience from "./Patience.ts"
import * as SqlNames from "./SqlNames.ts"

/** What other processes say through the database; the embedded one has no others. A stream ends with its connection. */
export const Notifications = Context.Reference<(channel: string) => Stream.Stream<string, SqlError.SqlError>>(
  "inlet/database/Notifications",
  { defaultValue: () => () => Stream.never }
)

/**
 * PostgreSQL at `DATABASE_URL`. It differs from the driver's own client in two
 * ways: every statement ends in time, whatever has become of the server, and
 * what the server gave up in favour of a concurrent transaction is done again.
 */
export const layerPostgres = (url: Redacted.Redacted) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const pool = yield* PgPool.make({
        url,
        applicationName: "inlet",
        // A statement is planned once for each connection, not for each number of rows that a batch
        // may have: planning costs more than running it. None runs long enough for a compiler, or
        // for workers of its own: a page of a list takes less time than starting one.
        startupParameters: { plan_cache_mode: "force_generic_plan", jit: "off", max_parallel_workers_per_gather: "0" },
        maxConnections: 20,
        connectTimeout: "5 seconds"
      })

      const client = yield* SqlClient.make({
        driver: "pg",
        acquirer: Effect.map(Patience.within(pool.get), (session) => connectionOf(session)),
        borrower: (use) => again(Patience.within(pool.use((session) => use(connectionOf(session))))),
        transactionAcquirer: Effect.map(Patience.within(pool.reserve), (session) =>
          connectionOf(session, (statement, text) =>
            (text === "COMMIT" || text === "ROLLBACK"
              ? Patience.withinAnew(statement)
              : Patience.within(statement)
            ).pipe(
              // The transaction may still be open there.
              Effect.tapError((error) => (isLost(error) ? pool.invalidate(session) : Effect.void))
            )
          )
        ),
        prepareTransactionControls: true,
        commit,
        releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
        compiler: PgClient.makeCompiler(SqlNames.transforms.transformQueryNames, SqlNames.transforms.transformJson),
        transformRows: Statement.defaultTransforms(
          SqlNames.transforms.transformResultNames,
          SqlNames.transforms.transformJson
        ).array,
        spanAttributes: [["db.system.name", "postgresql"]]
      })
      const { withTransaction } = client
      const sql = Object.assign(client, {
        withTransaction: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
          Effect.flatMap(Effect.serviceOption(client.transactionService), (outer) =>
            Option.isSome(outer) ? withTransaction(effect) : again(withTransaction(effect))
          )
      })
      return Context.make(SqlClient.SqlClient, sql).pipe(
        Context.add(Notifications, (channel) =>
          Stream.unwrap(
            Effect.gen(function* () {
              const session = yield* pool.reserve
              return Stream.fromQueue(yield* session.listen(channel))
            })
          ).pipe(Stream.map(({ payload }) => payload))
        )
      )
    })
  ).pipe(Layer.provide(Reactivity.layer))

/** A session of the driver as the client's connection, with `limit` around each statement. */
const connectionOf = (
  session: PgConnection.PgConnection,
  limit: <A>(statement: Effect.Effect<A, SqlError.SqlError>, text: string) => Effect.Effect<A, SqlError.SqlError> = (
    statement
  ) => statement
): Connection => {
  const execute =
    (prepare: boolean): Connection["execute"] =>
    (text, params, transform) =>
      limit(session.query(text, params, prepare), text).pipe(
        Effect.map(({ rows }) => (transform === undefined ? rows : transform(rows))),
        // A transaction does not outlive its connection, so this one is rolled back.
        Effect.catchIf(
          (error) => text === "ROLLBACK" && isLost(error),
          () => Effect.succeed([])
        )
      )
  return {
    execute: execute(true),
    executeUnprepared: execute(false),
    executeRaw: (text, params) => limit(session.query(text, params), text),
    executeValues: (text, params) => limit(session.queryValues(text, params), text),
    executeValuesUnprepared: (text, params) => limit(session.queryValues(text, params, false), text),
    executeStream: (text, params, transform) => {
      const rows = session.stream(text, params)
      return transform === undefined ? rows : Stream.flatMap(rows, (row) => Stream.fromIterable(transform([row])))
    }
  }
}

/** PostgreSQL answers ROLLBACK to the COMMIT of a transaction in which something failed. */
const commit = (connection: Connection) =>
  Effect.flatMap(connection.executeRaw("COMMIT", []), (result) =>
    Predicate.hasProperty(result, "command") && result.command === "ROLLBACK"
      ? Effect.fail(
          new SqlError.SqlError({
            reason: new SqlError.UnknownError({ cause: new Error("The transaction had failed"), operation: "commit" })
          })
        )
      : Effect.void
  )

/** Deadlocks and serialization failures are rolled back whole, so nothing of what is repeated has been done. */
const again = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.sandbox(effect).pipe(
    Effect.retry({ times: 4, while: (cause) => errorsOf(cause).some(isConflict) }),
    Effect.catch(Effect.failCause)
  )

const errorsOf = (cause: Cause.Cause<unknown>) =>
  cause.reasons
    .map((reason) =>
      Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined
    )
    .filter(SqlError.isSqlError)

const isLost = ({ reason }: SqlError.SqlError) => reason._tag === "ConnectionError"

const isConflict = ({ reason }: SqlError.SqlError) =>
  reason._tag === "DeadlockError" || reason._tag === "SerializationError"

const migrate = Migrator.make({})

/** Runs whatever is new in `migrations/`, once, in order; several processes may start at once. */
export const migrations = Layer.effectDiscard(
  migrate({
    loader: MigratorFileSystem.fromFileSystem(fileURLToPath(new URL("../../migrations", import.meta.url))),
    table: "migrations"
  }).pipe(
    // One that runs in another process is waited for.
    Patience.forMuch,
    Effect.tapErrorTag("SqlError", (error) =>
      isUnreachable(error) ? Effect.logWarning("The database does not answer yet; it is asked again") : Effect.void
    ),
    // A database that starts beside us may not answer yet. Migrations that have run are not run again.
    Effect.retry({
      schedule: Schedule.spaced("1 second"),
      times: 60,
      while: (error) => error._tag === "SqlError" && isUnreachable(error)
    })
  )
)

/** Whether the database could not do it now, as opposed to having refused. */
export const isUnreachable = ({ reason }: SqlError.SqlError): boolean =>
  reason.isRetryable || (Predicate.hasProperty(reason.cause, "code") && isOutage(`${reason.cause.code}`))

/**
 * The states in which a server is for a while: out of resources (53), shutting
 * down or starting up (57P), an error of its machine (58), or a standby (25006).
 */
const isOutage = (sqlState: string) => /^(53...|57P..|58...|25006)$/.test(sqlState)

/** An embedded database has one process, so whatever was leased before this one started is free: nobody waits for it. */
const leasesOfTheDead = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`UPDATE inbound_emails SET leased_until = now() WHERE state = 'received' AND leased_until > now()`
    yield* sql`UPDATE deliveries SET leased_until = now() WHERE status = 'pending' AND leased_until > now()`
    yield* sql`UPDATE orders SET leased_until = NULL WHERE leased_until > now()`
  })
)

/** Postgres as the settings choose it, migrated. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { dataDirectory, url } = yield* Settings.database
    return url === undefined
      ? leasesOfTheDead.pipe(Layer.provideMerge(migrations), Layer.provideMerge(EmbeddedDatabase.layer(dataDirectory)))
      : migrations.pipe(Layer.provideMerge(layerPostgres(url)))
  })
)
