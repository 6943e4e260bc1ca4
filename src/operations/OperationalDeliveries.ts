import { Context, type Duration, Effect, FiberSet, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Asker } from "../database/Turns.ts"
import * as FailureReason from "../delivery/FailureReason.ts"
import * as NextAttempt from "../delivery/NextAttempt.ts"
import { OpenedSecrets } from "../delivery/OpenedSecrets.ts"
import { failed, WebhookSender } from "../delivery/WebhookSender.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import { DueWork } from "../schedule/DueWork.ts"
import { type Claim, OperationalQueue } from "./OperationalQueue.ts"

/** Requests at a time in a process to webhooks whose last request succeeded, and to the others. */
const mostAtOnce = 32

/** Polling interval. Tests shorten it. */
export const Interval = Context.Reference<Duration.Input>("inlet/operations/OperationalDeliveries/Interval", {
  defaultValue: () => "1 second"
})

/**
 * Sends operational events while the process runs. Failing webhooks have requests of their own, so that those that hang
 * delay nobody else's.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const queue = yield* OperationalQueue
    const sender = yield* WebhookSender
    const secrets = yield* OpenedSecrets
    const nextAttempt = yield* NextAttempt.make
    const requests = yield* FiberSet.make()
    const free = { steady: mostAtOnce, failing: mostAtOnce }

    const send = Effect.fn("OperationalDeliveries.send")(function* (claim: Claim) {
      const { attempt, eventId, payload, url, workspaceId } = claim
      const outcome = yield* secrets.open(claim).pipe(
        Effect.matchCauseEffect({
          onSuccess: (opened) =>
            sender.send({ eventId, payload: Buffer.from(payload), secrets: opened, url, workspaceId }),
          // An attempt that failed, or it would be claimed again for ever.
          onFailure: (cause) =>
            Effect.as(
              Effect.logError("The signing secret of a workspace could not be decrypted", cause).pipe(
                Effect.annotateLogs({ event_id: eventId, workspace_id: workspaceId })
              ),
              failed(FailureReason.unreadableSecret)
            )
        }),
        Effect.onInterrupt(() => Effect.ignore(queue.giveBack(claim)))
      )
      if (outcome.error === null) return yield* queue.settle(claim, { error: null, wait: null })
      const { status, wait } = yield* nextAttempt(attempt, outcome)
      const isLast = status === "dead"
      yield* Effect.logWarning(
        isLast ? "An operational event was not delivered" : "An operational event is sent again",
        outcome.error
      ).pipe(Effect.annotateLogs({ event_id: eventId, workspace_id: workspaceId, attempt }))
      yield* queue.settle(claim, { error: outcome.error, wait: isLast ? null : wait })
    })

    const begin = (claim: Claim) => {
      const lane = claim.isFailing ? "failing" : "steady"
      free[lane]--
      return BackgroundLoop.survive(
        "The outcome of an operational event could not be stored. Inlet sends it again",
        send(claim)
      ).pipe(Effect.ensuring(Effect.sync(() => free[lane]++)), FiberSet.run(requests))
    }

    const sql = yield* SqlClient.SqlClient
    const isDue = yield* (yield* DueWork).watch(
      sql`SELECT true FROM operational_webhooks WHERE turn_at <= now() LIMIT 1`
    )
    const round = Effect.gen(function* () {
      if (!(yield* isDue)) return
      for (const claim of yield* queue.claim(free)) yield* begin(claim)
    })
    yield* BackgroundLoop.every(
      yield* Interval,
      { says: "Looking for operational events to send failed. Inlet looks again", level: "Warn" },
      Effect.provideService(round, Asker, "operations")
    )
  })
).pipe(Layer.provide([OperationalQueue.layer, OpenedSecrets.layer]))
