import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import * as Settings from "../../src/Settings.ts"

const asked = {
  ACME_DIRECTORY: "https://acme.example/directory",
  ACME_TERMS_AGREED: "true",
  PLATFORM_DOMAIN: "example.com"
}

const read = (env: Readonly<Record<string, string>>) =>
  Settings.all.pipe(
    Effect.andThen(Settings.certificates),
    Effect.mapError(Settings.explain),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
  )

describe("ACME_DIRECTORY", () => {
  it.effect("is off by default, and the other settings alone change nothing", () =>
    Effect.gen(function* () {
      assert.isUndefined(yield* read({}))
      assert.isUndefined(yield* read({ ACME_TERMS_AGREED: "true", ACME_CHALLENGE: "dns" }))
    })
  )

  it.effect("orders a certificate for MX_HOST by an HTTP challenge", () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* read(asked), { mxHost: "mx.example.com", challenge: "http" })
    })
  )

  it.effect("accepts a private name of a private authority", () =>
    Effect.gen(function* () {
      const settings = yield* read({ ...asked, MX_HOST: "mx.corp.internal", ACME_CA_FILE: "/etc/inlet/root.pem" })
      assert.deepInclude(settings, { mxHost: "mx.corp.internal", caFile: "/etc/inlet/root.pem" })
    })
  )

  it.effect.each([
    [
      "without the agreement to terms",
      { ACME_TERMS_AGREED: "false" },
      /^ACME_TERMS_AGREED: Missing beside ACME_DIRECTORY/
    ],
    [
      "beside a certificate in files",
      { SMTP_TLS_CERT: "/a", SMTP_TLS_KEY: "/b" },
      /^ACME_DIRECTORY: SMTP_TLS_CERT and/
    ],
    ["over plain http", { ACME_DIRECTORY: "http://acme.example/directory" }, /^ACME_DIRECTORY: Expected an https URL/],
    ["for a reserved name", { PLATFORM_DOMAIN: "inlet.test" }, /^MX_HOST: mx\.inlet\.test is not a public name/],
    ["for a name without a domain", { MX_HOST: "mail" }, /^MX_HOST: mail is not a public name/],
    ["with another challenge", { ACME_CHALLENGE: "tls" }, /^ACME_CHALLENGE: Expected http or dns/],
    ["with a malformed address", { ACME_EMAIL: "nobody" }, /^ACME_EMAIL: Expected an email address/]
  ] as const)("stops the start %s, with the setting's name", ([, env, expected]) =>
    Effect.gen(function* () {
      assert.match(yield* Effect.flip(read({ ...asked, ...env })), expected)
    })
  )
})
