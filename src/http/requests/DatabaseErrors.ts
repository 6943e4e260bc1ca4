import { Effect, Layer, Predicate, Schema, SchemaTransformation } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiMiddleware, HttpApiSchema } from "effect/http-api"
import { SqlError } from "effect/sql"
import { isUnreachable } from "../../database/Database.ts"
import * as Outage from "../../database/Outage.ts"
import { ErrorBody } from "../../model/ApiError.ts"

/** SQLSTATE for a row that refers to one that is gone. */
const referenceGone = "23503"

/** True if the domain or workspace of a request was removed after the request had found it. */
const isRemovedMeanwhile = ({ reason }: SqlError.SqlError): boolean =>
  reason._tag === "ConstraintError" &&
  Predicate.hasProperty(reason.cause, "code") &&
  reason.cause.code === referenceGone

const unavailable = (message: string) => HttpServerResponse.jsonUnsafe({ error: message }, { status: 503 })

/**
 * Answers `503` while the database is out of reach, and for a request whose domain or workspace is removed at the same
 * time: repeated, it finds that it is gone. Any other database error is a bug.
 */
export const answer = (error: SqlError.SqlError) => {
  if (isRemovedMeanwhile(error)) {
    const message = "What the request is about was removed meanwhile. Retry in 5 s"
    return Effect.as(Effect.logInfo(message, error), unavailable(message))
  }
  if (!isUnreachable(error)) return Effect.die(error)
  const message = Outage.inWords(error)
  return Effect.as(Effect.logError(message, error), unavailable(message))
}

// Lets handlers fail with a SqlError. It is answered before it would be encoded.
const error = ErrorBody.pipe(
  Schema.decodeTo(
    Schema.instanceOf(SqlError.SqlError),
    SchemaTransformation.transform({
      decode: (body) => new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause: body.error }) }),
      encode: (self) => ({ error: Outage.inWords(self) })
    })
  ),
  HttpApiSchema.status(503)
)

/** The boundary of `SqlError`: services and handlers fail with it, and this answers it. Only for handlers, not in the contract. */
export class DatabaseErrors extends HttpApiMiddleware.Service<DatabaseErrors>()("inlet/http/DatabaseErrors", {
  error
}) {
  static readonly layer = Layer.succeed(DatabaseErrors, (httpEffect) =>
    Effect.catch(httpEffect, (failure) => {
      // Any failure of a handler, whose type a middleware does not see.
      const error: unknown = failure
      return SqlError.isSqlError(error) ? answer(error) : Effect.fail(failure)
    })
  )
}
