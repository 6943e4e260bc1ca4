import { workerData } from "node:worker_threads"
import { PGlite } from "@electric-sql/pglite"
import { serve } from "../threads/Serving.ts"

/** To pass on a piece of the wire protocol, or to close the database: nothing comes after that. */
export type Task = Uint8Array | "close"

// EmbeddedDatabase passes it. One that can't be opened ends the thread with its error.
const folder: string = workerData
const database = await PGlite.create(folder)

serve<Task, Uint8Array>((task) =>
  task === "close" ? database.close().then(() => new Uint8Array()) : database.execProtocolRaw(task)
)
