import { type Transferable, Worker, type WorkerOptions } from "node:worker_threads"
import { Deferred, Effect, Schema } from "effect"
import type { Asked, Said } from "./Serving.ts"
import * as ThreadEnvironment from "./ThreadEnvironment.ts"

/** The thread has ended, with all of its tasks. */
export class ThreadLost extends Schema.TaggedError<ThreadLost>()("ThreadLost", { cause: Schema.Defect() }) {
  override readonly message = this.cause instanceof Error ? this.cause.message : String(this.cause)
}

export interface WorkerThread<Task, Answer> {
  /** Succeeds once the thread is ready. */
  readonly ready: Effect.Effect<void, ThreadLost>
  /**
   * Tasks start in the order of their calls, the first when the thread is ready. An error thrown by a task is a
   * defect. Objects in `transfer` are transferred, not copied. An interruption drops the answer without telling the
   * thread.
   */
  ask(task: Task, transfer?: ReadonlyArray<Transferable>): Effect.Effect<Answer, ThreadLost>
}

/**
 * A thread that runs `script`, which calls `serve`. It ends with the scope, at once and during any task. A lost
 * thread is not restarted.
 */
export const make = Effect.fnUntraced(function* <Task, Answer>(
  script: URL,
  options: Pick<WorkerOptions, "workerData" | "resourceLimits"> = {}
) {
  const asking = new Map<number, (result: Effect.Effect<Answer, ThreadLost>) => void>()
  const ready = Deferred.makeUnsafe<void, ThreadLost>()
  let lastId = 0
  let lost: ThreadLost | undefined

  const settle = (id: number, result: Effect.Effect<Answer, ThreadLost>) => {
    asking.get(id)?.(result)
    asking.delete(id)
  }
  const hear = (said: Said<Answer>) => {
    if (said === "ready") Deferred.doneUnsafe(ready, Effect.void)
    else settle(said.id, "answer" in said ? Effect.succeed(said.answer) : Effect.die(said.failure))
  }
  const lose = (cause: unknown) => {
    lost ??= new ThreadLost({ cause })
    const failure = Effect.fail(lost)
    Deferred.doneUnsafe(ready, failure)
    for (const id of [...asking.keys()]) settle(id, failure)
  }

  const worker = yield* Effect.acquireRelease(
    Effect.sync(() => {
      // No flag or secret of the process reaches a thread implicitly.
      const started = new Worker(script, { ...options, execArgv: [], env: ThreadEnvironment.variables })
      started.on("message", hear)
      started.on("error", lose)
      started.on("exit", (code) => lose(new Error(`The thread has ended with code ${code}`)))
      // The id could not be decoded, so the task gets no answer.
      started.on("messageerror", (error) => {
        lose(error)
        void started.terminate()
      })
      return started
    }),
    (started) => Effect.promise(() => started.terminate())
  )

  const ask: WorkerThread<Task, Answer>["ask"] = (task, transfer = []) =>
    Effect.callback((resume) => {
      if (lost !== undefined) return resume(Effect.fail(lost))
      const asked: Asked<Task> = { id: ++lastId, task }
      worker.postMessage(asked, transfer)
      asking.set(asked.id, resume)
      return Effect.sync(() => void asking.delete(asked.id))
    })

  const thread: WorkerThread<Task, Answer> = { ready: Deferred.await(ready), ask }
  return thread
})
