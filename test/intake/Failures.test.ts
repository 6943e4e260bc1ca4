import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Latch, Layer, Logger, Ref, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { EventFeed } from "../../src/delivery/EventFeed.ts"
import { Handover } from "../../src/delivery/Handover.ts"
import * as Inlet from "../../src/Inlet.ts"
import type { RawRef } from "../../src/model/InboundEmail.ts"
import { MailScanner } from "../../src/providers/scanner/MailScanner.ts"
import { RawStore } from "../../src/providers/storage/RawStore.ts"
import { RawStoreError } from "../../src/providers/storage/RawStoreError.ts"
import * as Segments from "../../src/providers/storage/Segments.ts"
import { eventually } from "../Eventually.ts"
import * as Mailbox from "../Mailbox.ts"
import * as Ports from "../Ports.ts"
import * as TestDatabase from "../TestDatabase.ts"

/** A raw store in memory. It can hang, or fail for some domains, and shows what it stores. */
class FailingStore extends Context.Service<
  FailingStore,
  {
    readonly failing: Ref.Ref<(ref: RawRef) => boolean>
    readonly kept: Ref.Ref<ReadonlySet<RawRef>>
    /** Closed while it hangs. */
    readonly works: Latch.Latch
  }
>()("inlet/test/FailingStore") {
  static readonly layer = Layer.effect(
    FailingStore,
    Effect.all({
      failing: Ref.make((_ref: RawRef): boolean => false),
      kept: Ref.make<ReadonlySet<RawRef>>(new Set()),
      works: Latch.make(true)
    })
  )

  static readonly layerStore = Layer.effect(
    RawStore,
    Effect.gen(function* () {
      const { failing, kept, works } = yield* FailingStore
      return RawStore.of({
        put: Effect.fnUntraced(function* (ref) {
          yield* works.await
          const fails = yield* Ref.get(failing)
          if (fails(ref)) return yield* new RawStoreError({ cause: "No space left on device" })
          yield* Ref.update(kept, (refs) => new Set(refs).add(ref))
          return null
        }),
        writable: Effect.void,
        owner: Effect.succeed,
        get: (ref) => new RawStoreError({ cause: `${ref} can't be read` }),
        remove: (ref) => Ref.update(kept, (refs) => new Set([...refs].filter((other) => other !== ref))),
        removeDomain: () => Effect.void,
        olderThan: () => Stream.empty,
        segments: Segments.none
      })
    })
  )
}

/** The messages of the log so far. */
const logged: Array<string> = []
const keepLog = Logger.make(({ message }) => void logged.push([message].flat().map(String).join(": ")))

/** Room for one large message. */
const memory = { MAX_MESSAGE_BYTES: "100000", SMTP_MAX_DATA_BYTES: "100000" }

class SmtpPort extends Context.Service<SmtpPort, number>()("inlet/test/SmtpPort") {}

const World = Layer.unwrap(
  Effect.gen(function* () {
    const port = yield* Ports.free
    return Layer.succeed(SmtpPort, port).pipe(
      Layer.provideMerge(Inlet.smtp),
      Layer.provide([EventFeed.layer, Handover.layerNone, MailScanner.layerNone, FailingStore.layerStore]),
      Layer.provideMerge(Layer.merge(TestDatabase.layer, FailingStore.layer)),
      Layer.provide(Logger.layer([keepLog])),
      Layer.provide(
        ConfigProvider.layerAdd(ConfigProvider.fromEnv({ env: { ...memory, SMTP_PORT: `${port}` } }), {
          asPrimary: true
        })
      )
    )
  })
)

const rows = Effect.fnUntraced(function* (domainId: string) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql`SELECT id FROM inbound_emails WHERE domain_id = ${domainId}`
})

const keptOf = (domainId: string) =>
  FailingStore.use(({ kept }) => Effect.map(Ref.get(kept), (refs) => [...refs].filter((ref) => ref.includes(domainId))))

const message = "Message-ID: <1@sender.example>\r\nSubject: kept or not\r\n\r\n"

layer(World, { excludeTestServices: true })("A message that cannot be stored", (it) => {
  it.effect("because the raw store fails is answered 451, and the next one is stored", () =>
    Effect.gen(function* () {
      const port = yield* SmtpPort
      const { failing } = yield* FailingStore
      const { address, domainId } = yield* Mailbox.attach("full-disk.example")
      yield* Ref.set(failing, () => true)
      const dialog = yield* Mailbox.begin(port, address)
      assert.match(yield* Mailbox.data(dialog, message), /^451 4\.3\.0 /)
      assert.deepStrictEqual(yield* rows(domainId), [])
      assert.strictEqual(yield* Mailbox.acceptedToday(domainId), 0)

      yield* Ref.set(failing, () => false)
      yield* dialog.say("MAIL FROM:<sender@sender.example>")
      yield* dialog.say(`RCPT TO:<${address}>`)
      assert.match(yield* Mailbox.data(dialog, message), /^250 /)
      assert.strictEqual((yield* rows(domainId)).length, 1)
      assert.strictEqual((yield* keptOf(domainId)).length, 1)
      assert.strictEqual(yield* Mailbox.acceptedToday(domainId), 1)
    })
  )

  it.effect("because the raw store hangs is answered 451, and keeps its memory until that ends", () =>
    Effect.gen(function* () {
      const port = yield* SmtpPort
      const { works } = yield* FailingStore
      const { address, domainId } = yield* Mailbox.attach("hanging-disk.example")
      const large = `Subject: large\r\n\r\n${`${"x".repeat(70)}\r\n`.repeat(1_000)}`
      yield* works.close
      assert.match(yield* Mailbox.deliver(port, address, large), /^451 4\.3\.0 /)
      assert.match(yield* Mailbox.deliver(port, address, large), /^452 /)
      yield* works.open
      const reply = Mailbox.deliver(port, address, large)
      yield* eventually(reply, (reply) => reply.startsWith("250 "))
      assert.strictEqual((yield* rows(domainId)).length, 1)
    }).pipe(Effect.ensuring(FailingStore.use(({ works }) => works.open)))
  )

  it.effect("for one of two workspaces is stored for neither", () =>
    Effect.gen(function* () {
      const port = yield* SmtpPort
      const { failing } = yield* FailingStore
      const lucky = yield* Mailbox.attach("lucky.example")
      const unlucky = yield* Mailbox.attach("unlucky.example")
      yield* Ref.set(failing, (ref) => ref.includes(unlucky.domainId))
      const to = [lucky.address, unlucky.address]
      assert.match(yield* Mailbox.deliver(port, to, message), /^451 /)
      assert.deepStrictEqual(yield* rows(lucky.domainId), [])
      assert.deepStrictEqual(yield* rows(unlucky.domainId), [])
      yield* Ref.set(failing, () => false)
      assert.match(yield* Mailbox.deliver(port, to, message), /^250 /)
      assert.strictEqual((yield* rows(lucky.domainId)).length, 1)
      assert.strictEqual((yield* rows(unlucky.domainId)).length, 1)
    })
  )

  it.effect("because the database refuses is answered 451, and its retry is stored once", () =>
    Effect.gen(function* () {
      const port = yield* SmtpPort
      const sql = yield* SqlClient.SqlClient
      const { address, domainId } = yield* Mailbox.attach("broken-table.example")
      const dialog = yield* Mailbox.begin(port, address)
      yield* sql`ALTER TABLE inbound_emails RENAME TO inbound_emails_away`
      const reply = yield* Mailbox.data(dialog, message)
      yield* sql`ALTER TABLE inbound_emails_away RENAME TO inbound_emails`
      assert.match(reply, /^451 4\.3\.0 /)
      assert.deepStrictEqual(yield* rows(domainId), [])
      assert.strictEqual(yield* Mailbox.acceptedToday(domainId), 0)

      assert.match(yield* Mailbox.deliver(port, address, message), /^250 /)
      assert.match(yield* Mailbox.deliver(port, address, message), /^250 /)
      assert.strictEqual((yield* rows(domainId)).length, 1)
    })
  )

  it.effect("is logged with its cause on the same line, for the batch and for the reply", () =>
    Effect.gen(function* () {
      const port = yield* SmtpPort
      const sql = yield* SqlClient.SqlClient
      const { address } = yield* Mailbox.attach("cause-of-451.example")
      const dialog = yield* Mailbox.begin(port, address)
      yield* sql`ALTER TABLE inbound_emails RENAME TO inbound_emails_away`
      const before = logged.length
      yield* Mailbox.data(dialog, message)
      yield* sql`ALTER TABLE inbound_emails_away RENAME TO inbound_emails`
      const cause = 'relation "inbound_emails" does not exist'
      const lines = yield* eventually(
        Effect.sync(() => logged.slice(before)),
        (lines) => lines.some((line) => line.startsWith("DATA was"))
      )
      assert.include(lines, `A batch of messages failed. Inlet stores one message alone: ${cause}`)
      assert.include(lines, `DATA was answered 451 4.3.0: ${cause}`)
    })
  )

  it.effect("because the recipient cannot be looked up is answered 451 at RCPT", () =>
    Effect.gen(function* () {
      const port = yield* SmtpPort
      const sql = yield* SqlClient.SqlClient
      const { address } = yield* Mailbox.attach("no-domains.example")
      yield* sql`ALTER TABLE domains RENAME TO domains_away`
      const { replies } = yield* Mailbox.begin(port, address)
      yield* sql`ALTER TABLE domains_away RENAME TO domains`
      assert.match(replies[0] ?? "", /^451 4\.3\.0 /)
      assert.match((yield* Mailbox.begin(port, address)).replies[0] ?? "", /^250 /)
    })
  )

  it.effect("by the raw store after its 250 is parsed from memory", () =>
    Effect.gen(function* () {
      const port = yield* SmtpPort
      const sql = yield* SqlClient.SqlClient
      const { address, domainId } = yield* Mailbox.attach("in-hand.example")
      assert.match(yield* Mailbox.deliver(port, address, message), /^250 /)
      yield* eventually(
        sql<{ readonly payload: string }>`SELECT payload FROM events WHERE domain_id = ${domainId}`,
        ([event]) => event?.payload.includes("kept or not") === true
      )
    })
  )
})
