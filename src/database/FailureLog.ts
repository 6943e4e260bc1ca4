import { Cause, Effect, Result } from "effect"
import { SqlError } from "effect/sql"
import * as ErrorOrigin from "../ErrorOrigin.ts"
import { isUnreachable } from "./Database.ts"
import * as Outage from "./Outage.ts"

/** The outage of the database behind an error, if that is its cause. */
const outageOf = (error: unknown): SqlError.SqlError | undefined => {
  if (SqlError.isSqlError(error)) return isUnreachable(error) ? error : undefined
  return error instanceof Error ? outageOf(error.cause) : undefined
}

/** The message with its cause behind it, so that a search for one line finds both. */
export const withReason = (message: string, cause: Cause.Cause<unknown>): string =>
  cause.reasons.length === 0 ? message : `${message}: ${ErrorOrigin.messageOf(Cause.squash(cause))}`

/**
 * Logs a failure with its cause in the same line, and a stack below. While the database is unavailable everything
 * under way fails, so each has one line with the reason, and no stack.
 */
export const error = (message: string, cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  const found = Cause.findFail(cause)
  const outage = Result.isSuccess(found) ? outageOf(found.success.error) : undefined
  return outage === undefined
    ? Effect.logError(withReason(message, cause), cause)
    : Effect.logError(`${message}. ${Outage.reason(outage)}: ${ErrorOrigin.messageOf(outage)}`)
}
