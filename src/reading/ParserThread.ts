import { getPriority, platform, setPriority } from "node:os"
import { parentPort, workerData } from "node:worker_threads"
import * as Result from "effect/Result"
import type { ThreadSettings } from "./ReadTask.ts"

/** The highest niceness (setpriority(2)). */
const lowestPriority = 19

// The script of a parser thread. It sets its priority before it loads the parser, which takes half a second on a busy
// machine.
if (parentPort !== null) {
  // Only ParserWorker starts this script, and passes the settings.
  const settings = workerData as ThreadSettings
  // Linux has a priority for each thread; elsewhere it would be that of the whole process. Where a sandbox forbids the
  // call, the thread works without.
  if (settings.niceness > 0 && platform() === "linux") {
    Result.try(() => setPriority(Math.min(getPriority() + settings.niceness, lowestPriority)))
  }
  const { serve } = await import("./ThreadReader.ts")
  serve(parentPort, settings)
}
