import { assert, describe, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Queue } from "effect"
import { SqlClient } from "effect/sql"
import * as FakeClock from "../../src/testing/FakeClock.ts"
import * as Public from "../../src/testing/TestInlet.ts"
import * as Mail from "../Mail.ts"
import { age } from "../MailAge.ts"
import * as Mailbox from "../Mailbox.ts"
import * as OpenWaits from "../OpenWaits.ts"
import { database, TestInlet } from "../TestInlet.ts"
import * as McpClient from "./McpClient.ts"

const clients = {
  "protocol 2025-11-25": McpClient.one,
  "protocol 2026-07-28": (url: string, key: string) => McpClient.two(url, key, { pin: "2026-07-28" })
}

/** Receives a mail with this code, and waits for its event. */
const receive = Effect.fnUntraced(function* (
  inbox: Mailbox.Inbox,
  code: string,
  mail: Partial<Parameters<typeof Mail.send>[1]> & { readonly to: string }
) {
  const inlet = yield* TestInlet
  yield* Mail.send(inlet.smtpPort, { text: `Your verification code is ${code}.`, ...mail })
  const events = yield* Mailbox.events(inbox)
  return events.at(-1).event_id as string
})

/** Two processes on one database have the same. */
const shared = { SECRETS_KEY: Buffer.alloc(32, 5).toString("base64") }

layer(TestInlet.layer(shared), { excludeTestServices: true })("wait_for_code", (it) => {
  describe.each(Object.entries(clients))("by %s", (_, connect) => {
    it.effect("ignores a code that came 91 s before the call", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        const client = yield* connect(inlet.url, inbox.key)
        const stale = yield* receive(inbox, "111111", { to: inbox.address })
        yield* age(stale, 91)
        const { json } = yield* client.call("wait_for_code", { to: inbox.address, seconds: 0 })
        assert.deepStrictEqual([json.timed_out, json.code], [true, undefined])
      })
    )

    it.effect("gives a code that came 40 s before the call, with its age", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        const client = yield* connect(inlet.url, inbox.key)
        yield* age(yield* receive(inbox, "739204", { to: inbox.address }), 40)
        const { json } = yield* client.call("wait_for_code", { to: inbox.address, seconds: 0 })
        assert.strictEqual(json.code, "739204")
        assert.isAtLeast(json.age_seconds, 40)
        assert.isBelow(json.age_seconds, 60)
      })
    )

    it.effect("gives what came after the mark, whatever its age", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        const client = yield* connect(inlet.url, inbox.key)
        const first = yield* receive(inbox, "111111", { to: inbox.address })
        const { json: none } = yield* client.call("wait_for_code", { after: first, seconds: 0 })
        assert.isTrue(none.timed_out)
        yield* age(yield* receive(inbox, "222222", { to: inbox.address }), 300)
        for (const _ of [1, 2]) {
          const { json } = yield* client.call("wait_for_code", { after: first, seconds: 0 })
          assert.strictEqual(json.code, "222222")
          assert.isAtLeast(json.age_seconds, 300)
        }
        const { json: mark } = yield* client.call("wait_for_mail", { seconds: 0 })
        const { json: later } = yield* client.call("wait_for_code", { after: mark.cursor, seconds: 0 })
        assert.isTrue(later.timed_out)
        const { isError, text } = yield* client.call("wait_for_code", { after: "yesterday" })
        assert.isTrue(isError)
        assert.match(text, /^after: Expected a cursor_now/)
      })
    )
  })

  describe("in a session", () => {
    it.effect("gives a loop its second code, not the first one again", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        const client = yield* McpClient.one(inlet.url, inbox.key)
        yield* receive(inbox, "111111", { to: inbox.address })
        assert.strictEqual((yield* client.call("wait_for_code", { seconds: 0 })).json.code, "111111")
        const second = yield* Effect.forkChild(client.call("wait_for_code", { seconds: 55 }))
        yield* OpenWaits.are(1)
        yield* receive(inbox, "222222", { to: inbox.address })
        assert.strictEqual((yield* Fiber.join(second)).json.code, "222222")
        assert.isTrue((yield* client.call("wait_for_code", { seconds: 0 })).json.timed_out)
      })
    )

    it.effect("gives no code that a later one of its sender has replaced", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        const client = yield* McpClient.one(inlet.url, inbox.key)
        yield* receive(inbox, "111111", { to: inbox.address, from: "hi@other.example" })
        yield* receive(inbox, "222222", { to: inbox.address, from: "hi@acme.example" })
        yield* receive(inbox, "333333", { to: inbox.address, from: "Hi@acme.example" })
        const codes = yield* Effect.replicateEffect(client.call("wait_for_code", { seconds: 0 }), 3)
        assert.deepStrictEqual(
          codes.map(({ json }) => json.code),
          ["333333", "111111", undefined]
        )
      })
    )

    it.effect("gives a code to one of two concurrent calls", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        const client = yield* McpClient.one(inlet.url, inbox.key)
        const given = yield* Queue.unbounded<string | undefined>()
        const call = Effect.flatMap(client.call("wait_for_code", { seconds: 55 }), ({ json }) =>
          Queue.offer(given, json.code)
        )
        const calls = yield* Effect.forkChild(Effect.replicateEffect(call, 2, { concurrency: 2 }))
        yield* OpenWaits.are(2)
        yield* receive(inbox, "111111", { to: inbox.address })
        assert.strictEqual(yield* Queue.take(given), "111111")
        yield* Effect.sleep("1 second")
        yield* OpenWaits.are(1)
        assert.strictEqual(yield* Queue.size(given), 0)
        yield* Fiber.interrupt(calls)
      })
    )

    it.effect("gives a code to each of two sessions", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        yield* receive(inbox, "111111", { to: inbox.address })
        for (const _ of [1, 2]) {
          const client = yield* McpClient.one(inlet.url, inbox.key)
          assert.strictEqual((yield* client.call("wait_for_code", { seconds: 0 })).json.code, "111111")
        }
      })
    )

    it.effect("gives no code again in another process", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        const sql = yield* Effect.context<SqlClient.SqlClient>()
        const database = Layer.succeedContext(sql)
        const other = yield* Layer.build(
          Layer.fresh(Public.TestInlet.layer({ settings: { ...shared, ROLES: "http" }, database }))
        ).pipe(Effect.flatMap((context) => Effect.provide(Public.TestInlet, context)))
        yield* receive(inbox, "111111", { to: inbox.address })
        const client = yield* McpClient.one(inlet.url, inbox.key)
        const answers = yield* Effect.forEach([inlet, other], ({ call }) =>
          call("POST", "/mcp", {
            key: inbox.key,
            headers: {
              accept: "application/json, text/event-stream",
              "mcp-session-id": client.session ?? "",
              "mcp-protocol-version": "2025-11-25"
            },
            body: {
              jsonrpc: "2.0",
              id: 1,
              method: "tools/call",
              params: { name: "wait_for_code", arguments: { seconds: 0 } }
            }
          })
        )
        assert.include(answers[0]?.text, "111111")
        assert.include(answers[1]?.text, "timed_out")
      }).pipe(Effect.scoped)
    )

    it.effect("answers with an error beyond 10,000 codes within 5 minutes, instead of one again", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const sql = yield* SqlClient.SqlClient
        const inbox = yield* inlet.inbox()
        const client = yield* McpClient.one(inlet.url, inbox.key)
        yield* receive(inbox, "111111", { to: inbox.address })
        const fill = (age: number) => sql`
          INSERT INTO given_codes (workspace_id, session, domain_id, pair, position, given_at)
          SELECT workspace_id, sha256('one'), id, sha256(${`${age}`}::bytea || number::text::bytea), 1,
            now() - make_interval(mins => ${age})
          FROM domains CROSS JOIN generate_series(1, 10000) AS number WHERE id = ${inbox.domainId}
        `
        yield* fill(4)
        const full = yield* client.call("wait_for_code", { seconds: 0 })
        assert.isTrue(full.isError)
        assert.match(full.text, /10000 codes within 5 minutes/)
        yield* sql`UPDATE given_codes SET given_at = now() - interval '6 minutes'`
        assert.strictEqual((yield* client.call("wait_for_code", { seconds: 0 })).json.code, "111111")
        const left = yield* sql`
          SELECT 1 FROM given_codes WHERE workspace_id = (SELECT workspace_id FROM domains WHERE id = ${inbox.domainId})
        `
        assert.lengthOf(left, 1)
      })
    )
  })

  it.effect("without a session gives a code of the last 60 s again", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const client = yield* McpClient.two(inlet.url, inbox.key, { pin: "2026-07-28" })
      yield* receive(inbox, "111111", { to: inbox.address })
      const codes = yield* Effect.replicateEffect(client.call("wait_for_code", { seconds: 0 }), 2)
      for (const { json } of codes) assert.strictEqual(json.code, "111111")
    })
  )
})

const clock = FakeClock.make()

const World = Layer.effect(TestInlet, Public.TestInlet).pipe(
  Layer.provideMerge(Public.TestInlet.layer({ settings: shared, database, clock: clock.layer }))
)

layer(World, { excludeTestServices: true })("wait_for_code of a service whose clock is set", (it) => {
  it.effect("waits on for a second code after another call was given the first", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const client = yield* McpClient.one(inlet.url, inbox.key)
      // So many that some of them find the first code at the same time.
      const given = yield* Queue.unbounded<string | undefined>()
      const call = Effect.flatMap(client.call("wait_for_code", { seconds: 55 }), ({ json }) =>
        Queue.offer(given, json.code)
      )
      const calls = yield* Effect.forkChild(Effect.replicateEffect(call, 10, { concurrency: "unbounded" }))
      yield* OpenWaits.are(10)
      yield* clock.move("5 minutes")
      yield* receive(inbox, "111111", { to: inbox.address, from: "hi@one.example" })
      assert.strictEqual(yield* Queue.take(given), "111111")
      yield* Effect.sleep("1 second")
      yield* OpenWaits.are(9)
      yield* receive(inbox, "222222", { to: inbox.address, from: "hi@two.example" })
      assert.strictEqual(yield* Queue.take(given), "222222")
      yield* OpenWaits.are(8)
      assert.strictEqual(yield* Queue.size(given), 0)
      yield* Fiber.interrupt(calls)
    })
  )
})
