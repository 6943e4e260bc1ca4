import { Clock, Effect, Random } from "effect"
import type { SqlClient } from "effect/sql"
import type { S3Server } from "../test/simulators/S3Server.ts"
import type { Node, Nodes } from "./Nodes.ts"
import type { Service } from "./Service.ts"

/** The parts that can be harmed. */
export interface Stage {
  readonly nodes: Nodes["Service"]
  readonly database: string
  readonly sql: SqlClient.SqlClient
  readonly store: S3Server["Service"]
  /** The two mail servers and the two processes of the other roles. One that is gone is replaced by another. */
  readonly mail: ReadonlyArray<Service>
  readonly others: ReadonlyArray<Service>
  /** Replaces one for good. */
  replace(kind: "mail" | "others", index: number): Effect.Effect<void>
}

export interface Struck {
  /** When the harm began. */
  readonly from: number
  /** When Patroni had a primary or standby again, or the harm was over. Until then no mail can be stored. */
  readonly restored: number
  /** Leases of a process that is gone. */
  readonly orphans: ReadonlyArray<string>
  /** Why it was no harm, or what must not have happened. */
  readonly faults: ReadonlyArray<string>
}

export interface Harm {
  readonly title: string
  readonly strike: (stage: Stage) => Effect.Effect<Struck>
}

const ifNot = (holds: boolean, fault: string) => (holds ? [] : [fault])

/** The primary. Dies without one, because a harm starts on a whole cluster. */
const primaryOf = (nodes: Nodes["Service"]) =>
  Effect.flatMap(nodes.primary, (node) =>
    node === undefined ? Effect.die(new Error("The cluster has no primary")) : Effect.succeed(node)
  )

const synchronousOf = (nodes: Nodes["Service"]) =>
  Effect.flatMap(nodes.synchronous, (node) =>
    node === undefined ? Effect.die(new Error("The cluster has no synchronous standby")) : Effect.succeed(node)
  )

export const diskGone: Harm = {
  title: "the primary's machine: `kill -9` of all its processes, data directory removed",
  strike: Effect.fnUntraced(function* ({ nodes }) {
    const old = yield* primaryOf(nodes)
    const from = yield* Clock.currentTimeMillis
    yield* nodes.kill(old)
    const isRemoved = yield* nodes.removeData(old)
    const left = yield* nodes.states(old)
    const { at } = yield* nodes.primaryAfter(old)
    yield* Effect.sleep("5 seconds")
    yield* nodes.start(old)
    yield* nodes.whole
    return {
      from,
      restored: at,
      orphans: [],
      faults: [
        ...ifNot(isRemoved, "The primary had no data directory"),
        ...ifNot(left.length === 0, "Processes of the dead machine ran on")
      ]
    }
  })
}

export const switchover: Harm = {
  title: "a planned switchover",
  strike: Effect.fnUntraced(function* ({ nodes }) {
    const old = yield* primaryOf(nodes)
    const next = yield* synchronousOf(nodes)
    const from = yield* Clock.currentTimeMillis
    const [, { at, node }] = yield* Effect.all([nodes.switchover(old, next), nodes.primaryAfter(old)], {
      concurrency: 2
    })
    yield* nodes.whole
    return { from, restored: at, orphans: [], faults: ifNot(node === next, `Node ${node} became primary, not ${next}`) }
  })
}

/** Writes to a server that is primary no more. None may succeed. */
const writesTo = (node: Node, { database, nodes }: Stage) =>
  Effect.forEach([1, 2, 3], () => nodes.write(node, database), { concurrency: 3 })

const confirmed = (said: ReadonlyArray<string>) =>
  said.filter((text) => text.includes("INSERT 0 1") && !text.includes("WARNING"))

export const frozen: Harm = {
  title: "the primary's machine frozen (`SIGSTOP`) until it is replaced, then continued",
  strike: Effect.fnUntraced(function* (stage) {
    const { nodes } = stage
    const old = yield* primaryOf(nodes)
    const from = yield* Clock.currentTimeMillis
    yield* nodes.signal(old, "SIGSTOP")
    const states = yield* nodes.states(old)
    const { at } = yield* nodes.primaryAfter(old)
    yield* Effect.sleep("2 seconds")
    // The writers connect to the frozen server, which gets their statements once it continues.
    const [said] = yield* Effect.all([writesTo(old, stage), Effect.delay(nodes.signal(old, "SIGCONT"), "1 second")], {
      concurrency: 2
    })
    yield* nodes.whole
    return {
      from,
      restored: at,
      orphans: [],
      faults: [
        ...ifNot(states.length > 5 && states.every((state) => state === "T"), `Processes ran on: ${states.join("")}`),
        ...ifNot(confirmed(said).length === 0, `The old primary confirmed a write: ${said.join(" ")}`)
      ]
    }
  })
}

export const standbyCut: Harm = {
  title: "the network cut between the primary and its synchronous standby",
  strike: Effect.fnUntraced(function* ({ nodes }) {
    const primary = yield* primaryOf(nodes)
    const standby = yield* synchronousOf(nodes)
    const from = yield* Clock.currentTimeMillis
    yield* nodes.cut(primary, standby)
    const isReached = yield* nodes.reaches(primary, standby)
    // Patroni names the other standby.
    yield* Effect.sleep("250 millis").pipe(
      Effect.andThen(nodes.synchronous),
      Effect.repeat({ until: (node) => node !== undefined && node !== standby }),
      Effect.timeoutOption("60 seconds")
    )
    const restored = yield* Clock.currentTimeMillis
    yield* Effect.sleep("5 seconds")
    yield* nodes.heal(primary, standby)
    yield* nodes.whole
    return { from, restored, orphans: [], faults: ifNot(!isReached, "The standby was reached through the cut") }
  })
}

// With the two seconds of the probe.
const cutFor = "10 seconds"

export const inletCut: Harm = {
  title: "the network cut between Inlet and the primary for 12 s",
  strike: Effect.fnUntraced(function* ({ nodes }) {
    const primary = yield* primaryOf(nodes)
    const from = yield* Clock.currentTimeMillis
    yield* nodes.cut("inlet", primary)
    const isReached = yield* nodes.reaches("inlet", primary)
    yield* Effect.sleep(cutFor)
    yield* nodes.heal("inlet", primary)
    const restored = yield* Clock.currentTimeMillis
    yield* nodes.whole
    return { from, restored, orphans: [], faults: ifNot(!isReached, "The primary was reached through the cut") }
  })
}

export const isolated: Harm = {
  title: "the primary cut off from standbys, etcd and Inlet until it is replaced",
  strike: Effect.fnUntraced(function* ({ nodes }) {
    const old = yield* primaryOf(nodes)
    const places = (["inlet", 1, 2, 3] as const).filter((place) => place !== old)
    const from = yield* Clock.currentTimeMillis
    yield* Effect.forEach(places, (place) => nodes.cut(old, place))
    const isReached = yield* nodes.reaches("inlet", old)
    const { at } = yield* nodes.primaryAfter(old)
    yield* Effect.sleep("5 seconds")
    yield* Effect.forEach(places, (place) => nodes.heal(old, place))
    yield* nodes.whole
    return { from, restored: at, orphans: [], faults: ifNot(!isReached, "The old primary was reached") }
  })
}

export const storeGone: Harm = {
  title: "S3 away: 5 s without an answer, then 5 s of broken connections",
  strike: Effect.fnUntraced(function* ({ store }) {
    const before = yield* store.asked("put")
    const from = yield* Clock.currentTimeMillis
    for (const mishap of ["hang", "cut request"] as const) {
      yield* store.always(mishap)
      yield* Effect.sleep("5 seconds")
    }
    const asked = (yield* store.asked("put")) - before
    yield* store.always(undefined)
    const restored = yield* Clock.currentTimeMillis
    return { from, restored, orphans: [], faults: ifNot(asked > 0, "Nobody asked the store meanwhile") }
  })
}

export const inletGone: Harm = {
  title: "a mail server and a worker of Inlet gone for good in the middle of their batches",
  strike: Effect.fnUntraced(function* ({ mail, others, replace, sql }) {
    const index = (yield* Random.nextBoolean) ? 1 : 0
    const from = yield* Clock.currentTimeMillis
    const gone = [mail[index], others[index]].flatMap((service) => service ?? [])
    yield* Effect.forEach(gone, (service) => service.kill, { concurrency: 2 })
    const restored = yield* Clock.currentTimeMillis
    const live = yield* Effect.forEach(gone, (service) => service.lives)
    // Living processes finish their work within moments, so what is leased then and now is an orphan.
    const leased = sql<{ readonly id: string }>`
      SELECT id::text FROM inbound_emails WHERE state = 'received' AND leased_until > now()
      UNION ALL SELECT 'delivery ' || event_id FROM deliveries WHERE status = 'pending' AND leased_until > now()
    `.pipe(
      Effect.map((rows) => rows.map(({ id }) => id)),
      Effect.orElseSucceed((): Array<string> => [])
    )
    const first = new Set(yield* leased)
    yield* Effect.sleep("5 seconds")
    const orphans = (yield* leased).filter((id) => first.has(id))
    yield* replace("mail", index)
    yield* replace("others", index)
    return {
      from,
      restored,
      orphans,
      faults: ifNot(
        live.every((yes) => !yes),
        "A killed process lived"
      )
    }
  })
}

export const all: ReadonlyArray<Harm> = [
  diskGone,
  switchover,
  frozen,
  standbyCut,
  isolated,
  inletCut,
  storeGone,
  inletGone
]
