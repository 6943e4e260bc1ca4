import { parentPort, type Transferable } from "node:worker_threads"

// A thread holds all the code that it loads, so its end of the bridge is plain Node.

/** What a thread is asked. */
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
 * Makes this thread answer what its `WorkerThread` is asked. A task that throws
 * fails alone. What `moved` names of an answer is handed over, not copied.
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
