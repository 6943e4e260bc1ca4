import type { ServerResponse } from "node:http"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import {
  Clock,
  ConfigProvider,
  Context,
  DateTime,
  Effect,
  FileSystem,
  Layer,
  Logger,
  Ref,
  References,
  Stream
} from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { DomainId } from "../../src/model/Domain.ts"
import { InboundEmailId, rawRef } from "../../src/model/InboundEmail.ts"
import { RawStore } from "../../src/providers/storage/RawStore.ts"
import { RawStoreError } from "../../src/providers/storage/RawStoreError.ts"
import * as RawStoreFile from "../../src/providers/storage/RawStoreFile.ts"
import * as Segments from "../../src/providers/storage/Segments.ts"
import { layerWorker, Sweeper } from "../../src/retention/Sweeper.ts"
import { eventually } from "../Eventually.ts"
import * as Mailbox from "../Mailbox.ts"
import * as RawLog from "../RawLog.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

/** A sweeper with these settings on the database and raw store of the running service. */
const sweeper = Effect.fnUntraced(function* (env: Readonly<Record<string, string>> = {}) {
  const { folder } = yield* TestInlet
  const settings = ConfigProvider.layer(ConfigProvider.fromEnv({ env }))
  const store = RawStoreFile.layer(`${folder}/raw`).pipe(Layer.provide(NodeServices.layer))
  const built = yield* Layer.build(Layer.fresh(Sweeper.layer).pipe(Layer.provide([store, settings])))
  return Context.get(built, Sweeper)
})

/** Moves everything that a domain has received back by this time. */
const age = Effect.fnUntraced(function* (domainId: string, interval: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    UPDATE inbound_emails SET received_at = received_at - ${interval}::interval WHERE domain_id = ${domainId}
  `
  yield* sql`UPDATE events SET read_at = read_at - ${interval}::interval WHERE domain_id = ${domainId}`
})

/** Moves a file's modification time back. */
const ageFile = Effect.fnUntraced(function* (file: string, minutes: number) {
  const fs = yield* FileSystem.FileSystem
  const then = ((yield* Clock.currentTimeMillis) - minutes * 60_000) / 1_000
  yield* fs.utimes(file, then, then)
}, Effect.provide(NodeServices.layer))

/** Stores a message in a file of its own, as versions before the log did. */
const inFile = Effect.fnUntraced(function* ({ domainId, event }: Effect.Success<typeof delivered>) {
  const sql = yield* SqlClient.SqlClient
  const fs = yield* FileSystem.FileSystem
  const { folder } = yield* TestInlet
  const file = yield* rawFile(domainId, event.inbound_email_id)
  const kept = (yield* RawLog.records(`${folder}/raw`)).find(({ id }) => id === event.inbound_email_id)
  yield* fs.makeDirectory(`${folder}/raw/inbound/${domainId}`, { recursive: true })
  yield* fs.writeFile(file, kept?.message ?? assert.fail())
  yield* sql`UPDATE inbound_emails SET segment = NULL, raw_at = NULL, raw_bytes = NULL WHERE domain_id = ${domainId}`
  return file
}, Effect.provide(NodeServices.layer))

/** Moves the messages of a domain to a segment with this age. */
const inSegmentOf = Effect.fnUntraced(function* (domainId: string, past: Partial<DateTime.DateTime.PartsForMath>) {
  const sql = yield* SqlClient.SqlClient
  const fs = yield* FileSystem.FileSystem
  const random = yield* SecureRandom.SecureRandom
  const { folder } = yield* TestInlet
  const openedAt = DateTime.toEpochMillis(DateTime.subtract(yield* DateTime.now, past))
  const id = Segments.idAt(openedAt, yield* random.randomBytes(10))
  const file = `${folder}/raw/segments/${Segments.nameOf(id)}`
  const [row] = yield* sql<{ readonly segment: string }>`
    SELECT segment FROM inbound_emails WHERE domain_id = ${domainId}
  `
  yield* fs.copyFile(`${folder}/raw/segments/${Segments.nameOf(row?.segment ?? "")}`, file)
  yield* fs.utimes(file, openedAt / 1_000, openedAt / 1_000)
  yield* sql`UPDATE inbound_emails SET segment = ${id} WHERE domain_id = ${domainId}`
  return { id, isThere: fs.exists(file) }
}, Effect.provide(NodeServices.layer))

const rawFile = Effect.fnUntraced(function* (domainId: string, id: string) {
  const { folder } = yield* TestInlet
  return `${folder}/raw/${rawRef(DomainId.make(domainId), InboundEmailId.make(id))}`
})

const countOf = Effect.fnUntraced(function* (table: string, domainId: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT 1 FROM ${sql(table)} WHERE domain_id = ${domainId}`
  return rows.length
})

/** An inbox with one delivered mail. */
const delivered = Effect.gen(function* () {
  const inlet = yield* TestInlet
  const receiver = yield* WebhookReceiver
  const inbox = yield* inlet.inbox(receiver.url)
  const reply = yield* Mailbox.deliver(
    inlet.smtpPort,
    inbox.address,
    "Message-ID: <1@sender.example>\r\nSubject: kept for a while\r\n\r\n"
  )
  assert.match(reply, /^250 /)
  const [event] = yield* eventually(Mailbox.events(inbox), ([listed]) => listed?.delivery.status === "delivered")
  return { ...inbox, event }
})

/** The statuses of all API routes for an event. */
const shown = Effect.fnUntraced(function* (
  inbox: { readonly key: string; readonly domainId: string },
  eventId: string
) {
  const inlet = yield* TestInlet
  const of = (path: string) => inlet.call("GET", `/api/domains/${inbox.domainId}${path}`, { key: inbox.key })
  const events = yield* of("/events")
  const attempts = yield* of("/delivery-attempts")
  return {
    events: events.json.events.length as number,
    attempts: attempts.json.deliveryAttempts.length as number,
    event: (yield* of(`/events/${eventId}`)).status,
    raw: (yield* of(`/events/${eventId}/raw`)).status
  }
})

/** A logger and its entries. */
const heard = () => {
  const lines: Array<string> = []
  return { lines, logger: Logger.layer([Logger.make(({ message }) => void lines.push(String([message].flat()[0])))]) }
}

layer(Layer.merge(TestInlet.layer(), WebhookReceiver.layer), { excludeTestServices: true })("The sweeper", (it) => {
  it.effect("removes a message after 14 days with its event and attempts from database, disk and API", () =>
    Effect.gen(function* () {
      const inbox = yield* delivered
      const { expired } = yield* sweeper()
      yield* age(inbox.domainId, "13 days 23 hours 59 minutes")
      yield* expired
      assert.deepStrictEqual(yield* shown(inbox, inbox.event.event_id), {
        events: 1,
        attempts: 1,
        event: 200,
        raw: 200
      })

      yield* age(inbox.domainId, "2 minutes")
      assert.strictEqual(yield* expired, 1)
      assert.deepStrictEqual(yield* shown(inbox, inbox.event.event_id), {
        events: 0,
        attempts: 0,
        event: 404,
        raw: 404
      })
      for (const table of ["inbound_emails", "events", "deliveries", "delivery_attempts"]) {
        assert.strictEqual(yield* countOf(table, inbox.domainId), 0, table)
      }
    })
  )

  it.effect("keeps mail that came while the clock of its server was wrong for 14 days from its reading", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* delivered
      const { expired } = yield* sweeper()
      yield* sql`UPDATE inbound_emails SET received_at = timestamptz '2000-01-01' WHERE domain_id = ${inbox.domainId}`
      yield* sql`UPDATE events SET read_at = now() - interval '13 days 23 hours' WHERE domain_id = ${inbox.domainId}`
      yield* expired
      assert.strictEqual((yield* shown(inbox, inbox.event.event_id)).event, 200)
      yield* sql`UPDATE events SET read_at = now() - interval '14 days' WHERE domain_id = ${inbox.domainId}`
      assert.strictEqual(yield* expired, 1)
    })
  )

  it.effect("keeps mail that is not read yet, of any age", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* delivered
      yield* sql`
        UPDATE inbound_emails SET state = 'received', leased_until = now() + interval '1 hour'
        WHERE domain_id = ${inbox.domainId}
      `
      yield* age(inbox.domainId, "20 days")
      yield* (yield* sweeper()).expired
      assert.strictEqual(yield* countOf("inbound_emails", inbox.domainId), 1)
    })
  )

  it.effect("removes a log segment an hour after 14 days once all its messages are expired", () =>
    Effect.gen(function* () {
      const inbox = yield* delivered
      const { expired, segments } = yield* sweeper()
      yield* age(inbox.domainId, "14 days 30 minutes")
      const young = yield* inSegmentOf(inbox.domainId, { days: 14, minutes: 50 })
      yield* expired
      yield* segments
      assert.isTrue(yield* young.isThere)

      const other = yield* delivered
      yield* age(other.domainId, "14 days 30 minutes")
      const old = yield* inSegmentOf(other.domainId, { days: 14, minutes: 61 })
      // The row is removed first.
      yield* segments
      assert.isTrue(yield* old.isThere)
      yield* expired
      yield* segments
      assert.isFalse(yield* old.isThere)
      assert.isTrue(yield* young.isThere)
      assert.deepStrictEqual(yield* Mailbox.stored(other.domainId), [])
    })
  )

  it.effect("removes the other segments if one can't be removed", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { folder } = yield* TestInlet
      const { expired, segments } = yield* sweeper()
      // A folder in the place of the oldest segment.
      const stuck = `${folder}/raw/segments/${Segments.nameOf(Segments.idAt(1_000, new Uint8Array(10)))}`
      yield* fs.makeDirectory(`${stuck}/x`, { recursive: true })
      yield* ageFile(stuck, 61)
      const inbox = yield* delivered
      yield* age(inbox.domainId, "20 days")
      const old = yield* inSegmentOf(inbox.domainId, { days: 20, minutes: 61 })
      yield* expired
      yield* segments
      assert.isFalse(yield* old.isThere)
      assert.isTrue(yield* fs.exists(stuck))
      yield* fs.remove(stuck, { recursive: true })
    })
  )

  it.effect("keeps a segment that a row refers to or that is being written, at any age", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { folder } = yield* TestInlet
      const inbox = yield* delivered
      const { segments } = yield* sweeper()
      yield* age(inbox.domainId, "20 days")
      const referred = yield* inSegmentOf(inbox.domainId, { days: 20, minutes: 59 })
      // Its clock was wrong when it was named.
      const written = `${folder}/raw/segments/${Segments.nameOf(Segments.idAt(0, new Uint8Array(10)))}`
      yield* fs.writeFileString(written, "")
      yield* segments
      assert.isTrue(yield* referred.isThere)
      assert.isTrue(yield* fs.exists(written))
      assert.strictEqual((yield* shown(inbox, inbox.event.event_id)).raw, 200)
      yield* ageFile(written, 61)
      yield* segments
      assert.isFalse(yield* fs.exists(written))
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("removes only segments without rows if retention is off", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* delivered
      const { segments } = yield* sweeper({ RETENTION_DAYS: "0" })
      yield* age(inbox.domainId, "400 days")
      const old = yield* inSegmentOf(inbox.domainId, { days: 400, minutes: 20 })
      yield* segments
      assert.isTrue(yield* old.isThere)
      yield* sql`UPDATE inbound_emails SET segment = NULL WHERE domain_id = ${inbox.domainId}`
      yield* segments
      assert.isFalse(yield* old.isThere)
    })
  )

  it.effect("removes more segments than one statement checks", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { folder } = yield* TestInlet
      const then = DateTime.toEpochMillis(DateTime.subtract(yield* DateTime.now, { days: 30 }))
      for (let number = 0; number < 230; number++) {
        const name = Segments.nameOf(Segments.idAt(then + number, new Uint8Array(10)))
        yield* fs.writeFileString(`${folder}/raw/segments/${name}`, "")
        yield* ageFile(`${folder}/raw/segments/${name}`, 61)
      }
      const { segments } = yield* sweeper()
      assert.strictEqual(yield* segments, 230)
      assert.strictEqual(yield* segments, 0)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("keeps the domain with its positions, and accepts further mail", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* delivered
      const { expired } = yield* sweeper()
      yield* age(inbox.domainId, "15 days")
      yield* expired
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, "Subject: after\r\n\r\n")
      assert.deepStrictEqual(
        (yield* Mailbox.events(inbox)).map(({ subject }) => subject),
        ["after"]
      )
    })
  )

  it.effect("follows RETENTION_DAYS, and removes nothing at 0", () =>
    Effect.gen(function* () {
      const inbox = yield* delivered
      yield* age(inbox.domainId, "3 days 1 minute")
      assert.strictEqual(yield* (yield* sweeper({ RETENTION_DAYS: "4" })).expired, 0)
      assert.strictEqual(yield* (yield* sweeper({ RETENTION_DAYS: "0" })).expired, 0)
      assert.strictEqual((yield* shown(inbox, inbox.event.event_id)).raw, 200)
      assert.strictEqual(yield* (yield* sweeper({ RETENTION_DAYS: "3" })).expired, 1)
      assert.strictEqual((yield* shown(inbox, inbox.event.event_id)).raw, 404)
    })
  )

  it.effect("removes more messages than one batch holds", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const { domainId } = yield* inlet.inbox()
      const rows = 1_203
      yield* sql`
          INSERT INTO inbound_emails (
            id, domain_id, received_at, sha256, mail_from, helo, remote_address, recipients, state, trace_bytes
          )
          SELECT gen_random_uuid(), ${domainId}, now() - interval '20 days', '', '', '', '', '{}', 'read', 0
          FROM generate_series(1, ${rows})
        `
      assert.strictEqual(yield* (yield* sweeper()).expired, rows)
      assert.strictEqual(yield* countOf("inbound_emails", domainId), 0)
    })
  )

  it.effect("removes a message without its raw message", () =>
    Effect.gen(function* () {
      const inbox = yield* delivered
      const fs = yield* FileSystem.FileSystem
      yield* fs.remove(yield* inFile(inbox))
      assert.deepStrictEqual(yield* shown(inbox, inbox.event.event_id), {
        events: 1,
        attempts: 1,
        event: 200,
        raw: 404
      })
      yield* age(inbox.domainId, "15 days")
      assert.strictEqual(yield* (yield* sweeper()).expired, 1)
      assert.strictEqual((yield* shown(inbox, inbox.event.event_id)).event, 404)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("removes a message with its file from an earlier version", () =>
    Effect.gen(function* () {
      const inbox = yield* delivered
      const fs = yield* FileSystem.FileSystem
      const file = yield* inFile(inbox)
      assert.strictEqual((yield* shown(inbox, inbox.event.event_id)).raw, 200)
      yield* age(inbox.domainId, "15 days")
      assert.strictEqual(yield* (yield* sweeper()).expired, 1)
      assert.isFalse(yield* fs.exists(file))
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("removes undelivered mail, no longer sends it, logs it, and tells the workspace unless it was held", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      yield* receiver.answerWith(500)
      const inbox = yield* inlet.inbox(receiver.url)
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, "Subject: never taken\r\n\r\n")
      yield* eventually(Mailbox.events(inbox), ([listed]) => listed?.delivery.attempts === 1)
      yield* age(inbox.domainId, "15 days")
      const held = yield* inlet.inbox()
      yield* Mailbox.deliver(inlet.smtpPort, held.address, "Subject: held\r\n\r\n")
      yield* eventually(Mailbox.events(held), ([listed]) => listed?.delivery.status === "held")
      yield* age(held.domainId, "15 days")
      const { lines, logger } = heard()
      assert.strictEqual(yield* (yield* sweeper()).expired.pipe(Effect.provide(logger)), 2)
      assert.deepStrictEqual(lines, [
        "Messages expired that no webhook has accepted: pending, held or dead. They were removed"
      ])
      assert.strictEqual(yield* countOf("deliveries", inbox.domainId), 0)
      const told = (key: string) =>
        Effect.map(inlet.call("GET", "/api/operational-events?type=mail.expired", { key }), ({ json }) =>
          json.operational_events.map(({ event }: { readonly event: unknown }) => event)
        )
      const [event, ...others] = yield* told(inbox.key)
      assert.deepInclude(event, {
        type: "mail.expired",
        domain_id: inbox.domainId,
        domain: inbox.domain,
        messages: 1,
        retention_days: 14
      })
      assert.match(event.message, /^1 message of \S+ expired after 14 days and is removed/)
      assert.deepStrictEqual([others, yield* told(held.key)], [[], []])
      const before = (yield* receiver.all).length
      // Only later mail is delivered.
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, "Subject: taken\r\n\r\n")
      yield* eventually(Mailbox.events(inbox), ([listed]) => listed?.delivery.status === "delivered")
      assert.deepStrictEqual(
        (yield* receiver.all).slice(before).map(({ event }) => event.subject),
        ["taken"]
      )
    })
  )

  it.effect("tells each workspace once in a day that its mail expired, also after a restart", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const inboxes = yield* Effect.all([inlet.inbox(receiver.url), inlet.inbox(receiver.url)])
      const lose = Effect.forEach(
        inboxes,
        Effect.fnUntraced(function* (inbox) {
          yield* receiver.answerWith(500)
          yield* Mailbox.deliver(inlet.smtpPort, inbox.address, "Subject: never taken\r\n\r\n")
          yield* eventually(Mailbox.events(inbox), ([listed]) => listed?.delivery.attempts === 1)
          yield* age(inbox.domainId, "15 days")
        })
      )
      const told = Effect.forEach(inboxes, ({ key }) =>
        Effect.map(
          inlet.call("GET", "/api/operational-events?type=mail.expired", { key }),
          ({ json }) => json.operational_events.length
        )
      )
      const { expired } = yield* sweeper()
      yield* lose
      assert.strictEqual(yield* expired, 2)
      assert.deepStrictEqual(yield* told, [1, 1])
      yield* lose
      assert.strictEqual(yield* expired, 2)
      yield* lose
      assert.strictEqual(yield* (yield* sweeper()).expired, 2)
      assert.deepStrictEqual(yield* told, [1, 1])
    })
  )

  it.effect("removes a message during its webhook request, whose outcome then changes nothing", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const held: Array<ServerResponse> = []
      const asked = (yield* receiver.all).length
      yield* receiver.answerWith((_, response) => void held.push(response))
      const inbox = yield* inlet.inbox(receiver.url)
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, "Subject: too late\r\n\r\n")
      yield* eventually(
        Effect.sync(() => held.length),
        (count) => count === 1
      )
      yield* age(inbox.domainId, "15 days")
      assert.strictEqual(yield* (yield* sweeper()).expired.pipe(Effect.provide(heard().logger)), 1)
      held[0]?.writeHead(500).end()
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, "Subject: next\r\n\r\n")
      yield* eventually(Mailbox.events(inbox), ([listed]) => listed?.delivery.status === "delivered")
      assert.deepStrictEqual(
        (yield* receiver.all).slice(asked).map(({ event }) => event.subject),
        ["too late", "next"]
      )
      const attempts = yield* inlet.call("GET", `/api/domains/${inbox.domainId}/delivery-attempts`, inbox)
      assert.deepStrictEqual(
        attempts.json.deliveryAttempts.map(({ ok }: { readonly ok: boolean }) => ok),
        [true]
      )
    })
  )

  it.effect("removes only raw messages without a row after seven days, and reports how many there are", () =>
    Effect.gen(function* () {
      const inbox = yield* delivered
      const fs = yield* FileSystem.FileSystem
      const known = yield* inFile(inbox)
      const old = yield* rawFile(inbox.domainId, "01981c9e-0000-7000-8000-000000000001")
      const young = yield* rawFile(inbox.domainId, "01981c9e-0000-7000-8000-000000000002")
      yield* fs.writeFileString(old, "left by a crash")
      yield* fs.writeFileString(young, "about to be committed")
      yield* ageFile(known, 30 * 24 * 60)
      yield* ageFile(old, 7 * 24 * 60 + 1)
      yield* ageFile(young, 7 * 24 * 60 - 1)
      const told: Array<unknown> = []
      const listening = Logger.layer([
        Logger.make(({ fiber, message }) => {
          if (String(message) === "Raw messages without a row")
            told.push(fiber.getRef(References.CurrentLogAnnotations))
        })
      ])
      assert.strictEqual(yield* Effect.provide((yield* sweeper()).orphans, listening), 1)
      assert.deepInclude(told[0], { files: 1, files_removed: 1 })
      assert.isFalse(yield* fs.exists(old))
      assert.isTrue(yield* fs.exists(young))
      assert.isTrue(yield* fs.exists(known))
      assert.strictEqual((yield* shown(inbox, inbox.event.event_id)).raw, 200)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("counts the log records without a row", () =>
    Effect.gen(function* () {
      const inbox = yield* delivered
      const sql = yield* SqlClient.SqlClient
      const sweeping = (yield* sweeper()).orphans
      const told: Array<unknown> = []
      const listening = Logger.layer([
        Logger.make(({ fiber, message }) => {
          if (String(message) === "Raw messages without a row")
            told.push(fiber.getRef(References.CurrentLogAnnotations).records_of_a_day)
        })
      ])
      yield* inSegmentOf(inbox.domainId, { hours: 5 })
      yield* age(inbox.domainId, "5 hours")
      // A copy with the messages of others.
      yield* Effect.provide(sweeping, listening)
      yield* sql`DELETE FROM inbound_emails WHERE domain_id = ${inbox.domainId}`
      yield* Effect.provide(sweeping, listening)
      assert.strictEqual(told.length, 2)
      assert.strictEqual(Number(told[1]), Number(told[0]) + 1)
    })
  )

  it.effect("removes nothing for a day after the clock moved by more than a day, and logs it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { mayRemove } = yield* sweeper()
      const told: Array<string> = []
      const asked = Effect.provide(
        mayRemove,
        Logger.layer([Logger.make(({ message }) => void told.push(String(message)))])
      )
      const pass = (interval: string) => sql`
          UPDATE sweeper_rounds SET last_at = last_at - ${interval}::interval, held_until = held_until - ${interval}::interval
        `
      assert.isTrue(yield* asked)
      yield* pass("23 hours")
      assert.isTrue(yield* asked)
      for (const leap of ["25 hours", "-400 days"]) {
        yield* pass(leap)
        assert.isFalse(yield* asked)
        assert.match(`${told.pop()}`, /^The clock has moved by more than a day/)
        yield* pass("23 hours")
        assert.isFalse(yield* asked)
        yield* pass("61 minutes")
        assert.isTrue(yield* asked)
      }
      assert.deepStrictEqual(told, [])
    })
  )

  it.effect("knows a raw store of another database by its mark, and says how to give it up", () =>
    Effect.gen(function* () {
      const { folder } = yield* TestInlet
      const fs = yield* FileSystem.FileSystem
      const mark = `${folder}/raw/database-id`
      const own = yield* eventually(fs.readFileString(mark), (id) => id !== "")
      const { ownsFiles, ownsLog } = yield* sweeper()
      assert.deepStrictEqual([yield* ownsFiles, yield* ownsLog], [true, true])
      const told: Array<string> = []
      const logger = Logger.layer([Logger.make(({ message }) => void told.push(String(message)))])
      yield* fs.writeFileString(mark, "ae3e4d5e-8ac2-4b0e-9d4a-3f6f4a3d6a52\n")
      const foreign = yield* sweeper()
      for (const _ of [1, 2]) assert.isFalse(yield* foreign.ownsLog.pipe(Effect.provide(logger)))
      assert.isFalse(yield* foreign.ownsFiles.pipe(Effect.provide(Logger.layer([]))))
      assert.lengthOf(told, 1)
      assert.match(told.join(), /belongs to another database.* remove the file or object database-id/)
      yield* fs.remove(mark)
      assert.isTrue(yield* foreign.ownsLog)
      assert.strictEqual(yield* fs.readFileString(mark), own)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("treats a raw message that it failed to remove with its row as an orphan later", () =>
    Effect.gen(function* () {
      const inbox = yield* delivered
      const fs = yield* FileSystem.FileSystem
      const file = yield* inFile(inbox)
      yield* age(inbox.domainId, "15 days")
      const failing = Layer.mock(RawStore, {
        remove: () => Effect.fail(new RawStoreError({ cause: "read-only" })),
        segments: Segments.none
      })
      const settings = ConfigProvider.layer(ConfigProvider.fromEnv({ env: {} }))
      const built = yield* Layer.build(
        Layer.fresh(Sweeper.layer).pipe(Layer.provide([failing, settings, Logger.layer([])]))
      )
      assert.strictEqual(yield* Context.get(built, Sweeper).expired.pipe(Effect.provide(Logger.layer([]))), 1)
      assert.isTrue(yield* fs.exists(file))
      assert.strictEqual((yield* shown(inbox, inbox.event.event_id)).raw, 404)
      yield* ageFile(file, 7 * 24 * 60 + 1)
      assert.isAtLeast(yield* (yield* sweeper()).orphans, 1)
      assert.isFalse(yield* fs.exists(file))
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("counts only the orphans that it could remove", () =>
    Effect.gen(function* () {
      const [domainId, id] = [
        DomainId.make("01981c9e-9999-7000-8000-000000000002"),
        "01981c9e-0000-7000-8000-00000000000"
      ]
      const refs = [1, 2, 3].map((number) => rawRef(domainId, InboundEmailId.make(`${id}${number}`)))
      const failing = Layer.mock(RawStore, {
        olderThan: () => Stream.fromIterable(refs),
        remove: (ref) => (ref === refs[0] ? Effect.void : Effect.fail(new RawStoreError({ cause: "read-only" }))),
        segments: Segments.none
      })
      const settings = ConfigProvider.layer(ConfigProvider.fromEnv({ env: {} }))
      const built = yield* Layer.build(Layer.fresh(Sweeper.layer).pipe(Layer.provide([failing, settings])))
      const told: Array<unknown> = []
      const logger = Logger.make(({ fiber, message }) => {
        if (String(message) === "Raw messages without a row") told.push(fiber.getRef(References.CurrentLogAnnotations))
      })
      const removed = yield* Effect.provide(Context.get(built, Sweeper).orphans, Logger.layer([logger]))
      assert.strictEqual(removed, 1)
      assert.deepInclude(told[0], { files: 2, files_removed: 1 })
    })
  )

  it.effect("removes more orphans of a removed domain than one batch holds", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { folder } = yield* TestInlet
      const domainId = "01981c9e-9999-7000-8000-000000000001"
      yield* fs.makeDirectory(`${folder}/raw/inbound/${domainId}`, { recursive: true })
      const numbers = Array.from({ length: 700 }, (_, number) => `${number}`.padStart(12, "0"))
      yield* Effect.forEach(numbers, (number) =>
        Effect.gen(function* () {
          const file = yield* rawFile(domainId, `01981c9e-0000-7000-8000-${number}`)
          yield* fs.writeFileString(file, "")
          yield* ageFile(file, 7 * 24 * 60 + 1)
        })
      )
      assert.strictEqual(yield* (yield* sweeper()).orphans, 700)
      assert.deepStrictEqual(yield* fs.readDirectory(`${folder}/raw/inbound/${domainId}`), [])
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("removes only pending domains that were not verified for 30 days", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const attach = Effect.fnUntraced(function* (name: string, interval: string) {
        const { key } = yield* inlet.workspace
        const { json } = yield* inlet.call("POST", "/api/domains", { key, body: { domain: name } })
        yield* sql`UPDATE domains SET created_at = now() - ${interval}::interval WHERE id = ${json.id}`
        return { key, path: `/api/domains/${json.id}` }
      })
      const old = yield* attach("old.example", "30 days 1 minute")
      const young = yield* attach("young.example", "29 days 23 hours")
      const proven = yield* attach("proven.example", "31 days")
      yield* sql`UPDATE domains SET status = 'mx_pending', verified_at = now() WHERE name = 'proven.example'`
      const inbox = yield* inlet.inbox()
      yield* sql`UPDATE domains SET created_at = now() - interval '1 year' WHERE id = ${inbox.domainId}`
      yield* (yield* sweeper()).leftovers
      const instant = { key: inbox.key, path: `/api/domains/${inbox.domainId}` }
      const answers = yield* Effect.forEach([old, young, proven, instant], ({ key, path }) =>
        inlet.call("GET", path, { key })
      )
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [404, 200, 200, 200]
      )
    })
  )

  it.effect("removes more idempotency keys than one batch holds", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* delivered
      yield* sql`
          INSERT INTO received_once (key, inbound_email_id, received_at)
          SELECT sha256(n::text::bytea), ${inbox.event.inbound_email_id}, now() - interval '8 days'
          FROM generate_series(1, 1203) AS n
        `
      yield* (yield* sweeper()).leftovers
      const left = yield* sql`SELECT 1 FROM received_once WHERE inbound_email_id = ${inbox.event.inbound_email_id}`
      assert.lengthOf(left, 1)
    })
  )

  it.effect("removes the rest where one kind of data cannot be removed", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const { domainId, key } = yield* delivered
      yield* inlet.call("POST", "/api/workspaces/rotate-secret", { key })
      const own = sql`id = (SELECT workspace_id FROM domains WHERE id = ${domainId})`
      yield* sql`UPDATE workspaces SET previous_secret_until = now() - interval '1 minute' WHERE ${own}`
      yield* sql`
          INSERT INTO client_limits (action, client, day, count)
          VALUES ('replay', ${domainId}, (now() AT TIME ZONE 'UTC')::date - 2, 1)
        `
      const { leftovers } = yield* sweeper()
      yield* Effect.acquireUseRelease(
        sql`ALTER TABLE received_once RENAME TO out_of_reach`,
        () => Effect.flip(Effect.sandbox(leftovers)),
        () => Effect.orDie(sql`ALTER TABLE out_of_reach RENAME TO received_once`)
      )
      assert.lengthOf(yield* sql`SELECT 1 FROM client_limits WHERE client = ${domainId}`, 0)
      assert.lengthOf(yield* sql`SELECT 1 FROM workspaces WHERE previous_secret_until IS NOT NULL AND ${own}`, 0)
    })
  )

  it.effect("removes orders that nobody has paid for 90 days, and the ids of callbacks as old", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { domainId } = yield* delivered
      yield* sql`
          INSERT INTO orders (id, workspace_id, name, years, registrar, billing, price_cents, status, payment_id,
            refund_due, success_url, cancel_url, created_at)
          SELECT gen_random_uuid(), workspace_id, made.name, 1, 'mock', 'stripe', 1200, made.status, payment_id, refund_due,
            '', '', now() - make_interval(days => age)
          FROM domains, (VALUES
            ('old', 'expired', NULL, false, 91),
            ('young', 'expired', NULL, false, 89),
            ('paid late', 'expired', 'pi_1', false, 91),
            ('to be refunded', 'expired', NULL, true, 91),
            ('bought', 'completed', 'pi_2', false, 91)
          ) AS made (name, status, payment_id, refund_due, age)
          WHERE domains.id = ${domainId}
        `
      yield* sql`
          INSERT INTO payment_events (id, received_at)
          SELECT ${domainId} || n, now() - make_interval(days => 80 + n) FROM generate_series(1, 20) AS n
        `
      yield* (yield* sweeper()).leftovers
      const left = yield* sql<{ readonly name: string }>`
          SELECT orders.name FROM orders JOIN domains USING (workspace_id) WHERE domains.id = ${domainId} ORDER BY 1
        `
      assert.deepStrictEqual(
        left.map(({ name }) => name),
        ["bought", "paid late", "to be refunded", "young"]
      )
      assert.lengthOf(yield* sql`SELECT 1 FROM payment_events WHERE id LIKE ${`${domainId}%`}`, 9)
    })
  )

  it.effect("forgets the codes that a session was given 5 minutes ago", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { domainId } = yield* delivered
      yield* sql`
          INSERT INTO given_codes (workspace_id, session, domain_id, pair, position, given_at)
          SELECT workspace_id, 'one', id, sha256(n::text::bytea), 1, now() - interval '1 minute' * (n % 6 + 0.5)
          FROM domains CROSS JOIN generate_series(1, 1206) AS n WHERE id = ${domainId}
        `
      yield* (yield* sweeper()).leftovers
      const left = yield* sql`SELECT 1 FROM given_codes WHERE domain_id = ${domainId}`
      assert.lengthOf(left, 1_005)
    })
  )

  it.effect("removes expired idempotency keys, daily counters and rotated secrets", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const old = yield* delivered
      const young = yield* delivered
      yield* inlet.call("POST", "/api/workspaces/rotate-secret", { key: old.key })
      yield* inlet.call("POST", "/api/workspaces/rotate-secret", { key: young.key })
      const workspaceOf = (domainId: string) => sql`SELECT workspace_id FROM domains WHERE id = ${domainId}`
      yield* sql`
          UPDATE received_once SET received_at = now() - interval '7 days 1 minute'
          WHERE inbound_email_id = ${old.event.inbound_email_id}
        `
      yield* sql`UPDATE daily_intake SET day = day - 2 WHERE workspace_id = (${workspaceOf(old.domainId)})`
      yield* sql`
          UPDATE workspaces SET previous_secret_until = now() - interval '1 minute'
          WHERE id = (${workspaceOf(old.domainId)})
        `
      yield* (yield* sweeper()).leftovers
      const left = ({ domainId, event }: typeof old) =>
        Effect.map(
          sql`
              SELECT
                (SELECT count(*) FROM received_once WHERE inbound_email_id = ${event.inbound_email_id})::int AS keys,
                (SELECT count(*) FROM daily_intake WHERE workspace_id = workspaces.id)::int AS days,
                (previous_signing_secret IS NOT NULL)::int AS secrets
              FROM workspaces WHERE id = (${workspaceOf(domainId)})
            `,
          ([row]) => row
        )
      assert.deepStrictEqual(yield* left(old), { keys: 0, days: 0, secrets: 0 })
      assert.deepStrictEqual(yield* left(young), { keys: 1, days: 1, secrets: 1 })
    })
  )
})

describe("The sweeper of a running process", () => {
  it.effect(
    "sweeps at its start and every 10 min, orphans daily, survives a failed sweep, and spares a foreign raw store",
    () =>
      Effect.gen(function* () {
        const sweeps = yield* Ref.make<ReadonlyArray<string>>([])
        const isHeld = yield* Ref.make(false)
        const isOwn = yield* Ref.make(true)
        const swept = (name: string) => Ref.update(sweeps, (earlier) => [...earlier, name])
        const double = Layer.mock(Sweeper, {
          expired: Effect.andThen(swept("expired"), Effect.die("the database is away")),
          segments: Effect.as(swept("segments"), 0),
          leftovers: swept("leftovers"),
          mayRemove: Effect.map(Ref.get(isHeld), (held) => !held),
          ownsLog: Ref.get(isOwn),
          ownsFiles: Ref.get(isOwn),
          orphans: Effect.andThen(swept("orphans"), Effect.die("the disk is away"))
        })
        yield* Layer.build(layerWorker.pipe(Layer.provide(double), Layer.provide(Logger.layer([]))))
        const countAfter = Effect.fnUntraced(function* (duration: Parameters<typeof TestClock.adjust>[0]) {
          yield* TestClock.adjust(duration)
          const names = yield* Ref.get(sweeps)
          return ["expired", "segments", "leftovers", "orphans"].map(
            (name) => names.filter((swept) => swept === name).length
          )
        })
        assert.deepStrictEqual(yield* countAfter("1 second"), [1, 1, 1, 0])
        assert.deepStrictEqual(yield* countAfter("9 minutes"), [1, 1, 1, 1])
        assert.deepStrictEqual(yield* countAfter("1 minute"), [2, 2, 2, 1])
        assert.deepStrictEqual(yield* countAfter("24 hours"), [146, 146, 146, 2])
        yield* Ref.set(isOwn, false)
        assert.deepStrictEqual(yield* countAfter("24 hours"), [290, 146, 290, 2])
        yield* Ref.set(isHeld, true)
        assert.deepStrictEqual(yield* countAfter("24 hours"), [290, 146, 290, 2])
      })
  )
})
