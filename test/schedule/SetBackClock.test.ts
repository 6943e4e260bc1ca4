import { assert, describe, it, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Elapsed from "../../src/schedule/Elapsed.ts"
import * as FakeClock from "../../src/testing/FakeClock.ts"
import * as Public from "../../src/testing/TestInlet.ts"
import { eventually } from "../Eventually.ts"
import * as Mailbox from "../Mailbox.ts"
import { database, TestInlet } from "../TestInlet.ts"

const clock = FakeClock.make()

const World = Layer.effect(TestInlet, Public.TestInlet).pipe(
  Layer.provideMerge(
    Public.TestInlet.layer({
      settings: { HTTP_REQUESTS_PER_SECOND: "0", SENDER_CHECKS: "false", ADMIN_TOKEN: "operator" },
      database,
      clock: clock.layer
    })
  )
)

const mail = "From: ada@sender.example\r\nSubject: hi\r\n\r\nHi\r\n"

layer(World, { excludeTestServices: true })("A service whose clock is set back by an hour", (it) => {
  it.effect("sees new rules within a second, and finds the work of its workers", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const { address, domainId, key } = yield* inlet.inbox()
      // Enough for the domain to be busy, so that its rules are cached for a second.
      for (let count = 0; count < 12; count++) {
        assert.match(yield* Mailbox.deliver(inlet.smtpPort, address, mail), /^250 /)
      }
      const { uptime_seconds: before } = (yield* inlet.call("GET", "/admin/status", { key: "operator" })).json
      yield* clock.move("-1 hour")

      const { uptime_seconds: after } = (yield* inlet.call("GET", "/admin/status", { key: "operator" })).json
      assert.isAtLeast(after, before)
      yield* inlet.call("POST", `/api/domains/${domainId}/sender-rules`, {
        key,
        body: { list: "block", match: "envelope", value: "sender@sender.example", action: "reject" }
      })
      yield* eventually(inlet.send({ to: address }), (reply) => reply.startsWith("550 5.7.1"))

      assert.strictEqual((yield* inlet.call("DELETE", `/api/domains/${domainId}`, { key })).status, 204)
      yield* eventually(sql`SELECT 1 FROM inbound_emails WHERE domain_id = ${domainId}`, ({ length }) => length === 0)
    })
  )
})

describe("A cached result", () => {
  it.effect("expires when the clock is set back, and is made with the time of day", () =>
    Effect.gen(function* () {
      const moved = FakeClock.make()
      const times: Array<number> = []
      const note = Effect.map(Clock.currentTimeMillis, (now) => times.push(now))
      const cached = Effect.provide(yield* Elapsed.cached("5 seconds")(note), moved.layer)
      yield* cached
      yield* moved.move("-1 hour")
      yield* TestClock.adjust("4 seconds")
      assert.strictEqual(yield* cached, 1)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* cached, 2)
      assert.deepStrictEqual(times, [0, 5_000 - 3_600_000])
    })
  )
})
