import { MessageChannel } from "node:worker_threads"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Latch, Scope } from "effect"
import * as WorkerThread from "../../src/threads/WorkerThread.ts"
import type { Task } from "./EchoThread.ts"

const echoThread = WorkerThread.make<Task, string>(new URL("./EchoThread.ts", import.meta.url))

const echo = (text: string, millis = 0): Task => ({ kind: "echo", text, millis })

/** A thread with this script. */
const threadOf = (script: string) =>
  WorkerThread.make<Task, string>(new URL(`data:text/javascript,${encodeURIComponent(script)}`))

/** Sends the thread a port, and opens the latch once that port closes with the thread. */
const portWith = Effect.fnUntraced(function* (thread: WorkerThread.WorkerThread<Task, string>) {
  const { port1, port2 } = new MessageChannel()
  const closed = Latch.makeUnsafe()
  port1.once("close", () => closed.openUnsafe())
  assert.strictEqual(yield* thread.ask({ kind: "keep", port: port2 }, [port2]), "kept")
  return closed
})

describe("A worker thread", () => {
  it.live("becomes ready and answers each task to its caller in any order", () =>
    Effect.gen(function* () {
      const thread = yield* echoThread
      yield* thread.ready
      const tasks = [echo("slow", 200), echo("quick"), echo("middling", 50)]
      const answers = yield* Effect.forEach(tasks, (task) => thread.ask(task), { concurrency: "unbounded" })
      assert.deepStrictEqual(answers, ["slow", "quick", "middling"])
    })
  )

  it.live("answers tasks sent before it was ready", () =>
    Effect.gen(function* () {
      const thread = yield* echoThread
      assert.strictEqual(yield* thread.ask(echo("early")), "early")
    })
  )

  it.live("fails one task as a defect of its caller and answers the next", () =>
    Effect.gen(function* () {
      const thread = yield* echoThread
      const beside = yield* Effect.forkChild(thread.ask(echo("beside", 100)))
      const failed = yield* Effect.exit(thread.ask({ kind: "fail" }))
      assert.match(String(Exit.isFailure(failed) && Cause.squash(failed.cause)), /This task can't be done/)
      assert.strictEqual(yield* Fiber.join(beside), "beside")
      assert.strictEqual(yield* thread.ask(echo("next")), "next")
    })
  )

  it.live("drops the answer for an interrupted caller and answers all others", () =>
    Effect.gen(function* () {
      const thread = yield* echoThread
      yield* thread.ready
      const beside = yield* Effect.forkChild(thread.ask(echo("beside", 200)))
      const given = yield* Effect.forkChild(thread.ask(echo("nobody's", 100)), { startImmediately: true })
      yield* Fiber.interrupt(given)
      assert.strictEqual(yield* Fiber.join(beside), "beside")
      assert.strictEqual(yield* thread.ask(echo("next")), "next")
    })
  )

  for (const [name, task, reason] of [
    ["an uncaught error", { kind: "break" }, "The thread is broken"],
    ["its own exit", { kind: "exit" }, "The thread has ended with code 3"]
  ] as const) {
    it.live(`fails running and later tasks when it ends by ${name}`, () =>
      Effect.gen(function* () {
        const thread = yield* echoThread
        yield* thread.ready
        const asked = [echo("never", 60_000), task, echo("never", 60_000)]
        const lost = yield* Effect.forEach(asked, (task) => Effect.flip(thread.ask(task)), { concurrency: "unbounded" })
        lost.push(yield* Effect.flip(thread.ask(echo("after"))))
        for (const { _tag, message } of lost) assert.deepStrictEqual([_tag, message], ["ThreadLost", reason])
      }).pipe(Effect.timeout("20 seconds"))
    )
  }

  it.live("never becomes ready if its script fails, and reports the error", () =>
    Effect.gen(function* () {
      const thread = yield* threadOf("await Promise.reject(new Error('There is no folder'))")
      const asked = yield* Effect.forkChild(Effect.flip(thread.ask(echo("early"))), { startImmediately: true })
      assert.strictEqual((yield* Effect.flip(thread.ready)).message, "There is no folder")
      assert.strictEqual((yield* Fiber.join(asked)).message, "There is no folder")
    }).pipe(Effect.timeout("20 seconds"))
  )

  it.live("ends with its scope during a task, and fails that task", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const thread = yield* Scope.provide(echoThread, scope)
      const closed = yield* portWith(thread)
      const asked = yield* Effect.forkChild(Effect.flip(thread.ask({ kind: "spin" })), { startImmediately: true })
      yield* Scope.close(scope, Exit.void)
      yield* closed.await
      assert.strictEqual((yield* Fiber.join(asked))._tag, "ThreadLost")
      assert.strictEqual((yield* Effect.flip(thread.ask(echo("after"))))._tag, "ThreadLost")
    }).pipe(Effect.timeout("20 seconds"))
  )

  it.live("has no flags of its process, and only the compile cache variable", () =>
    Effect.gen(function* () {
      const thread = yield* threadOf(`
        import { parentPort } from "node:worker_threads"
        parentPort.on("message", ({ id }) =>
          parentPort.postMessage({ id, answer: JSON.stringify([process.execArgv, process.env]) })
        )
      `)
      const [flags, { NODE_COMPILE_CACHE: _, ...variables }] = JSON.parse(yield* thread.ask(echo("")))
      assert.deepStrictEqual([flags, variables], [[], {}])
    })
  )
})
