import { type Duration, Effect, Schedule } from "effect"
import { isUnreachable } from "../database/Database.ts"
import * as FailureLog from "../database/FailureLog.ts"
import type { DeliveryQueue } from "./DeliveryQueue.ts"
import * as Lease from "./Lease.ts"
import type { Outcome } from "./WebhookSender.ts"

/** Pause before an outcome is written again that an unreachable database did not store. */
const againAfter = "2 seconds"

/** Stores an outcome. While the database is away, it tries again until the lease ends, and others repeat the request. */
export const settle = (
  { leaseTime, queue }: { readonly leaseTime: Duration.Duration; readonly queue: DeliveryQueue["Service"] },
  delivery: Lease.Lease,
  outcome: Outcome,
  requestedAt: number
) => {
  const once = queue.settle(delivery, outcome, requestedAt)
  return Effect.catchIf(once, isUnreachable, () =>
    Effect.retry(Effect.delay(once, againAfter), { while: isUnreachable, schedule: Schedule.during(leaseTime) })
  ).pipe(
    Effect.matchCauseEffect({
      onFailure: (cause) =>
        FailureLog.error("The outcome of a delivery attempt could not be stored", cause).pipe(Lease.inLogs(delivery)),
      onSuccess: () =>
        outcome.error === null
          ? Effect.void
          : Effect.logInfo("A delivery attempt failed", outcome.error).pipe(Lease.inLogs(delivery))
    })
  )
}
