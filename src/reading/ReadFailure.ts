import { Cause, Option } from "effect"
import { SqlError } from "effect/sql"
import { RawStoreError } from "../providers/storage/RawStoreError.ts"

/** Names the step at which a message failed to become an event, for the log. */
export const inWords = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.findErrorOption(cause)
  if (Option.exists(error, SqlError.isSqlError)) return "The event of a message could not be stored"
  if (Option.exists(error, (one) => one instanceof RawStoreError)) return "A message could not be loaded"
  return "A message could not be parsed"
}
