import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Mailbox from "../Mailbox.ts"
import * as Ports from "../Ports.ts"
import * as Program from "../Program.ts"
import { TestInlet } from "../TestInlet.ts"

/** Runs `inlet raw …` beside the service with a workspace key. Its standard output goes into a file. */
const raw = Effect.fnUntraced(function* (eventId: string, key: string | undefined, ...args: ReadonlyArray<string>) {
  const { folder, url } = yield* TestInlet
  const file = `${folder}/${randomUUID()}.eml`
  const run = yield* Program.run(
    "sh",
    ["-c", `exec "$0" "$@" > "${file}"`, process.execPath, yield* Program.script, "raw", eventId, ...args],
    { env: { HTTP_PORT: new URL(url).port, INLET_API_KEY: key } }
  )
  return { ...run, printed: readFileSync(file) }
})

layer(Layer.mergeAll(TestInlet.layer(), NodeServices.layer), { excludeTestServices: true })("inlet raw", (it) => {
  it.effect("prints the raw message of an event of any domain of the workspace, byte for byte", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* inlet.inbox()
      const message = Buffer.concat([Buffer.from("Subject: raw\r\n\r\n"), Buffer.from([0, 0xff, 0x80, 0x0d, 0x0a])])
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message)
      yield* inlet.call("POST", "/api/domains", { key: inbox.key, body: { domain: "newer.example" } })
      const [event] = yield* Mailbox.events(inbox)
      const { code, printed, stderr } = yield* raw(event.event_id, inbox.key)
      assert.strictEqual(stderr, "")
      assert.strictEqual(code, 0)
      assert.match(printed.toString("latin1"), /^Authentication-Results: .*\r\n(?:[ \t].*\r\n)*Return-Path: /)
      assert.isTrue(printed.subarray(-message.byteLength).equals(message))

      // Its segment is gone.
      yield* sql`UPDATE inbound_emails SET segment = gen_random_uuid() WHERE domain_id = ${inbox.domainId}`
      const gone = yield* raw(event.event_id, undefined, "--key", inbox.key)
      assert.strictEqual(gone.stderr, "The raw message is no longer stored\n")
      assert.strictEqual(gone.code, 1)
    })
  )

  it.effect("reports an id of another workspace or a malformed id in one line", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, "Subject: another's\r\n\r\n")
      const [event] = yield* Mailbox.events(inbox)
      const { key } = yield* inlet.inbox()
      const foreign = yield* raw(event.event_id, key)
      assert.strictEqual(foreign.stderr, "No event with this id in this workspace. `inlet events list` lists them\n")
      assert.strictEqual(foreign.code, 1)
      assert.strictEqual(foreign.printed.byteLength, 0)
      const none = yield* raw("bogus", key)
      assert.include(none.stderr, "event_id")
      assert.strictEqual(none.code, 1)
    })
  )

  it.effect("reports a wrong or missing key and an unreachable service in one line", () =>
    Effect.gen(function* () {
      const eventId = "0198c5d2-7a3e-7000-8000-000000000001"
      const wrong = yield* raw(eventId, "wrong")
      assert.strictEqual(wrong.code, 1)
      assert.match(wrong.stderr, /^[^\n]*API key[^\n]*\n$/i)
      const nowhere = `http://127.0.0.1:${yield* Ports.free}`
      const away = yield* raw(eventId, "some", "--url", nowhere)
      assert.match(away.stderr, /^http:\/\/127\.0\.0\.1:\d+ gave no valid answer \(connect ECONNREFUSED [^\n]+\n$/)
      assert.strictEqual(away.code, 1)
      const without = yield* raw(eventId, undefined)
      assert.include(without.stderr, "--key")
      assert.strictEqual(without.code, 1)
    })
  )
})
