import { DateTime } from "effect"
import { Flag } from "effect/cli"
import { type LedgerEntry, OperationalEventType } from "../../model/OperationalEvent.ts"
import * as EventFlags from "./EventFlags.ts"

/** The flags of a list of operational events. */
export const flags = {
  type: Flag.Literals("type", OperationalEventType.literals).pipe(
    Flag.withDescription("Only events of this type"),
    Flag.optional
  ),
  limit: EventFlags.limit,
  cursor: EventFlags.cursor
}

/** Operational events as rows of a table. */
export const of = (entries: ReadonlyArray<LedgerEntry>) =>
  entries.map(({ delivery, event }) => ({
    occurred: DateTime.formatIso(event.occurred_at),
    type: event.type,
    delivery: delivery?.status ?? "-",
    message: event.message
  }))

export const none = "No operational events yet"
