import { workerData } from "node:worker_threads"
import { serve } from "../threads/Serving.ts"
import * as SteadyClock from "./SteadyClock.ts"
import { WirePglite } from "./WirePglite.ts"

/** Forwards a chunk of the wire protocol, or closes the database. */
export type Task = Uint8Array | "close"

// PostgreSQL uses this thread's clock for leases and due times.
Date.now = SteadyClock.make(Date.now, () => performance.now())

// EmbeddedDatabase passes the folder. A database that cannot be opened ends the thread with its error.
const folder: string = workerData
const database = await WirePglite.openIn(folder)

/** A failed database ends the thread. Statements without an answer then have an unknown outcome. */
const end = (error: unknown): Promise<Uint8Array<ArrayBuffer>> => {
  if (!database.isLost) return Promise.reject(error)
  setImmediate(() => {
    throw error
  })
  return Promise.withResolvers<never>().promise
}

serve<Task, Uint8Array<ArrayBuffer>>(
  (task) => (task === "close" ? database.close().then(() => new Uint8Array()) : database.exchange(task).catch(end)),
  ({ buffer }) => [buffer]
)
