import { parentPort } from "node:worker_threads"
import { PGlite } from "@electric-sql/pglite"

// Stands in for src/database/PgliteThread.ts: an embedded database whose thread ends in the middle of a statement that says so.
const database = await PGlite.create()
parentPort?.on("message", (asked: Uint8Array | "close") => {
  if (asked === "close" || Buffer.from(asked).includes("the end")) process.exit(1)
  database.execProtocolRaw(asked).then((answer) => parentPort?.postMessage({ answer }))
})
parentPort?.postMessage("open")
