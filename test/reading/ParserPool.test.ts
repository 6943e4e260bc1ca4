import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Queue } from "effect"
import { ParserPool, type PoolOptions } from "../../src/reading/ParserPool.ts"
import { ThreadLimits } from "../../src/reading/ThreadLimits.ts"
import * as Elapsed from "../../src/schedule/Elapsed.ts"

/** A thread that ends with its first messages. */
const script = `data:text/javascript,${encodeURIComponent(`
  import { parentPort } from "node:worker_threads"
  parentPort.once("message", () => process.exit())
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
