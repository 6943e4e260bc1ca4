import { Config, Effect, Option } from "effect"
import { configDefaults, defineConfig } from "vitest/config"

const isCi = Effect.runSync(Config.withDefault(Config.Boolean("CI"), false))
const hasServer = Option.isSome(Effect.runSync(Config.option(Config.Redacted("TEST_DATABASE_URL"))))

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: "test/GlobalSetup.ts",
    // What is done to a database server can't be done to the embedded one.
    exclude: [...configDefaults.exclude, ...(hasServer ? [] : ["test/**/*.postgres.test.ts"])],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores is what a small machine has, and much of a test is waiting.
    maxWorkers: 3,
    // Much here is about time, and a shared machine may stand still for seconds: the report names what passed at last.
    retry: isCi ? 2 : 0
  }
})
