import { parentPort } from "node:worker_threads"

// Replaces src/database/PgliteThread.ts: a marker statement moves the system clock forward by 2 h.
const now = Date.now
let leap = 0
Date.now = () => now() + leap
parentPort?.on("message", ({ task }) => {
  if (Buffer.from(task).includes("leap")) leap = 2 * 3_600_000
})
await import("../src/database/PgliteThread.ts")
