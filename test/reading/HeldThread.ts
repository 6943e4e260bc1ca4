import { existsSync } from "node:fs"
import { setTimeout } from "node:timers/promises"
import { workerData } from "node:worker_threads"

// A parser thread. One for slow messages waits for the file that the query of its script names before it starts. Only
// that URL reaches it, so it looks again and again.
const gate = new URL(workerData.script).searchParams.get("gate") ?? ""
while (workerData.niceness > 0 && !existsSync(gate)) await setTimeout(10)
await import("../../src/reading/ParserThread.ts")
