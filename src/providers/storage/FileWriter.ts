import { rm } from "node:fs"
import { Worker } from "node:worker_threads"
import { Cause, Effect } from "effect"
import type { WriteTask, Written } from "./FileWriterThread.ts"

interface Job {
  readonly file: string
  resume: (result: Effect.Effect<void, Cause.UnknownError>) => void
}

/**
 * Writes files, each whole and synced under a name that is new, or none. A thread
 * of its own makes the calls: passing each of them to a pool costs more than the
 * call, and they are many for a file. `script` is what the thread runs.
 */
export const make = Effect.fnUntraced(function* (script = new URL("./FileWriterThread.ts", import.meta.url)) {
  const jobs = new Map<number, Job>()
  let thread: Worker | undefined
  let lastId = 0

  const finish = (id: number, result: Effect.Effect<void, Cause.UnknownError>) => {
    const job = jobs.get(id)
    jobs.delete(id)
    job?.resume(result)
  }
  const hear = (told: ReadonlyArray<Written>) => {
    for (const { error, id } of told) {
      finish(id, error === undefined ? Effect.void : Effect.fail(new Cause.UnknownError(error)))
    }
  }
  /** Its files are not known to be written; the next file starts another thread. */
  const lose = (lost: Worker, reason: Error) => {
    if (thread !== lost) return
    thread = undefined
    for (const id of [...jobs.keys()]) finish(id, Effect.fail(new Cause.UnknownError(reason)))
  }
  const start = () => {
    const started = new Worker(script, {
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 }
    })
    started.on("message", hear)
    started.on("error", (error) => lose(started, error))
    started.on("exit", () => lose(started, new Error("the thread that writes files has ended")))
    thread = started
    return started
  }

  // Started by the first file.
  yield* Effect.addFinalizer(() => Effect.promise(() => Promise.resolve(thread?.terminate())))

  return (file: string, content: ReadonlyArray<Uint8Array>): Effect.Effect<void, Cause.UnknownError> =>
    Effect.callback((resume) => {
      const job: Job = { file, resume }
      const task: WriteTask = { id: ++lastId, file, content }
      jobs.set(task.id, job)
      const running = thread ?? start()
      running.postMessage(task)
      return Effect.sync(() => {
        // It can't be called back: a file that is not waited for any more is removed once it is there.
        job.resume = () => rm(file, { force: true }, () => {})
      })
    })
})
