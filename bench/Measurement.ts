import { Duration, Effect, Option } from "effect"
import { type Contestant, ContestantFailed } from "./Contestants.ts"
import * as LoadGenerator from "./LoadGenerator.ts"
import * as Messages from "./Messages.ts"
import * as ProcessUsage from "./ProcessUsage.ts"
import type { Delivered, Sink } from "./Sink.ts"
import { percentile } from "./Statistics.ts"

interface ClosedLoop {
  readonly connections: number
  readonly messagesPerConnection: number
}

export interface Load {
  readonly title: string
  readonly mix: Messages.Mix
  readonly shape: ClosedLoop | { readonly perSecond: number }
}

export const loads = {
  mixed: {
    title: "mixed sizes, connection per message, 100 at once",
    mix: Messages.mixed,
    shape: { connections: 100, messagesPerConnection: 1 }
  },
  reused: {
    title: "mixed sizes, 50 messages per connection, 20 at once",
    mix: Messages.mixed,
    shape: { connections: 20, messagesPerConnection: 50 }
  },
  small: {
    title: "4 KB only, connection per message, 100 at once",
    mix: Messages.small,
    shape: { connections: 100, messagesPerConnection: 1 }
  },
  steady: {
    title: "a steady 200 messages a second, mixed sizes, connection per message",
    mix: Messages.mixed,
    shape: { perSecond: 200 }
  }
} satisfies Record<string, Load>

export interface Measured {
  /** Messages per second up to the last 250. */
  readonly accepted: number
  /** Messages per second up to the last webhook. */
  readonly delivered: number
  /** Milliseconds from the end of DATA to the 250. */
  readonly replyP50: number
  readonly replyP99: number
  /** Milliseconds from the end of DATA to the webhook. */
  readonly webhookP50: number
  readonly webhookP99: number
  /** CPU seconds, user and system, for 1,000 messages. */
  readonly cpu: number
  readonly peakMegabytes: number
  readonly webhooks: Delivered
}

/** One round of one contestant. */
export const measure = Effect.fnUntraced(function* (
  contestant: Contestant,
  { mix, shape }: Load,
  sink: Sink,
  round: { readonly run: number; readonly messages: number }
) {
  const { messages, run } = round
  const patience = 60 + messages / 20
  const delivered = yield* sink.expect(run, messages)
  const mail = { run, messages, mix }
  const { database, processes } = contestant
  const cpuSeconds = ProcessUsage.cpuSeconds(database === undefined ? processes : [...processes, database])
  yield* ProcessUsage.resetPeak(processes)
  const cpuBefore = yield* cpuSeconds
  const started = performance.now()
  const sent = yield* (
    "perSecond" in shape
      ? LoadGenerator.openLoop(contestant, mail, shape.perSecond)
      : LoadGenerator.closedLoop(contestant, mail, shape)
  ).pipe(Effect.timeoutOption(Duration.seconds(patience)))
  if (Option.isNone(sent))
    return yield* new ContestantFailed({ message: `had not answered every message after ${patience} seconds` })
  const { acceptedAt, dataEndedAt } = sent.value
  const accepted = acceptedAt.filter((at) => at > 0).length
  if (accepted < messages) {
    return yield* new ContestantFailed({ message: `accepted ${accepted} of ${messages} messages` })
  }
  yield* Effect.timeoutOption(delivered.all, "1 minute")
  if (delivered.count() < messages) {
    return yield* new ContestantFailed({ message: `delivered ${delivered.count()} of ${messages} messages` })
  }
  // Wait for the last writes: they belong to this contestant, not to the next one.
  yield* Effect.sleep("1 second")
  const cpu = (yield* cpuSeconds) - cpuBefore

  const replyTimes = acceptedAt.map((at, number) => at - (dataEndedAt[number] ?? at))
  const webhookTimes = delivered.arrivedAt.map((at, number) => at - (dataEndedAt[number] ?? at))
  const perSecond = (times: Float64Array) => (messages * 1_000) / (percentile(times, 1) - started)
  const measured: Measured = {
    accepted: perSecond(acceptedAt),
    delivered: perSecond(delivered.arrivedAt),
    replyP50: percentile(replyTimes, 0.5),
    replyP99: percentile(replyTimes, 0.99),
    webhookP50: percentile(webhookTimes, 0.5),
    webhookP99: percentile(webhookTimes, 0.99),
    cpu: (cpu * 1_000) / messages,
    peakMegabytes: yield* ProcessUsage.peakMegabytes(processes),
    webhooks: delivered
  }
  return measured
})
