import { existsSync } from "node:fs"
import { setTimeout } from "node:timers/promises"
import { workerData } from "node:worker_threads"

// A parser thread. A thread for slow messages starts once a file exists, which the query of the script's URL names. The
// test can pass nothing else to the thread, so the thread polls.
const gate = new URL(workerData.script).searchParams.get("gate") ?? ""
while (workerData.niceness > 0 && !existsSync(gate)) await setTimeout(10)
await import("../../src/reading/ParserThread.ts")
