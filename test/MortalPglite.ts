import { workerData } from "node:worker_threads"
import type { Task } from "../src/database/PgliteThread.ts"
import { WirePglite } from "../src/database/WirePglite.ts"
import { serve } from "../src/threads/Serving.ts"

// Replaces src/database/PgliteThread.ts: one marker statement ends the thread, and another is never answered.
const folder: string = workerData
const database = await WirePglite.openIn(folder)

serve<Task, Uint8Array>((task) => {
  if (task === "close" || Buffer.from(task).includes("the end")) process.exit(1)
  return Buffer.from(task).includes("no answer") ? Promise.withResolvers<never>().promise : database.exchange(task)
})
