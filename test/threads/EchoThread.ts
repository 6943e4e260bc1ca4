import { setTimeout } from "node:timers/promises"
import type { MessagePort } from "node:worker_threads"
import { serve } from "../../src/threads/Serving.ts"

/** The tasks of the test thread. */
export type Task =
  /** Returns its input after a delay. */
  | { readonly kind: "echo"; readonly text: string; readonly millis: number }
  /** Opens a port, which closes when the thread ends. */
  | { readonly kind: "keep"; readonly port: MessagePort }
  /** Fails this task only. */
  | { readonly kind: "fail" }
  /** Ends the thread with an uncaught error. */
  | { readonly kind: "break" }
  | { readonly kind: "exit" }
  /** Never returns. */
  | { readonly kind: "spin" }

const kept: Array<MessagePort> = []

serve<Task, string>((task) => {
  switch (task.kind) {
    case "echo":
      return setTimeout(task.millis, task.text)
    case "keep":
      kept.push(task.port.on("message", () => {}))
      return "kept"
    case "fail":
      throw new Error("This task can't be done")
    case "break":
      setImmediate(() => {
        throw new Error("The thread is broken")
      })
      return Promise.withResolvers<string>().promise
    case "exit":
      process.exit(3)
      break
    case "spin":
      for (;;);
  }
})
