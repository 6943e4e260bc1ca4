import { createRequire } from "node:module"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as SmtpLibrary from "../../src/smtp/SmtpLibrary.ts"

const require = createRequire(import.meta.url)

describe("smtp-server, with partly replaced internals,", () => {
  it("is pinned to the reviewed version, which is installed", () => {
    assert.strictEqual(require("../../package.json").dependencies["smtp-server"], SmtpLibrary.version)
    assert.strictEqual(require("smtp-server/package.json").version, SmtpLibrary.version)
  })

  it.effect("has the reviewed internals", () => SmtpLibrary.check(SmtpLibrary.internals()))

  it.effect("prevents the start in another version, with one line and the next step", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(SmtpLibrary.check(`${SmtpLibrary.internals()} `))
      assert.strictEqual(
        error.message,
        "smtp-server: The installed package is not the published version 3.21.6. Reinstall it with npm ci"
      )
    })
  )
})
