import type { PgConnection, PgProtocol } from "@effect/sql-pg"
import { Effect, Predicate } from "effect"
import { ConnectionError, SqlError } from "effect/sql/SqlError"

/**
 * PostgreSQL's function that waits for a synchronous standby. Its warning means that the wait was cancelled: the commit
 * is on the primary's disk alone, and still answered as a success. The text of the warning depends on the server's
 * language, the name of the function does not.
 */
const waitsForStandby = "SyncRepWaitForLSN"

const watched = new WeakMap<object, { hasWarning: boolean }>()

/**
 * Fails a statement whose commit no standby has confirmed. The driver drops the server's warnings, so this reads them
 * where it parses messages.
 */
export const refused = <A>(session: PgConnection.PgConnection, statement: Effect.Effect<A, SqlError>) => {
  const watch = watchOf(session)
  return watch === undefined
    ? statement
    : Effect.flatMap(statement, (result) => {
        if (!watch.hasWarning) return Effect.succeed(result)
        watch.hasWarning = false
        return Effect.fail(unconfirmed)
      })
}

const watchOf = (session: PgConnection.PgConnection) => {
  const base = Predicate.hasProperty(session, "base") ? session.base : session
  if (!Predicate.hasProperty(base, "session") || !Predicate.hasProperty(base.session, "parser")) return undefined
  // The driver's own object. A test cancels a real wait, and so fails if another version has no such parser.
  const parser = base.session.parser as PgProtocol.Parser<unknown>
  const known = watched.get(parser)
  if (known !== undefined) return known
  const watch = { hasWarning: false }
  watched.set(parser, watch)
  const { pushEach } = parser
  Object.assign(parser, {
    pushEach: (chunk: Uint8Array, onMessage: (message: PgProtocol.BackendMessage<unknown>) => void) =>
      pushEach(chunk, (message) => {
        if (message._tag === "NoticeResponse" && message.fields.routine === waitsForStandby) watch.hasWarning = true
        onMessage(message)
      })
  } satisfies Partial<PgProtocol.Parser<unknown>>)
  return watch
}

const unconfirmed = new SqlError({
  reason: new ConnectionError({
    cause: new Error("The wait for a synchronous standby was cancelled"),
    operation: "commit"
  })
})
