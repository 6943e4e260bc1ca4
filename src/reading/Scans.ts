import { Cause, Clock, Effect, Exit, FiberSet, Metric, Option } from "effect"
import { type Spam, type SpamVerdict, unscanned } from "../model/Spam.ts"
import { MailScanner, ScanFailed, type Scannable } from "../providers/scanner/MailScanner.ts"
import * as Settings from "../Settings.ts"
import * as Elapsed from "../schedule/Elapsed.ts"
import { ScanBreaker } from "./ScanBreaker.ts"
import { type ScanJob, ScanQueue } from "./ScanQueue.ts"

const scans = Metric.counter("inlet_scans_total", { description: "Messages by the verdict of the scanner" })
const scansBy: { readonly [Verdict in SpamVerdict]: Metric.Counter<number> } = {
  clean: Metric.withAttributes(scans, { verdict: "clean" }),
  spam: Metric.withAttributes(scans, { verdict: "spam" }),
  virus: Metric.withAttributes(scans, { verdict: "virus" }),
  unknown: Metric.withAttributes(scans, { verdict: "unknown" })
}
const failures = Metric.counter("inlet_scan_failures_total", {
  description: "Requests that the scanner failed, by how"
})
const failuresBy: { readonly [Kind in ScanFailed["kind"]]: Metric.Counter<number> } = {
  timeout: Metric.withAttributes(failures, { kind: "timeout" }),
  unreachable: Metric.withAttributes(failures, { kind: "unreachable" }),
  unclear: Metric.withAttributes(failures, { kind: "unclear" }),
  refused: Metric.withAttributes(failures, { kind: "refused" })
}
const durations = Metric.histogram("inlet_scan_seconds", {
  description: "Time from the request to the scanner to its outcome",
  boundaries: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
})

/** Scans messages. */
export interface Scans {
  /** True while mail passes unscanned, because the scanner fails. */
  readonly isPassing: () => boolean
  /**
   * The scan of a message on the account of a tenant, which never fails, or its verdict at once while mail passes. Only
   * a scan needs the message.
   */
  readonly begin: (tenant: string, mail: () => Scannable) => Effect.Effect<Spam> | Spam
}

const late = new ScanFailed({ kind: "timeout", message: "it took too long" })

/**
 * Makes the scans of a process, or undefined without a scanner. A message waits for its turn and then for its
 * scan, up to the time limit each. A scanner that fails repeatedly is left alone for a pause, in which no mail waits for
 * it.
 */
export const make = Effect.gen(function* () {
  const scanner = yield* MailScanner
  if (!scanner.isActive) return undefined
  const { concurrency, timeout } = yield* Settings.scanning
  const clock = yield* Clock.Clock
  const context = yield* Effect.context()
  const fork = yield* FiberSet.makeRuntime()
  const now = () => Elapsed.millisOf(clock)
  const breaker = new ScanBreaker(now)
  const queue = new ScanQueue({ most: concurrency, now })

  /** Logs the beginning and the end of a pause, not each message. */
  const noteFailure = ({ kind, message }: ScanFailed, role: Role) =>
    Effect.suspend(() => {
      failuresBy[kind].updateUnsafe(1, context)
      if (kind === "refused") {
        breaker.ended(role)
        return Effect.logDebug("The mail scanner does not scan a message", message)
      }
      return breaker.failed(role)
        ? Effect.logWarning("The mail scanner fails. Mail goes on unscanned until it answers", message)
        : Effect.void
    })

  const noteSuccess = Effect.suspend(() =>
    breaker.succeeded() ? Effect.logInfo("The mail scanner answers again") : Effect.void
  )

  const ask = (mail: Scannable, role: Role) =>
    Effect.suspend(() => {
      const began = now()
      return scanner.scan(mail).pipe(
        Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(late) }),
        Effect.onExit((exit) => {
          durations.updateUnsafe((now() - began) / 1_000, context)
          if (Exit.isSuccess(exit)) return noteSuccess
          const failed = Cause.findErrorOption(exit.cause)
          // Interrupted by a stop, or a bug, which says nothing about later messages.
          return Option.isSome(failed) ? noteFailure(failed.value, role) : Effect.sync(() => breaker.ended(role))
        }),
        Effect.catchTag("ScanFailed", () => Effect.succeed(unscanned)),
        Effect.catchCauseIf(
          (cause) => !Cause.hasInterrupts(cause),
          (cause) => Effect.as(Effect.logError("The mail scanner broke. A mail goes on unscanned", cause), unscanned)
        )
      )
    })

  /** The scan of a message that has its turn. */
  const askUnlessOpen = (mail: Scannable) =>
    Effect.suspend(() => (breaker.isOpen ? Effect.succeed(unscanned) : ask(mail, { isTrial: false })))

  /** Waits for a turn, and scans. */
  const inTurn = (tenant: string, mail: Scannable) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const turn = new Turn(tenant)
        queue.add(turn)
        return turn
      }),
      (turn) =>
        turn.isRunning
          ? askUnlessOpen(mail)
          : Effect.callback<void>((resume) => turn.whenRunning(() => resume(Effect.void))).pipe(
              Effect.timeoutOption(timeout),
              Effect.flatMap(
                Option.match({ onNone: () => Effect.succeed(unscanned), onSome: () => askUnlessOpen(mail) })
              )
            ),
      (turn) => Effect.sync(() => (turn.isRunning ? queue.ended(turn) : queue.remove(turn)))
    )

  const count = ({ verdict }: Spam) => scansBy[verdict].updateUnsafe(1, context)

  const scans: Scans = {
    isPassing: () => breaker.isOpen,
    begin: (tenant, mail) => {
      if (!breaker.isOpen) return Effect.tap(inTurn(tenant, mail()), (spam) => Effect.sync(() => count(spam)))
      if (breaker.takesTrial()) void fork(ask(mail(), { isTrial: true }))
      count(unscanned)
      return unscanned
    }
  }
  return scans
})

/** What a failure means for the breaker. */
interface Role {
  readonly isTrial: boolean
}

/** A scan in the queue. */
class Turn implements ScanJob {
  readonly tenant: string
  isRunning = false
  #told: (() => void) | undefined

  constructor(tenant: string) {
    this.tenant = tenant
  }

  start(): void {
    this.isRunning = true
    this.#told?.()
  }

  /** Calls back once, also if it runs already. */
  whenRunning(then: () => void): void {
    if (this.isRunning) then()
    else this.#told = then
  }
}
