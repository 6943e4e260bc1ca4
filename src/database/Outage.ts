import { Predicate } from "effect"
import type { SqlError } from "effect/sql"

/** SQLSTATE for a full disk. */
const diskFull = "53100"

const isFull = (error: unknown): boolean =>
  Predicate.hasProperty(error, "code") && error.code === diskFull
    ? true
    : error instanceof Error && (error.message.includes("No space left on device") || isFull(error.cause))

/** Returns why the database is unavailable, with the next step. */
export const inWords = ({ reason }: SqlError.SqlError): string =>
  isFull(reason.cause)
    ? "The disk of the database is full. The operator has to free space on it. Nothing has to be restarted. Retry in 5 s"
    : "The database is out of reach. Retry in 5 s"
