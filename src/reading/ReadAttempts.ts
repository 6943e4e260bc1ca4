import { Cause, Effect, Option } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import * as Columns from "../database/Columns.ts"
import { isUnreachable } from "../database/Database.ts"
import * as FullDisk from "../files/FullDisk.ts"
import type { InboundEmailId } from "../model/InboundEmail.ts"
import { RawStoreError } from "../providers/storage/RawStoreError.ts"
import type { Mail } from "./Mail.ts"
import { Unread } from "./ParserThreads.ts"

/** Gives read attempts back whose failure was not the message's fault. A message with too many is not parsed in full. */
export interface ReadAttempts {
  /** Notes the attempt of a failed message, unless the message may be at fault. */
  readonly judge: (mail: Pick<Mail, "id">, cause: Cause.Cause<unknown>) => Effect.Effect<void>
  /** Writes what is noted. Does nothing otherwise. */
  readonly giveBack: Effect.Effect<void, SqlError.SqlError>
}

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  /** Attempts by message that the database does not know of yet. */
  let owed = new Map<InboundEmailId, number>()

  const owe = (id: InboundEmailId, attempts = 1) => owed.set(id, (owed.get(id) ?? 0) + attempts)

  // Relative, because another process may have claimed the message meanwhile.
  const write = (attempts: ReadonlyArray<readonly [id: InboundEmailId, count: number]>) => {
    const column = Columns.of(attempts)
    return sql`
      UPDATE inbound_emails SET read_attempts = greatest(read_attempts - owed.count, 0)
      FROM unnest(${column("uuid", ([id]) => id)}, ${column("int4", ([, count]) => count)}) AS owed (id, count)
      WHERE inbound_emails.id = owed.id AND state = ${"received"}
    `
  }

  const giveBack = Effect.suspend(() => {
    if (owed.size === 0) return Effect.void
    const attempts = [...owed]
    owed = new Map()
    return Effect.onError(Effect.asVoid(write(attempts)), () =>
      Effect.sync(() => {
        for (const [id, count] of attempts) owe(id, count)
      })
    )
    // Interrupted, it would be written again although it may have been committed.
  }).pipe(Effect.uninterruptible)

  // A database that takes this write is not away, so the events of the message may be what it does not take.
  const takesWrites = (id: InboundEmailId) =>
    sql`UPDATE inbound_emails SET leased_until = leased_until WHERE id = ${id} AND state = ${"received"}`

  const judge: ReadAttempts["judge"] = ({ id }, cause) => {
    const error = Option.getOrUndefined(Cause.findErrorOption(cause))
    // A full disk may take the write below, but no event.
    const isDiskFull = SqlError.isSqlError(error) && FullDisk.isCause(error.reason.cause)
    if (isDiskFull || error instanceof RawStoreError || (error instanceof Unread && error.isBlameless)) {
      owe(id)
      return Effect.ignore(giveBack)
    }
    if (!SqlError.isSqlError(error) || !isUnreachable(error)) return Effect.void
    return Effect.catch(Effect.asVoid(takesWrites(id)), () => Effect.sync(() => void owe(id)))
  }

  return { judge, giveBack } satisfies ReadAttempts
})
