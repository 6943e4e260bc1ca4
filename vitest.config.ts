import { tmpdir, totalmem } from "node:os"
import { join } from "node:path"
import { Config, Effect, Option } from "effect"
import { configDefaults, defineConfig } from "vitest/config"
import { FlowsFirst } from "./test/FlowsFirst.ts"
import { runReport } from "./test/RunReport.ts"
import { beyondServer } from "./test/ServerReach.ts"

const isCi = Effect.runSync(Config.withDefault(Config.Boolean("CI"), false))
const hasServer = Option.isSome(Effect.runSync(Config.option(Config.Redacted("TEST_DATABASE_URL"))))

// Turns V8's optimizing WebAssembly compiler off. It takes a fifth of the CPU time of a service that lives for seconds.
// V8 has crashed in processes that open and close many PGlite databases (nodejs/node#64500): it frees less code now.
const quickWasm = "--liftoff-only"

// Without the first, V8 collects all garbage after every 64 MB of buffers. Each embedded database has more, and half of
// the CPU time of starting a service was such collections. Without the second, a worker takes 2 GB.
const fewCollections = ["--external-memory-accounted-in-global-limit", "--heap-growing-percent=100"]

// Six workers keep two cores busy, because tests mostly wait. A worker needs up to 2 GB for the modules and databases of
// its files, mostly less.
const bytesOfWorker = 1.5 * 1024 ** 3
const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: "test/GlobalSetup.ts",
    setupFiles: "test/AwayFromMidnight.ts",
    exclude: [
      ...configDefaults.exclude,
      // What is done to a database server can't be done to the embedded one, nor the other way round.
      hasServer ? "test/**/*.embedded.test.ts" : "test/**/*.postgres.test.ts",
      // CI has run these on the embedded one, to no other effect.
      ...(hasServer && isCi ? beyondServer(new URL("./", import.meta.url)) : [])
    ],
    // Only what hangs meets it: a busy machine takes many times longer than a quiet one.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: Math.max(3, Math.min(6, Math.floor(memory / bytesOfWorker))),
    // Importing the service takes longer than most of its tests: a worker does it once, not for each file.
    isolate: false,
    // The programs that tests start, some hundred, keep what they have compiled for each other.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache"), TEST_V8_FLAGS: quickWasm, TEST_BUNDLE: "true" },
    execArgv: [quickWasm, ...fewCollections],
    sequence: { sequencer: FlowsFirst },
    // Errors that a service logs in a passed test are expected there.
    silent: "passed-only",
    reporters: ["default", runReport({ slowest: isCi ? 10 : 0 }), ...(isCi ? ["json"] : [])],
    // Node runs the sources itself, as it does those of the service. That is a fifth of the CPU time of a test file.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // A test that needs a second attempt has a bug, or has found one.
    retry: 0
  }
})
