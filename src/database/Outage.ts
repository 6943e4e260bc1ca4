import { Predicate } from "effect"
import type { SqlError } from "effect/sql"
import * as FullDisk from "../files/FullDisk.ts"

const readOnly = "25006"

/** A standby refuses a write (25006), or a server stops, was crashed by a session, or starts (57P0.). */
const ofChange = /^(25006|57P0[123])$/

/** True if the server is not a primary at the moment: it restarts, or another one takes over. */
export const isOfChange = ({ reason }: SqlError.SqlError): boolean =>
  Predicate.hasProperty(reason.cause, "code") && ofChange.test(`${reason.cause.code}`)

/** A standby looks the same as a setting, and only the operator knows which it is. */
export const whyReadOnly = "it is a standby, or default_transaction_read_only is on"

/** True if the server refuses a write because it, the database, the role or the session is read-only. */
export const isReadOnly = ({ reason }: SqlError.SqlError): boolean =>
  Predicate.hasProperty(reason.cause, "code") && reason.cause.code === readOnly

/** Why the database is unavailable, for the operator. */
export const reason = (error: SqlError.SqlError): string =>
  isReadOnly(error)
    ? `The database takes no writes: ${whyReadOnly}`
    : isOfChange(error)
      ? "The database restarts, or a failover is under way"
      : FullDisk.isCause(error.reason.cause)
        ? "The disk of the database is full. The operator has to free space on it, or inodes (df -i). Nothing has to be restarted"
        : "The database is out of reach"

/** The same with the next step, for clients. */
export const inWords = (error: SqlError.SqlError): string => `${reason(error)}. Retry in 5 s`
