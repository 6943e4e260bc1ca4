import { setTimeout } from "node:timers/promises"
import type { MessagePort } from "node:worker_threads"
import { serve } from "../../src/threads/Serving.ts"

/** What the thread of the tests can be asked. */
export type Task =
  /** To answer with what it is given, after a while. */
  | { readonly kind: "echo"; readonly text: string; readonly millis: number }
  /** To keep a port, which closes when the thread ends. */
  | { readonly kind: "keep"; readonly port: MessagePort }
  /** To fail at this task alone. */
  | { readonly kind: "fail" }
  /** To break, with an error that nothing catches. */
  | { readonly kind: "break" }
  | { readonly kind: "exit" }
  /** Never to come back. */
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
