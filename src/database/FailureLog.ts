import { Cause, Effect, Result } from "effect"
import { SqlError } from "effect/sql"
import { isUnreachable } from "./Database.ts"
import * as Outage from "./Outage.ts"

/**
 * Logs a failure. While the database is unavailable everything under way fails, so each has one line with the reason, and
 * no stack.
 */
export const error = (message: string, cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  const found = Cause.findFail(cause)
  const failure = Result.isSuccess(found) ? found.success.error : undefined
  return SqlError.isSqlError(failure) && isUnreachable(failure)
    ? Effect.logError(`${message}. ${Outage.reason(failure)}`)
    : Effect.logError(message, cause)
}
