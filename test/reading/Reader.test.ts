import { createHash } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Context, Duration, Effect, FileSystem, Layer, Metric } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { EventFeed } from "../../src/delivery/EventFeed.ts"
import { Handover } from "../../src/delivery/Handover.ts"
import { DomainId, DomainName } from "../../src/model/Domain.ts"
import { InboundEmailId, rawRef } from "../../src/model/InboundEmail.ts"
import { EventId } from "../../src/model/InboundEvent.ts"
import * as Uuid7 from "../../src/model/Uuid7.ts"
import { catchAll, catchAllOf } from "../../src/model/Webhook.ts"
import { MailScanner } from "../../src/providers/scanner/MailScanner.ts"
import { RawStore } from "../../src/providers/storage/RawStore.ts"
import * as RawStoreFile from "../../src/providers/storage/RawStoreFile.ts"
import type { Mail } from "../../src/reading/Mail.ts"
import { Lost } from "../../src/reading/MissingMessages.ts"
import { Reader } from "../../src/reading/Reader.ts"
import { eventually } from "../Eventually.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

const messageOf = (subject: string) =>
  Buffer.from(
    `Return-Path: <>\r\nReceived: from a by b\r\nFrom: ada@sender.example\r\nSubject: ${subject}\r\n\r\nbody\r\n`
  )

/** The row after a crash following its 250. `lease` is the remaining lease of the dead reader. */
const leftOver = Effect.fnUntraced(function* (options: {
  readonly domainId: string
  readonly recipients: ReadonlyArray<string>
  readonly message?: Uint8Array
  readonly attempts?: number
  readonly lease?: string
}) {
  const sql = yield* SqlClient.SqlClient
  const message = options.message ?? messageOf("left over")
  const rows = yield* sql<{ readonly id: string }>`
    INSERT INTO inbound_emails (
      id, domain_id, received_at, sha256, mail_from, helo, remote_address, recipients, state, read_attempts, leased_until, trace_bytes
    )
    VALUES (
      gen_random_uuid(), ${options.domainId}, now() - interval '5 minutes', ${createHash("sha256").update(message).digest()},
      'bounce@sender.example', 'client.example', '203.0.113.9', ${options.recipients}::text[], 'received',
      ${options.attempts ?? 1}, now() + ${options.lease ?? "-1 second"}::interval, 0
    )
    RETURNING id
  `
  return InboundEmailId.make(rows[0]?.id ?? "")
})

const state = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{
    readonly state: string
    readonly leased: boolean
    readonly held: boolean
    readonly readAttempts: number
  }>`
    SELECT state, leased_until IS NOT NULL AS leased, leased_until > now() AS held, read_attempts FROM inbound_emails WHERE id = ${id}
  `
  return rows[0]
})

/** The seconds of its lease that are left. */
const leaseOf = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly seconds: number }>`
    SELECT coalesce(extract(epoch FROM leased_until - now()), 0)::float8 AS seconds FROM inbound_emails WHERE id = ${id}
  `
  return row?.seconds ?? 0
})

const untilRead = (id: string) => eventually(state(id), (row) => row?.state === "read")

const endLease = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE inbound_emails SET leased_until = now() - interval '1 second' WHERE id = ${id}`
})

/** The path of a raw message in a TestInlet. */
const fileOf = Effect.fnUntraced(function* (domainId: string, id: InboundEmailId) {
  const fs = yield* FileSystem.FileSystem
  const { folder } = yield* TestInlet
  const file = `${folder}/raw/${rawRef(DomainId.make(domainId), id)}`
  yield* fs.makeDirectory(`${folder}/raw/inbound/${domainId}`, { recursive: true })
  return { fs, file }
}, Effect.provide(NodeServices.layer))

/** The row has this SHA-256. */
const isOf = Effect.fnUntraced(function* (id: InboundEmailId, message: Uint8Array) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE inbound_emails SET sha256 = ${createHash("sha256").update(message).digest()} WHERE id = ${id}`
})

const keep = Effect.fnUntraced(function* (domainId: string, id: InboundEmailId, message: Uint8Array) {
  const { file, fs } = yield* fileOf(domainId, id)
  yield* isOf(id, message)
  yield* fs.writeFile(file, message)
})

/** Appends it to the log, as another process of this version would. Returns the segment file. */
const keepInLog = Effect.fnUntraced(function* (domainId: string, id: InboundEmailId, message: Uint8Array) {
  const { folder } = yield* TestInlet
  const sql = yield* SqlClient.SqlClient
  const store = yield* Layer.build(RawStoreFile.layer(`${folder}/raw`).pipe(Layer.provide(NodeServices.layer)))
  const place = yield* Context.get(store, RawStore).put(rawRef(DomainId.make(domainId), id), [message])
  yield* isOf(id, message)
  yield* sql`
    UPDATE inbound_emails SET segment = ${place?.segment ?? null}, raw_at = ${place?.at ?? null},
      raw_bytes = ${place?.bytes ?? null}
    WHERE id = ${id}
  `
  return `${folder}/raw/segments/${place?.segment}.seg`
})

/** Changes to a file by a faulty disk or an attacker. */
const damages: ReadonlyArray<readonly [what: string, damage: (whole: Buffer) => Buffer]> = [
  ["truncated", (whole) => whole.subarray(0, -3)],
  ["emptied", () => Buffer.alloc(0)],
  ["overwritten in part", (whole) => Buffer.from(whole.toString("latin1").replace("whole", "whale"), "latin1")],
  ["overwritten with zeros", (whole) => Buffer.alloc(whole.byteLength)],
  ["overwritten with another message", () => messageOf("another")]
]

const stores = [
  ["the log", keepInLog],
  [
    "a file of its own",
    (domainId: string, id: InboundEmailId, message: Uint8Array) =>
      Effect.andThen(
        keep(domainId, id, message),
        Effect.map(fileOf(domainId, id), ({ file }) => file)
      )
  ]
] as const

const damagedUntilNow = Effect.map(Metric.snapshot, (all) =>
  all.reduce(
    (sum, metric) =>
      metric.id === "inlet_raw_damaged_total" && metric.type === "Counter" ? sum + Number(metric.state.count) : sum,
    0
  )
)

/** The reader of another process on the same database and raw store. */
const another = Effect.gen(function* () {
  const { folder } = yield* TestInlet
  const store = RawStoreFile.layer(`${folder}/raw`).pipe(Layer.provide(NodeServices.layer))
  const built = yield* Layer.build(
    Layer.fresh(Reader.layer).pipe(Layer.provide([store, EventFeed.layer, Handover.layerNone, MailScanner.layerNone]))
  )
  return Context.get(built, Reader)
})

/** A message at the end of DATA. */
const mailOf = (id: InboundEmailId, domainId: string, domain: string): Mail => {
  const message = Uint8Array.from(messageOf("in hand"))
  return {
    id,
    domainId: DomainId.make(domainId),
    domain: DomainName.make(domain),
    workspaceId: null,
    sha256: createHash("sha256").update(message).digest(),
    traceBytes: 0,
    rules: [],
    spamAction: "tag",
    verdicts: null,
    envelope: { from: "", helo: "client.example", remoteAddress: "203.0.113.9" },
    recipients: [
      {
        eventId: EventId.make(SecureRandom.uuidV7Unsafe()),
        address: `someone@${domain}`,
        route: { id: catchAllOf(DomainId.make(domainId)), pattern: catchAll, action: "webhook" }
      }
    ],
    readRecipients: 0,
    receivedAt: 1_770_000_000_000,
    attempt: 1,
    message,
    place: null,
    storedMs: null,
    bytes: message.byteLength
  }
}

/** A domain with unparsed mail. */
const backlog = Effect.fnUntraced(function* (name: string, size: number, lease: string) {
  const { address, domainId } = yield* Mailbox.attach(name)
  const ids = yield* Effect.forEach(Array.from({ length: size }), () =>
    Effect.tap(leftOver({ domainId, recipients: [address], lease: "1 hour" }), (id) =>
      keep(domainId, id, messageOf("backlog"))
    )
  )
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE inbound_emails SET leased_until = now() + ${lease}::interval WHERE domain_id = ${domainId}`
  return { domainId, ids }
})

layer(Layer.merge(TestInlet.layer(), WebhookReceiver.layer), { excludeTestServices: true })("The reader", (it) => {
  it.effect("holds the mail of a domain without a webhook, and parses that of others beside it", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const sql = yield* SqlClient.SqlClient
      const damaged = yield* inlet.inbox()
      const inbox = yield* inlet.inbox(receiver.url)
      yield* sql`DELETE FROM webhooks WHERE domain_id = ${damaged.domainId}`
      const ids = yield* Effect.forEach([damaged, inbox], ({ address, domainId }) =>
        Effect.tap(leftOver({ domainId, recipients: [address], lease: "1 hour" }), (id) =>
          keep(domainId, id, messageOf("beside"))
        )
      )
      yield* Effect.forEach(ids, endLease)
      yield* Effect.forEach(ids, untilRead)
      assert.strictEqual((yield* receiver.next).event.subject, "beside")
      assert.lengthOf(yield* sql`SELECT 1 FROM deliveries WHERE domain_id = ${damaged.domainId} AND status = 'held'`, 1)
      // Its senders retry, and those of other domains in the same statement are answered.
      assert.match(yield* inlet.send({ to: damaged.address }), /^451 /)
      assert.match(yield* inlet.send({ to: inbox.address }), /^250 /)
      yield* receiver.next
    })
  )

  it.effect("parses and delivers messages left by a crash", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const inbox = yield* inlet.inbox(receiver.url)
      const recipients = [`one@${inbox.domain}`, `two@${inbox.domain}`]
      const id = yield* leftOver({ domainId: inbox.domainId, recipients, lease: "1 hour" })
      yield* keep(inbox.domainId, id, messageOf("left over"))
      yield* endLease(id)
      const delivered = [yield* receiver.next, yield* receiver.next].map(({ event }) => event)
      assert.deepStrictEqual(delivered.map(({ recipient }) => recipient).sort(), recipients)
      for (const event of delivered) {
        assert.deepInclude(event, {
          inbound_email_id: id,
          subject: "left over",
          from: "ada@sender.example",
          parse: "full",
          rawRef: `inbound/${inbox.domainId}/${id}.eml`
        })
        assert.deepStrictEqual(event.envelope, {
          from: "bounce@sender.example",
          helo: "client.example",
          remoteAddress: "203.0.113.9"
        })
        // The time of the mail, not that of its parsing.
        assert.strictEqual(Uuid7.timeOf(event.event_id), Uuid7.timeOf(id))
      }
      assert.deepInclude(yield* state(id), { state: "read", leased: false })
    })
  )

  it.effect("continues behind the recipients whose events a terminated process wrote", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* inlet.inbox()
      const recipients = ["one", "two", "three"].map((name) => `${name}@${inbox.domain}`)
      const id = yield* leftOver({ domainId: inbox.domainId, recipients, lease: "1 hour" })
      yield* keep(inbox.domainId, id, messageOf("in parts"))
      yield* sql`UPDATE inbound_emails SET read_recipients = 1 WHERE id = ${id}`
      yield* endLease(id)
      yield* untilRead(id)
      const events = yield* Mailbox.events(inbox)
      assert.deepStrictEqual(
        events.map(({ recipient }) => recipient),
        recipients.slice(1)
      )
    })
  )

  it.effect("writes no event for recipients whose events another process wrote meanwhile", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* inlet.inbox()
      const { read } = yield* another
      const recipients = ["someone", "other"].map((name) => `${name}@${inbox.domain}`)
      const id = yield* leftOver({ domainId: inbox.domainId, recipients, lease: "1 hour" })
      yield* sql`UPDATE inbound_emails SET read_recipients = 1 WHERE id = ${id}`
      yield* read(mailOf(id, inbox.domainId, inbox.domain))
      assert.lengthOf(yield* sql`SELECT 1 FROM events WHERE domain_id = ${inbox.domainId}`, 0)
      assert.deepInclude(yield* state(id), { state: "received" })
    })
  )

  it.effect("parses messages from the log of a terminated process", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const options = { domainId: inbox.domainId, recipients: [inbox.address], lease: "1 hour" }
      const ids = yield* Effect.replicateEffect(leftOver(options), 3)
      for (const [number, id] of ids.entries()) {
        yield* keepInLog(inbox.domainId, id, messageOf(`in the log ${number}`))
        yield* endLease(id)
        yield* untilRead(id)
      }
      assert.deepStrictEqual(
        (yield* Mailbox.events(inbox)).map(({ parse, subject }) => [parse, subject]),
        [0, 1, 2].map((number) => ["full", `in the log ${number}`])
      )
    })
  )

  for (const [what, damage] of damages) {
    for (const [where, store] of stores) {
      it.effect(
        `makes an event of the envelope of a message in ${where} that was ${what}, and serves no bytes of it`,
        () =>
          Effect.gen(function* () {
            const inlet = yield* TestInlet
            const { key, ...inbox } = yield* inlet.inbox()
            const id = yield* leftOver({ domainId: inbox.domainId, recipients: [inbox.address], lease: "1 hour" })
            const file = yield* store(inbox.domainId, id, messageOf("whole"))
            const whole = readFileSync(file)
            writeFileSync(file, damage(whole))
            const before = yield* damagedUntilNow
            yield* endLease(id)
            yield* untilRead(id)
            const [event] = yield* Mailbox.events({ ...inbox, key })
            assert.deepInclude(event, { parse: "headers", from: "bounce@sender.example", subject: "", text: "" })
            const path = `/api/domains/${inbox.domainId}/events/${event.event_id}`
            for (const what of ["raw", "attachments/0"]) {
              const { json, status } = yield* inlet.call("GET", `${path}/${what}`, { key })
              assert.strictEqual(status, 500)
              assert.match(json.error, /damaged.*from a backup/)
            }
            assert.strictEqual((yield* damagedUntilNow) - before, 3)
            writeFileSync(file, whole)
            assert.strictEqual((yield* inlet.call("GET", `${path}/raw`, { key })).status, 200)
          })
      )
    }
  }

  it.effect("skips messages leased by another reader", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const held = yield* leftOver({ domainId: inbox.domainId, recipients: [inbox.address], lease: "1 hour" })
      yield* keep(inbox.domainId, held, messageOf("held"))
      const free = yield* leftOver({ domainId: inbox.domainId, recipients: [inbox.address], lease: "1 hour" })
      yield* keep(inbox.domainId, free, messageOf("free"))
      yield* endLease(free)
      yield* untilRead(free)
      assert.deepInclude(yield* state(held), { state: "received", readAttempts: 1 })
      yield* endLease(held)
      yield* untilRead(held)
      assert.deepStrictEqual(
        (yield* Mailbox.events(inbox)).map(({ subject }) => subject),
        ["free", "held"]
      )
    })
  )

  it.effect("parses a message in full whose raw message is missing, and comes back within a day", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const id = yield* leftOver({ domainId: inbox.domainId, recipients: [inbox.address] })
      yield* eventually(state(id), (row) => row?.held === true)
      yield* eventually(state(id), (row) => row?.readAttempts === 1)
      // The next look is ten minutes later.
      yield* eventually(leaseOf(id), (seconds) => seconds > 500)
      yield* keep(inbox.domainId, id, messageOf("mounted again"))
      yield* endLease(id)
      yield* untilRead(id)
      const [event] = yield* Mailbox.events(inbox)
      assert.deepInclude(event, { parse: "full", subject: "mounted again" })
    })
  )

  it.effect("makes an event of the envelope if the raw message is missing for a day", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* inlet.inbox()
      const id = yield* leftOver({ domainId: inbox.domainId, recipients: [inbox.address], lease: "1 hour" })
      yield* sql`UPDATE inbound_emails SET received_at = received_at - interval '25 hours' WHERE id = ${id}`
      yield* endLease(id)
      // A machine that was off for days may mount the folder late.
      yield* eventually(leaseOf(id), (seconds) => seconds > 500)
      const { claimLeftOver } = yield* Effect.provideService(another, Lost, {
        age: Duration.days(1),
        uptime: Duration.zero
      })
      const look = Effect.gen(function* () {
        yield* endLease(id)
        yield* Effect.forEach(yield* claimLeftOver([]), ({ read }) => read)
        return yield* state(id)
      })
      // The service itself may claim it first.
      yield* eventually(look, (row) => row?.state === "read")
      const [event] = yield* Mailbox.events(inbox)
      assert.deepInclude(event, {
        recipient: inbox.address,
        from: "bounce@sender.example",
        subject: "",
        text: "",
        message_id: null
      })
      const answer = yield* inlet.call("GET", `/api/domains/${inbox.domainId}/events/${event.event_id}/raw`, {
        key: inbox.key
      })
      assert.strictEqual(answer.status, 404)
    })
  )

  it.effect("makes an event of the header alone after a message crashed two readers", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const third = yield* leftOver({
        domainId: inbox.domainId,
        recipients: [inbox.address],
        attempts: 2,
        lease: "1 hour"
      })
      yield* keep(inbox.domainId, third, messageOf("third time"))
      const second = yield* leftOver({
        domainId: inbox.domainId,
        recipients: [inbox.address],
        attempts: 1,
        lease: "1 hour"
      })
      yield* keep(inbox.domainId, second, messageOf("second time"))
      yield* endLease(third)
      yield* untilRead(third)
      yield* endLease(second)
      yield* untilRead(second)
      assert.deepStrictEqual(
        (yield* Mailbox.events(inbox)).map(({ from, parse, subject, text }) => [subject, parse, from, text]),
        [
          ["third time", "headers", "ada@sender.example", ""],
          ["second time", "full", "ada@sender.example", "body\n"]
        ]
      )
    })
  )

  it.effect("continues after a failed message and retries it after its lease", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const broken = yield* leftOver({ domainId: inbox.domainId, recipients: [inbox.address], lease: "1 hour" })
      const { file, fs } = yield* fileOf(inbox.domainId, broken)
      yield* fs.makeDirectory(file)
      yield* endLease(broken)
      const whole = yield* leftOver({ domainId: inbox.domainId, recipients: [inbox.address], lease: "1 hour" })
      yield* keep(inbox.domainId, whole, messageOf("whole"))
      yield* endLease(whole)
      yield* untilRead(whole)
      // After any number of failed attempts it is parsed in full.
      for (let times = 0; times < 5; times++) {
        yield* endLease(broken)
        yield* eventually(state(broken), (row) => row?.held === true && row.readAttempts === 1)
      }

      yield* fs.remove(file, { recursive: true })
      yield* keep(inbox.domainId, broken, messageOf("mended"))
      yield* endLease(broken)
      yield* untilRead(broken)
      assert.deepStrictEqual(
        (yield* Mailbox.events(inbox)).map(({ parse, subject }) => [subject, parse]),
        [
          ["whole", "full"],
          ["mended", "full"]
        ]
      )
    })
  )

  it.effect("makes an event of mail with a 12,000-character sender and a 20,000-character Message-ID", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      // Incompressible, because an index entry is compressed.
      const noise = (length: number) =>
        Array.from({ length: Math.ceil(length / 64) }, (_, block) =>
          createHash("sha256").update(`${block}`).digest("hex")
        )
          .join("")
          .slice(0, length)
      const local = noise(9_000)
      const dialog = yield* Mailbox.begin(inlet.smtpPort, [inbox.address, `${local}@${inbox.domain}`])
      const message = [
        `From: <${noise(12_000)}@sender.example>`,
        `Message-ID: <${noise(20_000)}@sender.example>`,
        "Subject: no table was made for this",
        "",
        ""
      ].join("\r\n")
      assert.match(yield* Mailbox.data(dialog, message), /^250 /)
      const [event] = yield* Mailbox.events(inbox)
      assert.strictEqual(event?.subject, "no table was made for this")
      assert.strictEqual(event.message_id.length, 20_000 + "<@sender.example>".length)
    })
  )

  it.effect("shares a backlog with other readers without parsing a message twice", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { domainId } = yield* backlog("shared.example", 60, "-1 second")
      const readers = yield* Effect.replicateEffect(another, 4)
      const all = (one: Reader["Service"]) =>
        one.claimLeftOver([]).pipe(
          Effect.tap((claimed) => Effect.forEach(claimed, ({ read }) => read, { concurrency: "unbounded" })),
          Effect.repeat({ until: (claimed) => claimed.length === 0 })
        )
      yield* Effect.forEach(readers, all, { concurrency: "unbounded" })
      const events = yield* eventually(
        sql<{ readonly inboundEmailId: string; readonly position: bigint }>`
            SELECT inbound_email_id, position FROM events WHERE domain_id = ${domainId} ORDER BY position
          `,
        (found) => found.length >= 60
      )
      assert.strictEqual(new Set(events.map(({ inboundEmailId }) => inboundEmailId)).size, 60)
      assert.deepStrictEqual(
        events.map(({ position }) => Number(position)),
        Array.from({ length: 60 }, (_, index) => index + 1)
      )
    })
  )

  it.effect("makes the events of a message once if it is parsed twice concurrently", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { domainId, ids } = yield* backlog("twice.example", 30, "1 hour")
      const reader = yield* another
      // Twice each, as after a lease expired and its message was claimed again.
      yield* Effect.forEach(
        [...ids, ...ids],
        (id) => {
          const mail = mailOf(id, domainId, "twice.example")
          assert.isTrue(reader.reserve(mail))
          return reader.read(mail)
        },
        { concurrency: "unbounded" }
      )
      yield* eventually(
        sql`SELECT 1 FROM inbound_emails WHERE domain_id = ${domainId} AND state = 'received'`,
        (left) => left.length === 0
      )
      const events = yield* sql<{ readonly inboundEmailId: string }>`
          SELECT inbound_email_id FROM events WHERE domain_id = ${domainId}
        `
      assert.deepStrictEqual(events.map(({ inboundEmailId }) => inboundEmailId).sort(), ids.toSorted())
    })
  )

  it.effect("has its memory back after a message, also if some of its recipients had the message already", () =>
    Effect.gen(function* () {
      const { domainId } = yield* backlog("memory.example", 0, "1 hour")
      const reader = yield* another
      for (let round = 0; round < 20; round++) {
        const mail = {
          ...mailOf(InboundEmailId.make(SecureRandom.uuidV7Unsafe()), domainId, "memory.example"),
          bytes: 8 * 1024 * 1024
        }
        assert.isTrue(reader.reserve(mail), `${round}`)
        yield* reader.read({ ...mail, recipients: [], message: undefined })
      }
    })
  )

  it.effect("returns its messages at once on a stop, and another reader continues", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { domainId, ids } = yield* backlog("stopping.example", 40, "1 hour")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const stopping = yield* another
          for (const id of ids) {
            const mail = mailOf(id, domainId, "stopping.example")
            assert.isTrue(stopping.reserve(mail))
            yield* Effect.forkScoped(stopping.read(mail), { startImmediately: true })
          }
        })
      )
      const events = yield* eventually(
        sql<{ readonly inboundEmailId: string }>`SELECT inbound_email_id FROM events WHERE domain_id = ${domainId}`,
        (found) => found.length >= ids.length
      )
      assert.deepStrictEqual(events.map(({ inboundEmailId }) => inboundEmailId).sort(), ids.toSorted())
    })
  )
})
