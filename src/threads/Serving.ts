import { parentPort, type Transferable } from "node:worker_threads"

// A thread retains all code that it loads, so this side of the bridge uses only Node.

/** The tasks of a thread. */
export interface Asked<Task> {
  readonly id: number
  readonly task: Task
}

/** Messages of a thread: ready, and the result of each task. */
export type Said<Answer> =
  | "ready"
  | { readonly id: number; readonly answer: Answer }
  | { readonly id: number; readonly failure: unknown }

/**
 * Makes this thread answer the tasks of its `WorkerThread`. A task that throws fails alone. Objects in `moved` are
 * transferred, not copied.
 */
export const serve = <Task, Answer>(
  answerOf: (task: Task) => Answer | Promise<Answer>,
  moved: (answer: Answer) => ReadonlyArray<Transferable> = () => []
) => {
  const say = (said: Said<Answer>, transfer: ReadonlyArray<Transferable> = []) =>
    parentPort?.postMessage(said, transfer)
  parentPort?.on("message", ({ id, task }: Asked<Task>) =>
    Promise.resolve(task)
      .then(answerOf)
      .then((answer) => say({ id, answer }, moved(answer)))
      .catch((failure: unknown) => say({ id, failure }))
  )
  say("ready")
}
