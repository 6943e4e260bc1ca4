import { Clock, Duration, Effect, Random, type Scope } from "effect"
import type { Bridge } from "./Bridge.ts"
import type { Cluster } from "./Cluster.ts"
import type { Disk } from "./Disk.ts"
import type { Service } from "./Service.ts"

/** The parts that a scenario can harm. */
export interface Stage {
  readonly cluster: Cluster["Service"]
  readonly service: Service
  /** A second process on the same database and raw messages, if the scenario has one. */
  readonly other: Service
  readonly disk: Disk
  /** The bridge for Cloudflare, if mail comes through it. */
  readonly bridge: Bridge | undefined
  /** The key of the workspace with the mail. */
  readonly key: string
  /** The duration of the scenario. */
  readonly time: Duration.Duration
}

/** A fault that is injected while mail arrives. */
export interface Scenario {
  readonly title: string
  readonly database: "server" | "embedded"
  readonly processes: 1 | 2
  /** How mail comes. `smtp` by default. */
  readonly way?: "smtp" | "ingest" | "bridge"
  readonly killsProcesses: boolean
  /** Whether the outcome of a statement can remain unknown, so that the raw message stays in the log. */
  readonly leavesRecords: boolean
  /** Returns the number of faults, and observations that must not occur. */
  readonly strike: (stage: Stage) => Effect.Effect<Struck, never, Scope.Scope>
}

export interface Struck {
  readonly times: number
  readonly faults: ReadonlyArray<string>
}

/** Repeats until the deadline, at least once. Returns the number of repetitions. */
const throughout = Effect.fnUntraced(function* <E, R>(time: Duration.Duration, once: Effect.Effect<unknown, E, R>) {
  const end = (yield* Clock.currentTimeMillis) + Duration.toMillis(time)
  let times = 0
  do {
    yield* once
    times++
  } while ((yield* Clock.currentTimeMillis) < end)
  return { times, faults: [] }
})

const sleepBetween = (least: number, most: number) =>
  Effect.flatMap(Random.nextIntBetween(least, most), (milliseconds) => Effect.sleep(milliseconds))

/** Sends kill -9 some seconds after the service is up, and sometimes during its start. */
const kill = ({ service, time }: Stage) =>
  throughout(
    time,
    Effect.gen(function* () {
      yield* sleepBetween(1_000, 4_000)
      yield* service.kill
      if ((yield* Random.next) < 0.25) {
        yield* service.spawn
        yield* sleepBetween(100, 2_000)
      }
      yield* service.start
    })
  )

/** Sends kill -9 to the service or to the bridge, or to both, some seconds after both are up. */
const killEither = (stage: Stage) => {
  const { bridge, service, time } = stage
  if (bridge === undefined) return kill(stage)
  return throughout(
    time,
    Effect.gen(function* () {
      yield* sleepBetween(1_000, 4_000)
      const which = yield* Random.next
      if (which < 0.66) yield* service.kill
      if (which > 0.33) yield* bridge.kill
      yield* Effect.all([which < 0.66 ? service.start : Effect.void, which > 0.33 ? bridge.start : Effect.void], {
        concurrency: 2
      })
    })
  )
}

const crash = ({ cluster, time }: Stage) => throughout(time, Effect.andThen(sleepBetween(1_000, 5_000), cluster.crash))

/** The answers to a client while the database is down, and their maximum delay. */
const answers = [
  { path: "/health", status: 200, within: 2_000 },
  { path: "/ready", status: 503, within: 10_000 },
  { path: "/api/domains", status: 503, within: 10_000 }
]

const outageIsTold = ({ key, service }: Stage) =>
  Effect.forEach(
    answers,
    Effect.fnUntraced(function* ({ path, status, within }) {
      const [took, answer] = yield* Effect.timed(service.call("GET", path, { key }))
      const isTold = answer.status === status && (status === 200 || answer.headers["retry-after"] !== undefined)
      return isTold && Duration.toMillis(took) < within
        ? []
        : [`${path} answered ${answer.status} after ${Duration.toMillis(took)} ms while PostgreSQL was stopped`]
    }),
    { concurrency: "unbounded" }
  ).pipe(Effect.map((faults) => faults.flat()))

const freeze = Effect.fnUntraced(function* (stage: Stage) {
  const frozen = <A>(during: Effect.Effect<A>) => Effect.scoped(Effect.andThen(stage.cluster.frozen, during))
  yield* Effect.sleep("1 second")
  // Longer than any timeout.
  const [first, [faults]] = yield* Effect.timed(
    frozen(Effect.all([outageIsTold(stage), Effect.sleep("12 seconds")], { concurrency: "unbounded" }))
  )
  const left = Duration.subtract(stage.time, first)
  if (Duration.toMillis(left) <= 0) return { times: 1, faults }
  const { times } = yield* throughout(
    left,
    Effect.andThen(sleepBetween(2_000, 6_000), frozen(sleepBetween(1_000, 6_000)))
  )
  return { times: times + 1, faults }
})

const fill = ({ disk, time }: Stage) =>
  throughout(
    time,
    Effect.andThen(sleepBetween(1_000, 3_000), Effect.scoped(Effect.andThen(disk.full, sleepBetween(2_000, 4_000))))
  )

/** Both processes run for half of the time, then one is killed for good. */
const leaveOne = Effect.fnUntraced(function* ({ other, time }: Stage) {
  yield* Effect.sleep(Duration.times(time, 0.5))
  yield* other.kill
  yield* Effect.sleep(Duration.times(time, 0.5))
  return { times: 1, faults: [] }
})

export const killed: Scenario = {
  title: "`kill -9` of the service at random, and restart",
  database: "server",
  processes: 1,
  killsProcesses: true,
  leavesRecords: true,
  strike: kill
}

export const killedEmbedded: Scenario = {
  title: "the same with the embedded database",
  database: "embedded",
  processes: 1,
  killsProcesses: true,
  leavesRecords: true,
  strike: kill
}

export const relayKilled: Scenario = {
  title: "mail by HTTP, `kill -9` of the service at random, and relays that die within a request",
  database: "server",
  processes: 1,
  way: "ingest",
  killsProcesses: true,
  leavesRecords: true,
  strike: kill
}

export const bridgeKilled: Scenario = {
  title: "mail through the bridge for Cloudflare, `kill -9` of the service and of workerd at random",
  database: "server",
  processes: 1,
  way: "bridge",
  killsProcesses: true,
  leavesRecords: true,
  strike: killEither
}

export const databaseCrashed: Scenario = {
  title: "PostgreSQL restarted with `-m immediate` at random",
  database: "server",
  processes: 1,
  killsProcesses: false,
  leavesRecords: true,
  strike: crash
}

export const databaseFrozen: Scenario = {
  title: "PostgreSQL suspended with `SIGSTOP`, once for 12 s, and resumed",
  database: "server",
  processes: 1,
  killsProcesses: false,
  leavesRecords: true,
  strike: freeze
}

export const diskFull: Scenario = {
  title: "raw message disk full, and with space again",
  database: "server",
  processes: 1,
  killsProcesses: false,
  leavesRecords: false,
  strike: fill
}

export const oneOfTwoKilled: Scenario = {
  title: "two processes on one database, one killed for good",
  database: "server",
  processes: 2,
  killsProcesses: true,
  leavesRecords: true,
  strike: leaveOne
}

export const all: ReadonlyArray<Scenario> = [
  killed,
  killedEmbedded,
  relayKilled,
  bridgeKilled,
  databaseCrashed,
  databaseFrozen,
  diskFull,
  oneOfTwoKilled
]

/** Those that depend on chance the most. */
export const long: ReadonlyArray<Scenario> = [killed, relayKilled, bridgeKilled]
