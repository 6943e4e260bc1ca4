import { createRequire } from "node:module"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as SmtpLibrary from "../../src/smtp/SmtpLibrary.ts"

const require = createRequire(import.meta.url)

describe("smtp-server, whose internals are replaced in part,", () => {
  it("is pinned to the version that was looked at, and that one is installed", () => {
    assert.strictEqual(require("../../package.json").dependencies["smtp-server"], SmtpLibrary.version)
    assert.strictEqual(require("smtp-server/package.json").version, SmtpLibrary.version)
  })

  it.effect("has the internals that were looked at", () => SmtpLibrary.check(SmtpLibrary.internals()))

  it.effect("keeps the service from starting with others, in a line that says what to do", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(SmtpLibrary.check(`${SmtpLibrary.internals()} `))
      assert.strictEqual(
        error.message,
        "smtp-server: The installed package is not the published version 3.21.6. Reinstall it with npm ci"
      )
    })
  )
})
