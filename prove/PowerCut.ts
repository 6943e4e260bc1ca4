import { NodeServices } from "@effect/platform-node"
import { Array, Clock, Effect, Exit, FileSystem, Path, Random, Redacted, Scope } from "effect"
import { call } from "../test/ApiCall.ts"
import { eventually } from "../test/Eventually.ts"
import * as InletProcess from "../test/InletProcess.ts"
import * as Mailbox from "../test/Mailbox.ts"
import * as Needs from "../test/Needs.ts"
import { WebhookReceiver } from "../test/WebhookReceiver.ts"
import * as Cluster from "./Cluster.ts"
import { SyncedDisk } from "./SyncedDisk.ts"
import * as SystemCalls from "./SystemCalls.ts"
import * as WriteOrder from "./WriteOrder.ts"

export type Database = "embedded" | "server"

/** What a service started on the remains of a power cut knew of the mail. */
export interface Cut {
  readonly when: string
  /** Mails whose `250` was being sent before the cut. */
  readonly accepted: number
  /** Of these, mails that are missing from the list or whose bytes differ. */
  readonly lost: ReadonlyArray<string>
}

export interface Verdict {
  readonly database: Database
  readonly cuts: ReadonlyArray<Cut>
  /** Mails that were answered before the sync, with the reason. */
  readonly broken: ReadonlyArray<string>
}

const senders = 6

/**
 * Records every system call of a service, and of a PostgreSQL server, from the first start on: under load, through a
 * kill -9 and a stop. Then builds the folder that a power cut would have left at several moments, with only the
 * synced writes or with some of the others. A service started there is asked for every mail that was answered `250`
 * before.
 */
export const run = Effect.fn("PowerCut.run")(
  function* (
    database: Database,
    options: {
      readonly mails: number
      readonly cuts: number
      /** For a service with raw messages in a bucket. */
      readonly settings?: Readonly<Record<string, string>>
    }
  ) {
    yield* Needs.demand(Needs.recorder, ...(database === "server" ? [Needs.cluster] : []))
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const scope = yield* Effect.scope
    const world = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-power-" })
    // The server's user needs to traverse this folder.
    yield* fs.chmod(world, 0o755)
    const root = path.join(world, "disk")
    const cluster = path.join(root, "cluster")
    yield* fs.makeDirectory(cluster, { recursive: true })
    if (database === "server") yield* Effect.scoped(Cluster.serve(cluster))
    const disk = new SyncedDisk(root)

    const record = (name: string) => path.join(world, `${name}.calls`)
    const power = yield* Scope.fork(scope)
    const servers: Array<{ readonly record: string; readonly postmaster: number; readonly data: string }> = []
    const serve =
      database === "embedded"
        ? Effect.undefined
        : Effect.gen(function* () {
            const file = record(`server-${servers.length}`)
            const served = yield* Scope.provide(Cluster.serve(cluster, SystemCalls.recorder(file)), power)
            const [postmaster] = (yield* fs.readFileString(path.join(served.data, "postmaster.pid"))).split("\n")
            servers.push({ record: file, postmaster: Number(postmaster), data: served.data })
            return served
          })
    let server = yield* serve

    const settings = (from: string, url: Redacted.Redacted | undefined) => ({
      ...options.settings,
      DATA_DIR: path.join(from, "data"),
      ...(url === undefined ? {} : { DATABASE_URL: Redacted.value(url) })
    })
    const lives: Array<InletProcess.InletProcess> = []
    const live = Effect.gen(function* () {
      // The answers of a bucket are recorded too.
      const before = SystemCalls.recorder(
        record(`life-${lives.length}`),
        options.settings === undefined ? [] : ["read"]
      )
      const inlet = yield* Scope.provide(InletProcess.start(settings(root, server?.url), before), power)
      lives.push(inlet)
      return inlet
    })

    const sent = new Map<string, string>()
    let begun = 0
    const send = Effect.fnUntraced(function* (inlet: InletProcess.InletProcess, to: string) {
      const marker = `mail-${lives.length}-${++begun}`
      const dialog = yield* Mailbox.begin(inlet.smtpPort, to)
      sent.set(`${lives.length - 1}:${dialog.localPort}`, marker)
      return yield* Mailbox.data(dialog, messageOf(marker))
    }, Effect.scoped)
    const load = (inlet: InletProcess.InletProcess, to: string) =>
      Effect.forEach(Array.range(1, options.mails), () => send(inlet, to), { concurrency: senders, discard: true })
    const now = Effect.map(Clock.currentTimeMillis, (millis) => millis * 1_000)

    const receiver = yield* WebhookReceiver.make
    const first = yield* live
    const inbox = yield* first.inbox(receiver.url)
    yield* load(first, inbox.address)
    yield* first.signal("SIGKILL")
    yield* first.ending
    if (server !== undefined) yield* server.control("stop", "--mode", "immediate")
    server = yield* serve
    const second = yield* live
    const afterKill = yield* now
    yield* load(second, inbox.address)
    yield* second.signal("SIGTERM")
    yield* second.ending
    const afterStop = yield* now
    yield* Scope.close(power, Exit.void)

    const accepted: Array<WriteOrder.Answered> = []
    const all: Array<SystemCalls.SystemCall> = []
    for (const [life, { pid }] of lives.entries()) {
      yield* SystemCalls.complete(record(`life-${life}`), pid)
      const calls = yield* SystemCalls.read(record(`life-${life}`))
      disk.record(calls, root)
      all.push(...calls)
      for (const { at, port } of acceptances(calls)) {
        const marker = sent.get(`${life}:${port}`)
        if (marker !== undefined) accepted.push({ marker, at })
      }
    }
    for (const { data, postmaster, record } of servers) {
      yield* SystemCalls.complete(record, postmaster)
      const calls = yield* SystemCalls.read(record)
      disk.record(calls, data)
      all.push(...calls)
    }

    const moments = yield* Random.shuffle(accepted)
    const cuts = [
      ...moments.slice(0, options.cuts).map(({ at, marker }) => ({ at, when: `while the 250 of ${marker} is sent` })),
      { at: afterKill, when: "after a start that followed kill -9" },
      { at: afterStop, when: "after a stop" }
    ].sort((one, other) => one.at - other.at)

    const broken = WriteOrder.broken(
      all.sort((one, other) => one.begun - other.begun),
      accepted
    )
    const seen = yield* Effect.forEach(cuts, ({ at, when }, index) =>
      Effect.scoped(
        Effect.gen(function* () {
          const found = path.join(world, `found-${index}`)
          // After the service and the server in it have ended.
          yield* Effect.addFinalizer(() => Effect.orDie(fs.remove(found, { recursive: true })))
          disk.runUntil(at)
          const chance = index % 2 === 0 ? undefined : yield* dice
          disk.leave(found, chance)
          yield* fs.chmod(found, 0o755)
          // The pid file names a process before the cut, which still runs on this machine.
          yield* fs.remove(path.join(found, "cluster/data/postmaster.pid"), { force: true })
          const again = server === undefined ? undefined : yield* Cluster.serve(path.join(found, "cluster"))
          const inlet = yield* InletProcess.start(settings(found, again?.url))
          const expected = accepted.flatMap((mail) => (mail.at <= at ? [mail.marker] : []))
          const cut: Cut = {
            when: `${when}, ${chance === undefined ? "without" : "with some"} unsynced writes`,
            accepted: expected.length,
            lost: yield* missing(inlet, inbox, expected)
          }
          return cut
        })
      )
    )
    const verdict: Verdict = { database, cuts: seen, broken }
    return verdict
  },
  Effect.scoped,
  Effect.provide(NodeServices.layer),
  Effect.orDie
)

/** A coin flip without an effect. */
const dice = Effect.map(Random.nextIntBetween(1, 2 ** 31), (seed) => {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return ((state >> 16) & 1) === 1
  }
})

/** When each message of a connection was answered `250` after its `354`, by the client's port. */
const acceptances = (calls: ReadonlyArray<SystemCalls.SystemCall>) => {
  const inData = new Set<string>()
  return calls
    .filter(({ name }) => name === "write" || name === "writev")
    .toSorted((one, other) => one.begun - other.begun)
    .flatMap(({ args, begun }) => {
      const { of } = SystemCalls.descriptorOf(args)
      const [, port] = /^TCP.*->.*:(\d+)\]$/.exec(of ?? "") ?? []
      if (port === undefined) return []
      const said = Buffer.concat(SystemCalls.stringsOf(args)).toString("latin1")
      if (said.startsWith("354")) inData.add(port)
      return said.startsWith("250") && inData.delete(port) ? [{ at: begun, port }] : []
    })
}

/** Of these mails, those that are missing from the list or whose bytes are missing. */
const missing = Effect.fnUntraced(function* (
  inlet: InletProcess.InletProcess,
  { domainId, key }: InletProcess.Inbox,
  expected: ReadonlyArray<string>
) {
  const events = `/api/domains/${domainId}/events`
  const listed = Effect.gen(function* () {
    const found = new Map<string, string>()
    let cursor = ""
    do {
      const { json } = yield* call(inlet.url, "GET", `${events}?limit=100${cursor}`, { key })
      for (const { event_id, subject } of json.events ?? []) found.set(subject, event_id)
      cursor = json.next_cursor ? `&cursor=${json.next_cursor}` : ""
    } while (cursor !== "")
    return found
  })
  const isThere = (found: ReadonlyMap<string, string>) => expected.every((marker) => found.has(marker))
  // On a server, the lease of the dead process must expire before the mails are parsed again.
  const found = yield* eventually(listed, isThere, "100 seconds").pipe(Effect.catchDefect(() => listed))
  return yield* Effect.filter(
    expected,
    Effect.fnUntraced(function* (marker) {
      const asked = call(inlet.url, "GET", `${events}/${found.get(marker)}/raw`, { key })
      // Retry on rate limits and on a slow bucket, which lose nothing.
      const raw = yield* eventually(asked, ({ status }) => status !== 429 && status !== 503, "30 seconds")
      return raw.status !== 200 || !raw.text.endsWith(messageOf(marker))
    })
  )
})

const messageOf = (marker: string) =>
  [
    "From: Sender <sender@sender.example>",
    `Subject: ${marker}`,
    `Message-ID: <${marker}@sender.example>`,
    "",
    ...Array.replicate(`Line of ${marker}.`, 20 + ((marker.length * 37) % 100)),
    ""
  ].join("\r\n")
