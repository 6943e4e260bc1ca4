import { parentPort } from "node:worker_threads"

// Stands in for src/database/PgliteThread.ts: the time of day is set two hours forward at a statement that says so.
const now = Date.now
let leap = 0
Date.now = () => now() + leap
parentPort?.on("message", ({ task }) => {
  if (Buffer.from(task).includes("leap")) leap = 2 * 3_600_000
})
await import("../src/database/PgliteThread.ts")
