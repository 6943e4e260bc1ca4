import { assert, it } from "@effect/vitest"
import { ConfigProvider, Effect, Redacted } from "effect"
import * as Settings from "../../src/Settings.ts"

it.effect("DATABASE_PASSWORD is the password as it is, with % and @ too", () =>
  Effect.gen(function* () {
    const env = { DATABASE_URL: "postgres://inlet@127.0.0.1/inlet", DATABASE_PASSWORD: "s3cr%et/@:%41" }
    const { url } = yield* Settings.database.pipe(
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
    )
    const { password } = new URL(Redacted.value(url ?? assert.fail()))
    assert.strictEqual(decodeURIComponent(password), "s3cr%et/@:%41")
  })
)
