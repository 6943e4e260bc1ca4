import { PGlite } from "@electric-sql/pglite"
import type { Task } from "../src/database/PgliteThread.ts"
import { serve } from "../src/threads/Serving.ts"

// Stands in for src/database/PgliteThread.ts: an embedded database whose thread ends in the middle of a statement that says so.
const database = await PGlite.create()

serve<Task, Uint8Array>((task) =>
  task === "close" || Buffer.from(task).includes("the end") ? process.exit(1) : database.execProtocolRaw(task)
)
