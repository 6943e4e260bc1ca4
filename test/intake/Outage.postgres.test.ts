import { assert, layer } from "@effect/vitest"
import {
  Array,
  Config,
  ConfigProvider,
  Context,
  Deferred,
  Duration,
  Effect,
  Fiber,
  Layer,
  Logger,
  Redacted
} from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../src/database/Database.ts"
import { EventFeed } from "../../src/delivery/EventFeed.ts"
import { Handover } from "../../src/delivery/Handover.ts"
import * as Inlet from "../../src/Inlet.ts"
import * as Platform from "../../src/process/Platform.ts"
import { MailScanner } from "../../src/providers/scanner/MailScanner.ts"
import { RawStore } from "../../src/providers/storage/RawStore.ts"
import * as RefusalNotes from "../../src/refusals/RefusalNotes.ts"
import * as DatabaseProxy from "../DatabaseProxy.ts"
import { eventually } from "../Eventually.ts"
import * as Mailbox from "../Mailbox.ts"
import * as Ports from "../Ports.ts"
import { TestPostgres } from "../TestPostgres.ts"

/** The embedded database has no network connection to cut, so this file needs a server. */
const server = Config.Redacted("TEST_DATABASE_URL")

/** A mail server whose database is behind a proxy, and a domain. */
class Outage extends Context.Service<
  Outage,
  {
    readonly port: number
    readonly address: string
    readonly turn: Effect.Success<ReturnType<typeof DatabaseProxy.before>>["turn"]
    readonly commitLost: Effect.Effect<void>
    readonly swallowed: Effect.Effect<void>
    /** Runs statements on a direct connection. */
    readonly sql: SqlClient.SqlClient
  }
>()("inlet/test/intake/Outage") {
  static readonly layer = Layer.effect(
    Outage,
    Effect.gen(function* () {
      const own = yield* Effect.map(Layer.build(TestPostgres.layerOn(yield* server)), Context.get(TestPostgres))
      const proxy = yield* DatabaseProxy.before(new URL(Redacted.value(own.url)))
      yield* proxy.open
      const port = yield* Ports.free
      yield* Layer.build(
        Inlet.smtp.pipe(
          Layer.provide([
            EventFeed.layer,
            Handover.layerNone,
            MailScanner.layerNone,
            RawStore.layerMemory,
            Logger.layer([])
          ]),
          Layer.provide(Layer.succeed(RefusalNotes.Bounds, { limits: {}, idleMillis: 50, afterFailureMillis: 50 })),
          Layer.provide(Database.migrations),
          Layer.provide(Database.layerPostgres(Redacted.make(proxy.url))),
          Layer.provide(Platform.layer),
          Layer.provide(
            ConfigProvider.layerAdd(ConfigProvider.fromEnv({ env: { SMTP_PORT: `${port}` } }), { asPrimary: true })
          )
        )
      )
      const direct = yield* Layer.build(Database.layerPostgres(own.url))
      const { address } = yield* Mailbox.attach("outage.example").pipe(Effect.provideContext(direct))
      return {
        port,
        address,
        turn: proxy.turn,
        commitLost: proxy.commitLost,
        swallowed: proxy.swallowed,
        sql: Context.get(direct, SqlClient.SqlClient)
      }
    })
  )
}

const message = (id: string) => `Message-ID: <${id}@sender.example>\r\nSubject: ${id}\r\n\r\n`

/** The number of stored copies of a message, each with an event. */
const kept = Effect.fnUntraced(function* (id: string) {
  const { sql } = yield* Outage
  const rows = yield* sql`SELECT 1 FROM inbound_emails WHERE sha256 = sha256(${Buffer.from(message(id))}::bytea)`
  return rows.length
})

/** Waits until the process that accepted a message has parsed it. */
const read = Effect.fnUntraced(function* (id: string, events: number) {
  const { sql } = yield* Outage
  yield* eventually(
    sql`
      SELECT 1 FROM events JOIN inbound_emails ON inbound_emails.id = events.inbound_email_id
      WHERE sha256 = sha256(${Buffer.from(message(id))}::bytea)
    `,
    (rows) => rows.length === events
  )
})

/** Retries a message, as a sender does after 451. */
const retries = Effect.fnUntraced(function* (id: string) {
  const { address, port } = yield* Outage
  assert.match(yield* Mailbox.deliver(port, address, message(id)), /^250 /)
  assert.match(yield* Mailbox.deliver(port, address, message(id)), /^250 /)
  assert.strictEqual(yield* kept(id), 1)
})

/** A 451 in time: the service takes 8 s at most. */
const refusedInTime = Effect.fnUntraced(function* (said: Effect.Effect<string>) {
  const [time, reply] = yield* Effect.timed(said)
  assert.match(reply, /^451 4\.3\.0 /)
  assert.isBelow(Duration.toMillis(time), 15_000)
})

layer(Outage.layer, { excludeTestServices: true })("While PostgreSQL", (it) => {
  it.effect("is stopped, the sender receives 451, and mail is accepted again afterwards", () =>
    Effect.gen(function* () {
      const { address, port, turn } = yield* Outage
      const dialog = yield* Mailbox.begin(port, address)
      yield* turn("cut")
      yield* refusedInTime(dialog.say("RCPT TO:<other@outage.example>"))
      yield* refusedInTime(Mailbox.data(dialog, message("gone")))
      yield* turn("pass")
      yield* retries("gone")
    })
  )

  it.effect("is stopped, refusals are kept in memory and written afterwards", () =>
    Effect.gen(function* () {
      const { address, port, sql, turn } = yield* Outage
      const dialog = yield* Mailbox.begin(port, address)
      yield* turn("cut")
      yield* refusedInTime(Mailbox.data(dialog, message("refused")))
      yield* Effect.sleep("500 millis")
      yield* turn("pass")
      const [row] = yield* eventually(
        sql<{ readonly reason: string; readonly recipient: string }>`
          SELECT reason, recipient FROM refusals WHERE message_id = '<refused@sender.example>'
        `,
        (rows) => rows.length === 1
      )
      assert.deepStrictEqual({ ...row }, { reason: "storage", recipient: address })
    })
  )

  it.effect("hangs, the sender receives 451 within 10 s, and mail is accepted again afterwards", () =>
    Effect.gen(function* () {
      const { address, port, turn } = yield* Outage
      // More than there are connections, so that some wait.
      const dialogs = yield* Effect.forEach(Array.range(1, 30), () => Mailbox.begin(port, address), { concurrency: 10 })
      yield* turn("hold")
      // The look-up of a busy domain is cached for 1 s.
      yield* Effect.sleep("1.1 seconds")
      yield* Effect.forEach(
        dialogs,
        (dialog, index) =>
          refusedInTime(
            index % 2 === 0 ? Mailbox.data(dialog, message(`hangs-${index}`)) : dialog.say(`RCPT TO:<${address}>`)
          ),
        { concurrency: "unbounded", discard: true }
      )
      yield* turn("pass")
      yield* retries("hangs-0")
    })
  )

  it.effect("answers each statement late, the sender receives 451 within 10 s", () =>
    Effect.gen(function* () {
      const { address, port, turn } = yield* Outage
      // Two recipients take several statements.
      const dialog = yield* Mailbox.begin(port, [address, `other-${address}`])
      yield* turn("slow")
      yield* refusedInTime(Mailbox.data(dialog, message("slow")))
      yield* turn("pass")
      yield* retries("slow")
    })
  )

  it.effect("commits and the answer is lost, the row is found, the sender receives 250, and one event follows", () =>
    Effect.gen(function* () {
      const { address, commitLost, port, turn } = yield* Outage
      const dialog = yield* Mailbox.begin(port, address)
      yield* turn("lose commit")
      const [reply] = yield* Effect.all(
        [Mailbox.data(dialog, message("lost")), Effect.andThen(commitLost, turn("pass"))],
        {
          concurrency: "unbounded"
        }
      )
      assert.match(reply, /^250 /)
      yield* read("lost", 1)
      yield* retries("lost")
    })
  )

  it.effect(
    "commits a transaction and the answer is lost, the rows are found, the sender receives 250, and an event for each recipient follows",
    () =>
      Effect.gen(function* () {
        const { address, commitLost, port, turn } = yield* Outage
        const dialog = yield* Mailbox.begin(port, [address, `other-${address}`])
        yield* turn("lose commit")
        const [reply] = yield* Effect.all(
          [Mailbox.data(dialog, message("lost too")), Effect.andThen(commitLost, turn("pass"))],
          { concurrency: "unbounded" }
        )
        assert.match(reply, /^250 /)
        yield* read("lost too", 2)
        yield* retries("lost too")
      })
  )

  it.effect("never receives the statement, no row is found, and the sender receives 451 within 10 s", () =>
    Effect.gen(function* () {
      const { address, port, swallowed, turn } = yield* Outage
      // Its connections have prepared the statement, which the proxy drops by name.
      yield* retries("before it is swallowed")
      const dialog = yield* Mailbox.begin(port, address)
      yield* turn("swallow statement")
      yield* Effect.all(
        [refusedInTime(Mailbox.data(dialog, message("swallowed"))), Effect.andThen(swallowed, turn("pass"))],
        { concurrency: "unbounded" }
      )
      assert.strictEqual(yield* kept("swallowed"), 0)
      yield* retries("swallowed")
    })
  )

  it.effect("aborts our transaction in a deadlock, the sender still receives 250", () =>
    Effect.gen(function* () {
      const { address, port, sql } = yield* Outage
      const waiting = (sessions: number) =>
        eventually(
          // In a transaction the view keeps the connections of its first look, without those that are opened later.
          Effect.andThen(
            sql`SELECT pg_stat_clear_snapshot()`,
            sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
          ),
          (rows) => rows.length === sessions
        )
      const [row] = yield* sql<{
        readonly id: string
      }>`SELECT workspace_id AS id FROM domains WHERE name = 'outage.example'`
      yield* retries("before")
      yield* sql`
        CREATE FUNCTION wait_for_other() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NEW; END $$
      `
      yield* sql`CREATE TRIGGER wait BEFORE INSERT ON inbound_emails FOR EACH ROW EXECUTE FUNCTION wait_for_other()`

      const [locked, keyWritten] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const other = yield* Effect.gen(function* () {
        // It looks for no deadlock itself, so PostgreSQL aborts ours.
        yield* sql`SET LOCAL deadlock_timeout = '10min'`
        yield* sql`SELECT pg_advisory_xact_lock(1)`
        yield* Deferred.succeed(locked, undefined)
        yield* Deferred.await(keyWritten)
        yield* sql`LOCK TABLE received_once IN SHARE ROW EXCLUSIVE MODE`
      }).pipe(sql.withTransaction, Effect.forkScoped)
      yield* Deferred.await(locked)
      const delivering = yield* Effect.gen(function* () {
        yield* sql`UPDATE daily_intake SET accepted = accepted WHERE workspace_id = ${row?.id ?? ""}`
        // It writes the message key and then waits for the counter, until the other one waits for that key.
        const delivering = yield* Effect.forkScoped(Mailbox.deliver(port, address, message("deadlock")))
        yield* waiting(1)
        yield* Deferred.succeed(keyWritten, undefined)
        yield* waiting(2)
        return delivering
      }).pipe(sql.withTransaction)
      yield* Fiber.join(other)
      const reply = yield* Fiber.join(delivering)
      assert.match(reply, /^250 /)
      assert.strictEqual(yield* kept("deadlock"), 1)
      yield* eventually(
        sql`SELECT 1 FROM pg_stat_database WHERE datname = current_database() AND deadlocks = 1`,
        (rows) => rows.length === 1
      )
    })
  )
})
