import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import * as Settings from "../../src/Settings.ts"

const publicUrl = (url: string) =>
  Effect.map(Settings.http, (http) => http.publicUrl).pipe(
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: { SERVICE_PUBLIC_URL: url } }))
  )

describe("The public URL", () => {
  it.effect("has no slash at its end, because paths are added to it", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* publicUrl("https://inlet.example.com/"), "https://inlet.example.com")
      assert.strictEqual(yield* publicUrl("https://example.com/inlet//"), "https://example.com/inlet")
      assert.strictEqual(yield* publicUrl("https://example.com/inlet"), "https://example.com/inlet")
    })
  )
})
