import { workerData } from "node:worker_threads"
import type { Task } from "../src/database/PgliteThread.ts"
import { WirePglite } from "../src/database/WirePglite.ts"
import { serve } from "../src/threads/Serving.ts"

// Stands in for src/database/PgliteThread.ts: an embedded database whose thread ends in the middle of a statement that says so.
const folder: string = workerData
const database = await WirePglite.open({ dataDir: folder })

serve<Task, Uint8Array>((task) =>
  task === "close" || Buffer.from(task).includes("the end") ? process.exit(1) : database.exchange(task)
)
