import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { axios, crypto } from "acme-client"
import { Effect } from "effect"
import * as AcmeRequests from "../../../src/providers/authority/AcmeRequests.ts"
import * as AcmeCa from "../../simulators/AcmeCa.ts"

describe("Retry-After of a certificate authority", () => {
  it.each([
    ["in seconds", "120", undefined, 120],
    ["as a time, by the clock of the authority", "Thu, 01 Jan 2026 00:10:00 GMT", "Thu, 01 Jan 2026 00:00:00 GMT", 600],
    ["in the past", "Thu, 01 Jan 2026 00:00:00 GMT", "Thu, 01 Jan 2026 00:10:00 GMT", null],
    ["as a time without the authority's clock", "Thu, 01 Jan 2026 00:10:00 GMT", undefined, null],
    ["as anything else", "soon", "Thu, 01 Jan 2026 00:00:00 GMT", null],
    ["missing", undefined, undefined, null]
  ])("is read %s", (_, header, date, seconds) => {
    assert.strictEqual(AcmeRequests.secondsOf(header, date), seconds)
  })
})

describe("The words of a certificate authority", () => {
  it("are one line of at most 300 characters", () => {
    assert.strictEqual(AcmeRequests.detailOf({ detail: "Line one\r\n\u0000line\u2028two" }), "Line one line two")
    assert.strictEqual(AcmeRequests.detailOf({ detail: "x".repeat(1_000) }).length, 300)
    assert.strictEqual(AcmeRequests.detailOf("<html>"), "")
  })
})

describe("A private certificate authority", () => {
  it.live("is reached by HTTPS only with its root, as ACME_CA_FILE has it", () =>
    Effect.gen(function* () {
      const ca = yield* AcmeCa.make
      const [key, request] = yield* Effect.promise(() => crypto.createCsr({ altNames: ["localhost"] }))
      const hour = 3_600_000
      const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
      const { chain } = yield* ca.sign(request, 1, now - hour, now + hour)
      const server = yield* Effect.acquireRelease(
        Effect.callback<ReturnType<typeof createServer>>((resume) => {
          const made = createServer({ key, cert: chain }, (_, response) => response.end("{}"))
          made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
        }),
        (made) =>
          Effect.sync(() => {
            made.closeAllConnections()
            made.close()
          })
      )
      // The address of a TCP server has a port.
      const { port } = server.address() as AddressInfo
      const ask = Effect.tryPromise({
        try: () => axios.get(`https://localhost:${port}/directory`),
        catch: (cause) => (cause instanceof AcmeRequests.AcmeProblem ? cause.detail : "another failure")
      })
      assert.match(yield* Effect.flip(ask), /UNABLE_TO_VERIFY|SELF_SIGNED/)
      AcmeRequests.trust(ca.root)
      assert.strictEqual((yield* ask).status, 200)
      AcmeRequests.trust(undefined)
      assert.match(yield* Effect.flip(ask), /UNABLE_TO_VERIFY|SELF_SIGNED/)
    })
  )
})
