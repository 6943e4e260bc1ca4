import { availableParallelism } from "node:os"
import { Clock, Effect, Exit, FiberSet, Metric } from "effect"
import * as Settings from "../Settings.ts"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import * as Elapsed from "../schedule/Elapsed.ts"
import type { Resolve } from "../sender/PortDns.ts"
import { ParserPool } from "./ParserPool.ts"
import { SenderQueries } from "./SenderQueries.ts"
import * as ThreadLimits from "./ThreadLimits.ts"
import { ThreadScript } from "./ThreadScript.ts"

const running = Metric.gauge("inlet_parser_threads", { description: "Parser threads that run, by what they read for" })
const lost = Metric.counter("inlet_parser_threads_lost_total", {
  description: "Parser threads that were stopped: too slow, out of memory, or broken"
})

/** Interval of checking threads in milliseconds. */
const lookMilliseconds = 250

/** Maximum threads that parse for delivery. More would take processor time from SMTP and the API. */
const mostForDelivery = Math.max(2, Math.min(4, availableParallelism()))

/**
 * The niceness of threads that nothing urgent waits for. On a busy machine requests get a tenth, and slow messages a
 * third, of what a thread of usual priority gets. Only Linux has thread priorities.
 */
const nicenessForRequests = 10
const nicenessForSlow = 5

/**
 * Makes a pool of parser threads that ends with the scope: for `delivery`, or for `requests` of the API, which has
 * one thread, and one message of a tenant at a time.
 */
export const make = Effect.fnUntraced(function* (purpose: "delivery" | "requests") {
  const { mxHost, senderChecks } = yield* Settings.reading
  const { nameServers } = yield* Settings.dns
  const { messageBytes } = yield* Settings.limits
  const limits = ThreadLimits.upTo(messageBytes, yield* ThreadLimits.ThreadLimits)
  const clock = yield* Clock.Clock
  const context = yield* Effect.context()
  const fork = yield* FiberSet.makeRuntime()
  const answers = yield* SenderQueries
  const resolve: Resolve | undefined =
    answers &&
    ((name, type, then) =>
      void fork(answers(name, type)).addObserver((exit) =>
        then(Exit.isSuccess(exit) ? exit.value : { code: "ESERVFAIL" })
      ))
  const isForDelivery = purpose === "delivery"
  const threads = Metric.withAttributes(running, { purpose })
  const busy = yield* BackgroundLoop.whileBusy(
    Math.min(lookMilliseconds, limits.parseMilliseconds / 2),
    "A look at the parser threads failed",
    () => pool.look()
  )
  const pool = new ParserPool({
    settings: {
      nameServers,
      resolve,
      authservId: mxHost,
      senderChecks,
      niceness: isForDelivery ? 0 : nicenessForRequests,
      script: (yield* ThreadScript).href
    },
    limits,
    now: () => Elapsed.millisOf(clock),
    nicenessForSlow,
    cores: availableParallelism(),
    fewestThreads: isForDelivery ? 1 : 0,
    mostThreads: isForDelivery ? mostForDelivery : 1,
    mostPerTenant: isForDelivery ? Number.POSITIVE_INFINITY : 1,
    log: (line, reason) => void fork(Effect.logWarning(line, reason)),
    changed: (count) => {
      threads.updateUnsafe(count, context)
      busy()
    },
    lost: () => lost.updateUnsafe(1, context),
    busy
  })
  // Prometheus counts no increase in the first value of a series.
  lost.updateUnsafe(0, context)
  yield* Effect.addFinalizer(() => Effect.promise(() => pool.close()))
  return pool
})
