import { platform, setPriority } from "node:os"
import { parentPort, workerData } from "node:worker_threads"
import type { ThreadSettings } from "./ReadTask.ts"

// The script of a parser thread. It sets its priority before it loads the parser, which takes half a second on a busy
// machine.
if (parentPort !== null) {
  // Only ParserWorker starts this script, and passes the settings.
  const settings = workerData as ThreadSettings
  // Linux has a priority for each thread; elsewhere it would be that of the whole process.
  if (settings.niceness > 0 && platform() === "linux") setPriority(settings.niceness)
  const { serve } = await import("./ThreadReader.ts")
  serve(parentPort, settings)
}
