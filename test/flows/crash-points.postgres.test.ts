import { assert, describe, it } from "@effect/vitest"
import { Array, Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../src/database/Database.ts"
import * as DatabaseProxy from "../DatabaseProxy.ts"
import { eventually } from "../Eventually.ts"
import * as InletProcess from "../InletProcess.ts"
import * as Mailbox from "../Mailbox.ts"
import * as RawLog from "../RawLog.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

const message = "Message-ID: <1@sender.example>\r\nSubject: at this point\r\n\r\nBytes that are kept.\r\n"

/** The state after a kill, and after the sender's retry with everything delivered. */
interface Seen {
  readonly rows: number
  readonly records: number
}

/** Kills a process at this point of a message, starts another, and retries the message. */
const killedAt = Effect.fnUntraced(function* (point: "swallow statement" | "swallow answer") {
  const installation = yield* InletProcess.installation
  const { DATABASE_URL = "", DATA_DIR } = installation
  const proxy = yield* DatabaseProxy.before(new URL(DATABASE_URL))
  yield* proxy.open
  const receiver = yield* WebhookReceiver.make
  const settings = {
    ...installation,
    DATABASE_URL: proxy.url,
    WEBHOOK_RETRY_DELAYS: Array.replicate("1s", 60).join(",")
  }
  const first = yield* InletProcess.start(settings)
  const inbox = yield* first.inbox(receiver.url)
  const world = yield* Layer.build(Database.layerPostgres(Redacted.make(DATABASE_URL)))
  const sql = Context.get(world, SqlClient.SqlClient)
  const seen: Effect.Effect<Seen> = Effect.all({
    rows: Effect.map(Effect.orDie(sql`SELECT 1 FROM inbound_emails`), ({ length }) => length),
    records: Effect.map(RawLog.records(`${DATA_DIR}/raw`), ({ length }) => length)
  })

  yield* proxy.turn(point)
  yield* Effect.forkChild(Mailbox.deliver(first.smtpPort, inbox.address, message), { startImmediately: true })
  yield* proxy.swallowed
  yield* first.signal("SIGKILL")
  yield* first.ending
  yield* proxy.turn("pass")
  const atDeath = yield* eventually(seen, ({ rows }) => rows === (point === "swallow answer" ? 1 : 0))

  const second = yield* InletProcess.start(settings)
  assert.match(yield* Mailbox.deliver(second.smtpPort, inbox.address, message), /^250 /)
  // Expires the 60 s lease.
  yield* sql`UPDATE inbound_emails SET leased_until = now() WHERE leased_until > now()`
  yield* sql`UPDATE deliveries SET leased_until = now() WHERE leased_until > now()`
  const path = `/api/domains/${inbox.domainId}/events`
  const { json } = yield* eventually(
    second.call("GET", `${path}?delivery=delivered`, { key: inbox.key }),
    (answer) => answer.json.events.length === 1
  )
  const [event] = json.events
  const raw = yield* second.call("GET", `${path}/${event.event_id}/raw`, { key: inbox.key })
  assert.isTrue(raw.text.endsWith(message))
  assert.lengthOf((yield* second.call("GET", path, { key: inbox.key })).json.events, 1)
  const delivered = new Set((yield* receiver.all).map(({ event }) => event.event_id))
  assert.deepStrictEqual([...delivered], [event.event_id])
  return { atDeath, atEnd: yield* seen }
})

describe("kill -9", () => {
  it.live("between the sync and the row leaves bytes without a row, and the retried mail is a new one", () =>
    Effect.gen(function* () {
      const { atDeath, atEnd } = yield* killedAt("swallow statement")
      assert.deepStrictEqual(atDeath, { rows: 0, records: 1 })
      assert.deepStrictEqual(atEnd, { rows: 1, records: 2 })
    })
  )

  it.live("between the row and the 250 makes one event of the first bytes when the sender retries", () =>
    Effect.gen(function* () {
      const { atDeath, atEnd } = yield* killedAt("swallow answer")
      assert.deepStrictEqual(atDeath, { rows: 1, records: 1 })
      // The second copy is removed with its segment.
      assert.deepStrictEqual(atEnd, { rows: 1, records: 2 })
    })
  )
})
