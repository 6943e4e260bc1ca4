import { PgClient, type PgConnection } from "@effect/sql-pg"
import { Cause, Effect, Option, Predicate, Stream, String } from "effect"
import { SqlClient, SqlError, Statement } from "effect/sql"
import type { Connection } from "effect/sql/SqlConnection"
import type * as Failover from "./Failover.ts"
import type * as Patience from "./Patience.ts"
import { Asker, type Turns } from "./Turns.ts"
import * as UnconfirmedCommits from "./UnconfirmedCommits.ts"

/** The names in code by column. The driver asks for each name of each row, and the statements of the service name few. */
const camelNames = new Map<string, string>()

const camelOf = (column: string) => {
  const known = camelNames.get(column)
  if (known !== undefined) return known
  const name = String.snakeToCamel(column)
  camelNames.set(column, name)
  return name
}

/** Columns are named in snake case, and in code in camel case. JSON is left as it is. */
const transforms = {
  transformQueryNames: String.camelToSnake,
  transformResultNames: camelOf,
  transformJson: false
} as const

/**
 * The client of the service. It differs from the driver's own in four ways: statements of the API are shared fairly
 * between clients, every statement has a timeout, statements that the server aborted in favor of a concurrent
 * transaction are retried, and a commit that no synchronous standby has confirmed is a failure.
 */
export const make = Effect.fnUntraced(function* ({
  patience,
  poolOf,
  turns
}: {
  readonly poolOf: (asker: string | undefined) => Failover.Sessions
  readonly turns: Turns
  readonly patience: Patience.Limits
}) {
  const client = yield* SqlClient.make({
    driver: "pg",
    acquirer: Effect.flatMap(Asker, (asker) =>
      Effect.andThen(
        turns.taken,
        Effect.map(patience.within(poolOf(asker).get), (session) => connectionOf(session, poolOf(asker)))
      )
    ),
    borrower: (use) =>
      Effect.flatMap(Asker, (asker) =>
        again(turns.within(patience.within(poolOf(asker).use((session) => use(connectionOf(session, poolOf(asker)))))))
      ),
    transactionAcquirer: Effect.flatMap(Asker, (asker) =>
      Effect.andThen(
        turns.taken,
        Effect.map(patience.within(poolOf(asker).reserve), (session) =>
          connectionOf(session, poolOf(asker), (statement, text) =>
            (text === "COMMIT" || text === "ROLLBACK"
              ? patience.withinAnew(statement)
              : patience.within(statement)
            ).pipe(
              // The transaction may still be open on that connection.
              Effect.tapError((error) => (isLost(error) ? poolOf(asker).invalidate(session) : Effect.void))
            )
          )
        )
      )
    ),
    prepareTransactionControls: true,
    commit,
    releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`,
    compiler: PgClient.makeCompiler(transforms.transformQueryNames, transforms.transformJson),
    transformRows: Statement.defaultTransforms(transforms.transformResultNames, transforms.transformJson).array,
    spanAttributes: [["db.system.name", "postgresql"]]
  })
  const { withTransaction } = client
  return Object.assign(client, {
    withTransaction: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.flatMap(Effect.serviceOption(client.transactionService), (outer) =>
        Option.isSome(outer) ? withTransaction(effect) : again(withTransaction(effect))
      )
  })
})

/** A session of the driver as the client's connection, with `limit` around each statement. */
const connectionOf = (
  session: PgConnection.PgConnection,
  { suspect }: Failover.Sessions,
  limit: <A>(statement: Effect.Effect<A, SqlError.SqlError>, text: string) => Effect.Effect<A, SqlError.SqlError> = (
    statement
  ) => statement
): Connection => {
  const checked = <A>(statement: Effect.Effect<A, SqlError.SqlError>, text: string) =>
    limit(
      Effect.tapError(UnconfirmedCommits.refused(session, statement), (error) => suspect(session, error)),
      text
    )
  const execute =
    (prepare: boolean): Connection["execute"] =>
    (text, params, transform) =>
      checked(session.query(text, params, prepare), text).pipe(
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
    executeRaw: (text, params) => checked(session.query(text, params), text),
    executeValues: (text, params) => checked(session.queryValues(text, params), text),
    executeValuesUnprepared: (text, params) => checked(session.queryValues(text, params, false), text),
    executeStream: (text, params, transform) => {
      const rows = session.stream(text, params)
      return transform === undefined ? rows : Stream.flatMap(rows, (row) => Stream.fromIterable(transform([row])))
    }
  }
}

/** PostgreSQL answers ROLLBACK to the COMMIT of a failed transaction. */
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

/** PostgreSQL rolls back deadlocks and serialization failures completely, so repeating is safe. */
const again = <A, E, R>(effect: Effect.Effect<A, E, R>, times = 4): Effect.Effect<A, E, R> =>
  Effect.catchCause(effect, (cause) =>
    times > 0 && errorsOf(cause).some(isConflict) ? again(effect, times - 1) : Effect.failCause(cause)
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
