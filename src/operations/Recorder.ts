import { Context, type Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Asker } from "../database/Turns.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import * as DeadLetters from "./DeadLetters.ts"
import * as DomainChanges from "./DomainChanges.ts"
import * as Ledger from "./Ledger.ts"
import * as Quotas from "./Quotas.ts"

/** Events of a kind that one round records. The rest waits for the next round. */
const mostAtOnce = 100

/** Polling intervals. Tests shorten them. */
export const Intervals = Context.Reference<{ readonly changes: Duration.Input; readonly counts: Duration.Input }>(
  "inlet/operations/Recorder/Intervals",
  { defaultValue: () => ({ changes: "5 seconds", counts: "30 seconds" }) }
)

/** Records operational events from rows that exist anyway, in the background and apart from the path of mail. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const record = yield* Ledger.make
    const quotas = yield* Quotas.make(record, mostAtOnce)
    const intervals = yield* Intervals

    const each = (recordNext: typeof DomainChanges.recordNext | typeof DeadLetters.recordNext) =>
      Effect.repeat(recordNext(sql, record), { while: (wasThere) => wasThere, times: mostAtOnce })
    const every = <E, R>(interval: Duration.Input, what: string, round: Effect.Effect<unknown, E, R>) =>
      BackgroundLoop.every(
        interval,
        { says: `Looking for ${what} to report failed. Inlet looks again`, level: "Warn" },
        // Mail takes precedence.
        Effect.provideService(round, Asker, "operations")
      )

    yield* every(intervals.changes, "changes of domains", each(DomainChanges.recordNext))
    yield* every(intervals.counts, "dead letters", each(DeadLetters.recordNext))
    yield* every(intervals.counts, "full quotas", quotas)
  })
)
