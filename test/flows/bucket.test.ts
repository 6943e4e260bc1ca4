import { createHash } from "node:crypto"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import { Array, Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { RawStore } from "../../src/providers/storage/RawStore.ts"
import * as RawStoreFile from "../../src/providers/storage/RawStoreFile.ts"
import { eventually } from "../Eventually.ts"
import * as InletProcess from "../InletProcess.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import { type Mishap, S3Server } from "../simulators/S3Server.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

const InBucket = Layer.unwrap(Effect.map(S3Server, ({ settings }) => TestInlet.layer(settings))).pipe(
  Layer.provideMerge(S3Server.layer)
)

const message = (number: number) =>
  `Message-ID: <${number}@sender.example>\r\nSubject: mail ${number}\r\n\r\nIn a bucket.\r\n`

layer(Layer.merge(InBucket, WebhookReceiver.layer), { excludeTestServices: true })("With RAW_STORE=s3", (it) => {
  it.effect("a mail is in the bucket before its 250, reaches the webhook, and is read back by the API", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const server = yield* S3Server
      const receiver = yield* WebhookReceiver
      const inbox = yield* inlet.inbox(receiver.url)
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message(1)), /^250 /)
      const [key = "", ...others] = (yield* server.keys).filter((key) => key.includes(inbox.domainId))
      assert.deepStrictEqual(others, [])
      assert.isTrue((yield* server.bytes(key))?.toString().endsWith(message(1)))

      const { event } = yield* receiver.next
      assert.strictEqual(event.subject, "mail 1")
      const raw = yield* Mailbox.raw(inbox, event.event_id)
      assert.isTrue(raw.endsWith(message(1)))
      // The message is handed over in memory and not read back.
      assert.strictEqual(yield* server.reads(key), 1)
    })
  )

  for (const mishap of [
    "internal error",
    "hang",
    "login page",
    "cut request",
    "damaged request"
  ] satisfies Array<Mishap>) {
    it.effect(
      `a mail is answered 451 while the bucket fails (${mishap}), leaves no object, and is accepted afterwards`,
      () =>
        Effect.gen(function* () {
          const inlet = yield* TestInlet
          const server = yield* S3Server
          const receiver = yield* WebhookReceiver
          const inbox = yield* inlet.inbox(receiver.url)
          yield* server.always(mishap)
          assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message(2)), /^451 4\.3\.0 /)
          yield* server.always(undefined)
          assert.deepStrictEqual(yield* Mailbox.events(inbox), [])
          assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message(2)), /^250 /)
          assert.strictEqual((yield* receiver.next).event.subject, "mail 2")
          assert.lengthOf(yield* Mailbox.events(inbox), 1)
        }).pipe(Effect.ensuring(S3Server.use((server) => server.always(undefined))))
    )
  }

  it.effect("a mail is answered 250 by a retry after the bucket hangs once", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const server = yield* S3Server
      const inbox = yield* inlet.inbox()
      yield* server.mishaps("put", "hang")
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message(3)), /^250 /)
    })
  )

  it.effect("the API answers 503, not 404, while the bucket cannot read a message", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const server = yield* S3Server
      const receiver = yield* WebhookReceiver
      const { address, domainId, key } = yield* inlet.inbox(receiver.url)
      yield* Mailbox.deliver(inlet.smtpPort, address, message(4))
      const { event } = yield* receiver.next
      const raw = inlet.call("GET", `/api/domains/${domainId}/events/${event.event_id}/raw`, { key })
      for (const mishap of ["internal error", "login page", "page not found"] as const) {
        yield* server.always(mishap)
        const { headers, json, status } = yield* raw
        assert.deepStrictEqual(
          [status, headers["retry-after"], json],
          [503, "5", { error: "The raw message store does not answer. Retry in 5 s" }]
        )
      }
      yield* server.always(undefined)
      assert.strictEqual((yield* raw).status, 200)
    }).pipe(Effect.ensuring(S3Server.use((server) => server.always(undefined))))
  )

  it.effect("a removed domain removes its objects, also if the bucket fails at first", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const server = yield* S3Server
      const { address, domainId, key } = yield* inlet.inbox()
      yield* Effect.forEach(Array.range(1, 5), (number) =>
        Mailbox.deliver(inlet.smtpPort, address, message(10 + number))
      )
      const mine = Effect.map(server.keys, (keys) => keys.filter((name) => name.includes(domainId)))
      assert.lengthOf(yield* mine, 5)
      yield* server.mishaps("list", "internal error", "internal error", "internal error", "internal error")
      assert.strictEqual((yield* inlet.call("DELETE", `/api/domains/${domainId}`, { key })).status, 204)
      yield* eventually(mine, (keys) => keys.length === 0)
    })
  )

  it.effect(
    "a message in the log from before the bucket was configured is readable and is erased with its domain",
    () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const sql = yield* SqlClient.SqlClient
        const inbox = yield* inlet.inbox()
        yield* Mailbox.deliver(inlet.smtpPort, inbox.address, message(20))
        const [event] = yield* Mailbox.events(inbox)
        const log = yield* Layer.build(
          RawStoreFile.layer(`${inlet.folder}/raw`).pipe(Layer.provide(NodeServices.layer))
        )
        const place = yield* Context.get(log, RawStore).put(event.rawRef, [Buffer.from(message(21))])
        yield* sql`
          UPDATE inbound_emails SET segment = ${place?.segment ?? null}, raw_at = ${place?.at ?? null},
            raw_bytes = ${place?.bytes ?? null}, trace_bytes = 0,
            sha256 = ${createHash("sha256").update(message(21)).digest()}
          WHERE domain_id = ${inbox.domainId}
        `
        assert.isTrue((yield* Mailbox.raw(inbox, event.event_id)).endsWith(message(21)))
        yield* inlet.call("DELETE", `/api/domains/${inbox.domainId}`, { key: inbox.key })
        yield* eventually(Mailbox.onDisk(inbox.domainId), ({ length }) => length === 0)
      })
  )
})

describe("A process with an unreliable bucket", () => {
  it.live("loses no mail that it answered 250, also through kill -9", () =>
    Effect.gen(function* () {
      const server = yield* S3Server.make
      const receiver = yield* WebhookReceiver.make
      const settings = { ...(yield* InletProcess.installation), ...server.settings, LOG_LEVEL: "trace" }
      const first = yield* InletProcess.start(settings)
      const { address } = yield* first.inbox(receiver.url)
      yield* server.mishaps("put", ...Array.makeBy(30, (number) => mishaps[number % mishaps.length] ?? "slow down"))
      const answered = yield* Effect.filter(
        Array.range(1, 60),
        (number) => Effect.isSuccess(Mail.send(first.smtpPort, { to: address, subject: `mail ${number}` })),
        { concurrency: 4 }
      )
      yield* first.signal("SIGKILL")
      yield* first.ending
      assert.isAbove(answered.length, 30)
      assert.notInclude(yield* first.output, Redacted.value(server.secretAccessKey))

      yield* InletProcess.start(settings)
      // Another process takes over the work of the dead one after 60 s.
      const heard = yield* eventually(
        Effect.map(receiver.all, (all) => new Set(all.map(({ event }) => Number(/\d+/.exec(event.subject)?.[0])))),
        (numbers) => answered.every((number) => numbers.has(number)),
        "80 seconds"
      )
      assert.isAtLeast(heard.size, answered.length)
    })
  )
})

const mishaps: ReadonlyArray<Mishap> = ["internal error", "slow down", "cut request", "cut answer", "damaged request"]
