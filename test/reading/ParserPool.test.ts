import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Queue } from "effect"
import { DomainId, DomainName } from "../../src/model/Domain.ts"
import { InboundEmailId, rawRef } from "../../src/model/InboundEmail.ts"
import { ParserPool, type PoolOptions } from "../../src/reading/ParserPool.ts"
import type { ReadTask } from "../../src/reading/ReadTask.ts"
import { ThreadLimits } from "../../src/reading/ThreadLimits.ts"
import * as Elapsed from "../../src/schedule/Elapsed.ts"

/** A thread that ends with its first messages. */
const script = `data:text/javascript,${encodeURIComponent(`
  import { parentPort } from "node:worker_threads"
  parentPort.once("message", () => process.exit())
  parentPort.postMessage("ready")
`)}`

/** A thread whose sender checks take 200 ms. It answers each message that it may parse with a failure. */
const slowChecks = `data:text/javascript,${encodeURIComponent(`
  import { parentPort } from "node:worker_threads"
  const none = { read: [], payloads: new ArrayBuffer(), answers: [], carried: [], failed: [], aside: [], held: [], used: [] }
  parentPort.on("message", ({ handed, letOn }) => {
    for (const { number } of handed) {
      parentPort.postMessage({ ...none, aside: [number] })
      setTimeout(() => parentPort.postMessage({ ...none, held: [number] }), 200)
    }
    for (const number of letOn) parentPort.postMessage({ ...none, failed: [{ number, reason: "parsed" }] })
  })
  parentPort.postMessage("ready")
`)}`

const makePool = (options: Partial<PoolOptions> = {}) =>
  Effect.acquireRelease(
    Effect.map(
      Clock.Clock,
      (clock) =>
        new ParserPool({
          settings: { nameServers: undefined, authservId: "mx.example", senderChecks: false, niceness: 0, script },
          limits: ThreadLimits.defaultValue(),
          now: () => Elapsed.millisOf(clock),
          cores: 2,
          nicenessForSlow: 0,
          fewestThreads: 0,
          mostThreads: 1,
          mostPerTenant: 16,
          log: () => {},
          changed: () => {},
          lost: () => {},
          busy: () => {},
          ...options
        })
    ),
    (pool) => Effect.promise(() => pool.close())
  )

const domainId = DomainId.make("01981c9e-0000-7000-8000-000000000001")
const inboundEmailId = InboundEmailId.make("01981c9e-1111-7000-8000-000000000001")

const task: ReadTask = {
  kind: "read",
  depth: "full",
  inboundEmailId,
  rawRef: rawRef(domainId, inboundEmailId),
  domain: DomainName.make("example.com"),
  envelope: { from: "bounce@sender.example", helo: "client.example", remoteAddress: "203.0.113.9" },
  recipients: [],
  isRepeated: false,
  receivedAt: "2026-01-31T12:00:00.007Z",
  sha256: new Uint8Array(32),
  rules: [],
  verdicts: null
}

const bytes = () => new Uint8Array(8)

/** Submits a message. `loads` has the callbacks of its bytes that are loaded again, and `failed` ends with it. */
const submit = Effect.fnUntraced(function* (pool: ParserPool) {
  const loads = yield* Queue.unbounded<(message: Uint8Array) => void>()
  const failed = yield* Deferred.make<string>()
  const message = bytes()
  const job = pool.submit({
    tenant: "tenant",
    task: { kind: "page", payload: "" },
    message,
    bytes: message.byteLength,
    reload: (then) => void Queue.offerUnsafe(loads, then),
    answer: () => {},
    fail: (reason) => void Deferred.doneUnsafe(failed, Effect.succeed(reason))
  })
  return { job, loads, failed }
})

/** Loses the thread of a message twice, after which it waits for a thread of its own. */
const loseTwice = Effect.fnUntraced(function* ({ loads }: Effect.Success<ReturnType<typeof submit>>) {
  for (let time = 0; time < 2; time++) (yield* Queue.take(loads))(bytes())
})

describe("A cancelled message", () => {
  it.live("whose thread was lost is not parsed again once its bytes are loaded", () =>
    Effect.gen(function* () {
      const pool = yield* makePool()
      const { job, loads } = yield* submit(pool)
      const loaded = yield* Queue.take(loads)
      pool.cancel(job)
      loaded(bytes())
      assert.strictEqual(pool.waiting, 0)
    })
  )

  it.live("that waits for a thread of its own gets none", () =>
    Effect.gen(function* () {
      const pool = yield* makePool()
      const cancelled = yield* submit(pool)
      yield* loseTwice(cancelled)
      pool.cancel(cancelled.job)
      const next = yield* submit(pool)
      yield* loseTwice(next)
      yield* Deferred.await(next.failed)
      assert.isFalse(Deferred.isDoneUnsafe(cancelled.failed))
    })
  )

  it.live("is not loaded again if its thread is lost", () =>
    Effect.gen(function* () {
      let lost = () => {}
      const pool = yield* makePool({ lost: () => lost() })
      const cancelled = yield* submit(pool)
      lost = () => pool.cancel(cancelled.job)
      const other = yield* submit(pool)
      yield* Queue.take(other.loads)
      assert.strictEqual(yield* Queue.size(cancelled.loads), 0)
    })
  )
})

describe("Large messages of two new tenants", () => {
  it.live("are parsed by the only thread if no other one can be started", () =>
    Effect.gen(function* () {
      const pool = yield* makePool({
        settings: {
          nameServers: undefined,
          authservId: "mx.example",
          senderChecks: true,
          niceness: 0,
          script: slowChecks
        }
      })
      const large = Effect.fnUntraced(function* (tenant: string) {
        const parsed = yield* Deferred.make<string>()
        const message = new Uint8Array(100_000)
        pool.submit({
          tenant,
          task,
          message,
          bytes: message.byteLength,
          reload: () => {},
          answer: () => {},
          fail: (reason) => void Deferred.doneUnsafe(parsed, Effect.succeed(reason))
        })
        return Deferred.await(parsed)
      })
      const first = yield* large("one")
      const second = yield* large("other")
      const third = yield* large("one")
      // The first check has ended.
      yield* Effect.sleep("250 millis")
      const fourth = yield* large("other")
      assert.deepStrictEqual(
        yield* Effect.all([first, second, third, fourth]),
        Array.from({ length: 4 }, () => "parsed")
      )
    })
  )
})
