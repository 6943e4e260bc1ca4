import { mkdirSync, readFileSync, renameSync, rmdirSync } from "node:fs"
import { assert, layer } from "@effect/vitest"
import { Clock, Duration, Effect, Logger } from "effect"
import { SqlClient } from "effect/sql"
import * as Segments from "../../src/providers/storage/Segments.ts"
import { eventually } from "../Eventually.ts"
import * as Mailbox from "../Mailbox.ts"
import * as RawLog from "../RawLog.ts"
import * as TestDatabase from "../TestDatabase.ts"
import { TestInlet } from "../TestInlet.ts"
import * as ErasableDomain from "./ErasableDomain.ts"

const message = (text: string) =>
  `Message-ID: <${text}@sender.example>\r\nSubject: ${text}\r\n\r\nFor its owner alone.\r\n`

/** Whether a text is in any segment. */
const isOnDisk = Effect.fnUntraced(function* (text: string) {
  const { folder } = yield* TestInlet
  return (yield* RawLog.segments(`${folder}/raw`)).some((name) =>
    readFileSync(`${folder}/raw/segments/${name}`).includes(text)
  )
})

const isForgotten = (text: string) => eventually(isOnDisk(text), (there) => !there)

/** An inbox with a mail. */
const inboxWith = Effect.fnUntraced(function* (text: string) {
  const inlet = yield* TestInlet
  const inbox = yield* inlet.inbox()
  assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message(text)), /^250 /)
  assert.isTrue(yield* isOnDisk(text))
  return inbox
})

const erasures = SqlClient.SqlClient.use((sql) => sql`SELECT * FROM raw_erasures`)

layer(TestInlet.layer({ ADMIN_TOKEN: "operator" }), { excludeTestServices: true })(
  "Mail removed before its retention ends is overwritten on disk within seconds",
  (it) => {
    it.effect("after its domain is removed, without affecting another domain", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inboxWith("detached")
        const other = yield* inboxWith("of another domain")
        yield* inlet.call("DELETE", `/api/domains/${inbox.domainId}`, { key: inbox.key })
        yield* isForgotten("detached@sender.example")
        yield* eventually(erasures, ({ length }) => length === 0)
        const [event] = yield* Mailbox.events(other)
        assert.isTrue((yield* Mailbox.raw(other, event.event_id)).endsWith(message("of another domain")))
      })
    )

    it.effect("after the operator releases the name, and after a workspace is removed", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const sql = yield* SqlClient.SqlClient
        const taken = yield* inboxWith("taken away")
        yield* inlet.call("DELETE", `/admin/domains/${taken.domain}`, { key: "operator" })
        yield* isForgotten("taken away@sender.example")
        const leaving = yield* inboxWith("workspace gone")
        yield* sql`
          DELETE FROM workspaces WHERE id = (SELECT workspace_id FROM domains WHERE id = ${leaving.domainId})
        `
        yield* isForgotten("workspace gone@sender.example")
      })
    )

    it.effect("but not on expiry, when it is removed with its segment", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const inbox = yield* inboxWith("expires")
        yield* sql`DELETE FROM inbound_emails WHERE domain_id = ${inbox.domainId}`
        assert.deepStrictEqual(yield* erasures, [])
      })
    )

    it.effect("also after the worker died during the erasure, and not in a segment that expired", () =>
      Effect.gen(function* () {
        const { folder } = yield* TestInlet
        const sql = yield* SqlClient.SqlClient
        const expired = (yield* Clock.currentTimeMillis) - Duration.toMillis("32 days")
        const inbox = yield* inboxWith("broken off")
        const id = (yield* Mailbox.onDisk(inbox.domainId))[0] ?? ""
        const record = (yield* RawLog.records(`${folder}/raw`)).find((record) => record.id === id)
        assert.isDefined(record)
        yield* sql`
          INSERT INTO raw_erasures (segment, raw_at, raw_bytes, inbound_email_id, due_at) VALUES
            (${record.segment}, ${record.at}, ${record.message.byteLength}, ${id}, now() + interval '1 second'),
            (${Segments.idAt(expired, new Uint8Array(10))}, 0, 100, gen_random_uuid(), now())
        `
        yield* isForgotten("broken off@sender.example")
        yield* eventually(erasures, ({ length }) => length === 0)
      })
    )

    it.effect("later, if its segment is missing meanwhile, as without its disk", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const sql = yield* SqlClient.SqlClient
        const folder = `${inlet.folder}/raw/segments`
        const inbox = yield* inboxWith("on an absent disk")
        yield* Mailbox.events(inbox)
        renameSync(folder, `${folder}-elsewhere`)
        yield* inlet.call("DELETE", `/api/domains/${inbox.domainId}`, { key: inbox.key })
        const waiting = sql`SELECT 1 FROM raw_erasures WHERE due_at > now() + interval '50 minutes'`
        yield* eventually(waiting, ({ length }) => length === 1)
        renameSync(`${folder}-elsewhere`, folder)
        yield* sql`UPDATE raw_erasures SET due_at = now()`
        yield* isForgotten("on an absent disk@sender.example")
        yield* eventually(erasures, ({ length }) => length === 0)
      })
    )
  }
)

layer(TestDatabase.layer, { excludeTestServices: true })("Raw messages are erased", (it) => {
  it.effect("in batches, so that incoming mail does not wait long for the disk", () =>
    Effect.gen(function* () {
      const root = yield* ErasableDomain.folder
      const many = yield* ErasableDomain.make(600, 10, root)
      yield* many.remove
      assert.deepStrictEqual(yield* Effect.replicateEffect(many.erase, 3), [512, 88, 0])
      assert.deepStrictEqual(yield* RawLog.records(root), [])

      const large = yield* ErasableDomain.make(6, 1_500_000, root)
      yield* large.remove
      assert.deepStrictEqual(yield* Effect.replicateEffect(large.erase, 3), [3, 3, 0])
      assert.deepStrictEqual(yield* RawLog.records(root), [])
    })
  )

  it.effect("by one of several workers each, and by another one 1 min after the first died", () =>
    Effect.gen(function* () {
      const root = yield* ErasableDomain.folder
      const { erase, remove, sql } = yield* ErasableDomain.make(3, 10, root)
      yield* remove
      // As after a kill.
      yield* sql`UPDATE raw_erasures SET due_at = now() + interval '1 minute'`
      assert.strictEqual(yield* erase, 0)
      assert.lengthOf(yield* RawLog.records(root), 3)
      yield* sql`UPDATE raw_erasures SET due_at = due_at - interval '1 minute'`
      assert.strictEqual(yield* erase, 3)
      assert.deepStrictEqual(yield* RawLog.records(root), [])
      assert.lengthOf(yield* erasures, 0)
    })
  )

  it.effect("again 1 min after a disk error, while other segments continue", () =>
    Effect.gen(function* () {
      const root = yield* ErasableDomain.folder
      const stuck = yield* ErasableDomain.make(2, 10, root)
      const other = yield* ErasableDomain.make(2, 10, root)
      yield* stuck.remove
      yield* other.remove
      renameSync(stuck.file, `${stuck.file}.away`)
      // No user can write to a folder.
      mkdirSync(stuck.file)
      const told: Array<string> = []
      const logger = Logger.layer([Logger.make(({ message }) => void told.push(String([message].flat()[0])))])
      yield* stuck.erase.pipe(Effect.provide(logger))
      assert.deepStrictEqual(told, ["Raw messages of a removed domain could not be erased. Inlet retries"])
      assert.strictEqual(yield* stuck.erase, 0)
      rmdirSync(stuck.file)
      renameSync(`${stuck.file}.away`, stuck.file)
      assert.lengthOf(yield* RawLog.records(root), 2)

      yield* stuck.sql`UPDATE raw_erasures SET due_at = due_at - interval '1 minute'`
      assert.strictEqual(yield* stuck.erase, 2)
      assert.deepStrictEqual(yield* RawLog.records(root), [])
    })
  )
})
