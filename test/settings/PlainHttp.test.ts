import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Logger } from "effect"
import * as PlainHttp from "../../src/settings/PlainHttp.ts"

const warned = Effect.fnUntraced(function* (env: Record<string, string>) {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => void lines.push(String(message)))
  yield* PlainHttp.warn.pipe(
    Effect.provide(Logger.layer([logger])),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
  )
  return lines
})

describe("A public URL with http", () => {
  it.effect.each(["http://inlet.example.com", "HTTP://inlet.example.com:3000", "http://localhost.example.com"])(
    "%s gets a warning in production",
    (SERVICE_PUBLIC_URL) =>
      Effect.gen(function* () {
        const [line = "", ...others] = yield* warned({ NODE_ENV: "production", SERVICE_PUBLIC_URL })
        assert.match(line, /^SERVICE_PUBLIC_URL begins with http:, so API keys and cookies travel unencrypted, and /)
        assert.deepStrictEqual(others, [])
      })
  )

  it.effect.each(["https://inlet.example.com", "http://localhost:3000", "http://127.0.0.1:3000", "http://[::1]:3000"])(
    "gets no warning as %s, which is encrypted or stays on the machine",
    (SERVICE_PUBLIC_URL) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* warned({ NODE_ENV: "production", SERVICE_PUBLIC_URL }), [])
      })
  )

  it.effect("gets no warning in development", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* warned({ SERVICE_PUBLIC_URL: "http://inlet.example.com" }), [])
    })
  )
})
