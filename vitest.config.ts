import { Config, Effect, Option } from "effect"
import { configDefaults, defineConfig } from "vitest/config"

const hasServer = Option.isSome(Effect.runSync(Config.option(Config.Redacted("TEST_DATABASE_URL"))))

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // What is done to a database server can't be done to the embedded one.
    exclude: [...configDefaults.exclude, ...(hasServer ? [] : ["test/**/*.postgres.test.ts"])],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores is what a small machine has, and much of a test is waiting.
    maxWorkers: 3
  }
})
