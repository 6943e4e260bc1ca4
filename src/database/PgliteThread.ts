import { workerData } from "node:worker_threads"
import { serve } from "../threads/Serving.ts"
import { WirePglite } from "./WirePglite.ts"

/** To pass on a piece of the wire protocol, or to close the database: nothing comes after that. */
export type Task = Uint8Array | "close"

// EmbeddedDatabase passes it. One that can't be opened ends the thread with its error.
const folder: string = workerData
const database = await WirePglite.open({ dataDir: folder })

serve<Task, Uint8Array<ArrayBuffer>>(
  (task) => (task === "close" ? database.close().then(() => new Uint8Array()) : database.exchange(task)),
  ({ buffer }) => [buffer]
)
