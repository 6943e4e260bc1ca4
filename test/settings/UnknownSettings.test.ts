import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Logger } from "effect"
import * as Settings from "../../src/Settings.ts"
import * as UnknownSettings from "../../src/settings/UnknownSettings.ts"

const names = Settings.documented.map(({ name }) => name)

const warned = Effect.fnUntraced(function* (env: Record<string, string>) {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => void lines.push(String(message)))
  yield* UnknownSettings.warn(names).pipe(
    Effect.provide(Logger.layer([logger])),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
  )
  return lines
})

describe("A mistyped setting", () => {
  it.effect.each([
    ["MAX_EMAIL_PER_DAY", "MAX_EMAILS_PER_DAY"],
    ["RETENTION_DAY", "RETENTION_DAYS"],
    ["HTPP_PORT", "HTTP_PORT"],
    ["SMTP_MAX_CONECTIONS", "SMTP_MAX_CONNECTIONS"],
    ["WEBHOOK_TIME_LIMIT", "WEBHOOK_TIMEOUT"]
  ] as const)("%s gets a warning with the intended name and without its value", ([name, meant]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* warned({ [name]: "5" }), [
        `${name} is not a setting and is ignored. Did you mean ${meant}?`
      ])
    })
  )

  it.effect("is not reported for known settings or the variables of other programs", () =>
    Effect.gen(function* () {
      const others = [
        ...["PATH", "HOME", "HTTP_PROXY", "HTTPS_PROXY", "NODE_OPTIONS", "DATABASE_NAME", "S3_PROFILE", "HTTP_HOSTS_2"],
        ...["SMTP_SERVICE_HOST", "SMTP_PORT_25_TCP_ADDR", "LOG_FILE", "INLET_API_KEY"]
      ]
      assert.deepStrictEqual(yield* warned(Object.fromEntries([...names, ...others].map((name) => [name, "1"]))), [])
    })
  )
})
