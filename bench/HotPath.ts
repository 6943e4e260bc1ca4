import { createHash, randomUUID } from "node:crypto"
import { Clock, Effect } from "effect"
import { DeliveryQueue } from "../src/delivery/DeliveryQueue.ts"
import { WebhookSender } from "../src/delivery/WebhookSender.ts"
import * as InboundEmails from "../src/intake/InboundEmails.ts"
import * as Mime from "../src/mime/Mime.ts"
import { DomainName } from "../src/model/Domain.ts"
import { InboundEmailId, rawRef } from "../src/model/InboundEmail.ts"
import { EventId } from "../src/model/InboundEvent.ts"
import { catchAll, catchAllOf } from "../src/model/Webhook.ts"
import { WebhookSigner } from "../src/providers/signing/WebhookSigner.ts"
import { RawStore } from "../src/providers/storage/RawStore.ts"
import * as EventPayload from "../src/reading/EventPayload.ts"
import * as EventWriter from "../src/reading/EventWriter.ts"
import * as Insight from "../src/reading/Insight.ts"
import * as SenderCheck from "../src/sender/SenderCheck.ts"
import * as Deliveries from "../test/delivery/Deliveries.ts"
import * as Marker from "./Marker.ts"
import * as Messages from "./Messages.ts"

/** One step of the work, measured alone. */
export interface Part {
  readonly name: string
  /** The number of concurrent runs. */
  readonly atATime: number
  readonly count: number
  /** Prepares the input before the clock starts. */
  readonly prepare?: (count: number) => Effect.Effect<void>
  readonly once: (number: number) => Effect.Effect<unknown>
}

const envelope = { from: "sender@sender.example", helo: "generator.example", remoteAddress: "127.0.0.1" }
const kinds: ReadonlyArray<Messages.Kind> = ["small", "medium", "large"]
const sizes = { small: "4 KB", medium: "30 KB", large: "300 KB" }
const recipient = "somebody@bench.example"
const authservId = "mx.bench.example"
const receivedAt = "2026-10-31T12:00:00.000Z"

const messageOf = (kind: Messages.Kind) =>
  Buffer.concat([Buffer.from(Messages.head(Marker.make(0, 0), recipient)), Messages.body[kind]])

/** All steps, with a database and a store of their own. Deliveries go to `webhook`. */
export const make = Effect.fnUntraced(function* (webhook: string, count: number) {
  const raw = yield* RawStore
  const sender = yield* WebhookSender
  const signer = yield* WebhookSigner
  const queue = yield* DeliveryQueue
  const domain = yield* Deliveries.domain(webhook)
  const insert = yield* InboundEmails.make({ emailsPerDay: 0 })
  const makeEvents = yield* EventWriter.make
  const check = SenderCheck.make({ nameServers: ["127.0.0.1:9"], authservId })

  const received = kinds.map((kind) => ({ kind, contents: Mime.read(messageOf(kind)) }))
  const render = (contents: Mime.Contents) => {
    const inboundEmailId = InboundEmailId.make(randomUUID())
    const eventId = EventId.make(randomUUID())
    const { payload, ...listing } = EventPayload.render({
      eventId,
      inboundEmailId,
      domain: DomainName.make("bench.example"),
      recipient,
      route: { id: catchAllOf(domain.id), pattern: catchAll },
      envelope,
      receivedAt,
      rawRef: rawRef(domain.id, inboundEmailId),
      sha256: Buffer.alloc(32),
      contents,
      insight: Insight.of(contents, envelope.from),
      authentication: SenderCheck.unchecked.authentication,
      trust: { aligned: false, rule: null, reasons: ["not_checked"] },
      authservId,
      messageBytes: contents.text.length
    })
    const { subject } = contents
    return {
      id: eventId,
      webhookId: catchAllOf(domain.id),
      recipient,
      sender: envelope.from,
      subject,
      hold: null,
      ...listing,
      payload: Buffer.from(payload)
    }
  }
  const [small] = received
  if (small === undefined) return yield* Effect.die("no message")
  const secrets = { current: domain.signingSecret, previous: undefined }

  const written = (read: EventWriter.ReadMessage) => Effect.orDie(makeEvents(read))

  /** An accepted message of 4 KB. */
  const accept = Effect.gen(function* () {
    const id = InboundEmailId.make(randomUUID())
    const receivedAt = yield* Clock.currentTimeMillis
    const mail = {
      id,
      domainId: domain.id,
      domain: DomainName.make("bench.example"),
      workspaceId: null,
      envelope,
      recipients: [],
      readRecipients: 0,
      receivedAt,
      sha256: Buffer.alloc(32),
      traceBytes: 200,
      message: undefined,
      place: null,
      storedMs: null,
      bytes: 4_096,
      rules: [],
      spamAction: "tag" as const,
      verdicts: null,
      attempt: 1
    }
    yield* Effect.orDie(
      insert({ mail, recipient, envelope, tls: null, key: createHash("sha256").update(id).digest(), isOurs: true })
    )
    return {
      id,
      domainId: domain.id,
      authenticationResults: null,
      storedMs: null,
      readRecipients: 0,
      isLast: true,
      events: [render(small.contents)]
    }
  })
  let waiting: Array<EventWriter.ReadMessage> = []
  const receivedButUnread = Effect.fnUntraced(function* (many: number) {
    waiting = yield* Effect.replicateEffect(accept, many, { concurrency: 64 })
  })
  const pending = (many: number) =>
    Effect.asVoid(Effect.replicateEffect(Effect.flatMap(accept, written), many, { concurrency: 64 }))
  const claim = Effect.fnUntraced(function* (most: number) {
    const waiting = yield* queue.waiting
    return yield* queue.claim(new Map(waiting.map(({ webhookId }) => [webhookId, most])), 1024 ** 3)
  })
  let claimed: Array<Effect.Success<ReturnType<typeof claim>>[number]> = []
  const leased = Effect.fnUntraced(function* (many: number) {
    yield* pending(many)
    claimed = [...(yield* Effect.orDie(claim(many)))]
  })
  const outcome = {
    statusCode: 200,
    error: null,
    durationMs: 3,
    responseBody: '{"ok":true}',
    retryAfter: null,
    isFinal: false
  }

  let unread: Array<Mime.Contents> = []
  /** The derived fields of an event: code, links, reply, sender kind and visible text. */
  const content = (name: string, mix: Messages.Mix): Part => ({
    name: `read the content, ${name}`,
    atATime: 1,
    count,
    prepare: (many) =>
      Effect.sync(() => {
        unread = Array.from({ length: many }, (_, number) => Mime.read(messageOf(Messages.kindOf(mix, number))))
      }),
    once: () =>
      Effect.sync(() => {
        const contents = unread.pop()
        return contents && [contents.extracted(), Insight.of(contents, envelope.from)]
      })
  })

  const parts: ReadonlyArray<Part> = [
    ...kinds.map((kind): Part => {
      const message = messageOf(kind)
      return { name: `parse, ${sizes[kind]}`, atATime: 1, count, once: () => Effect.sync(() => Mime.read(message)) }
    }),
    content("4 KB", ["small"]),
    content("30 KB", ["medium"]),
    content("mixed", Messages.mixed),
    {
      name: "check the sender, 4 KB, DNS refuses",
      atATime: 1,
      count,
      once: () => Effect.promise(() => check({ envelope, bytes: messageOf("small"), receivedAt }))
    },
    ...received.map(
      ({ contents, kind }): Part => ({
        name: `make the payload, ${sizes[kind]}`,
        atATime: 1,
        count,
        once: () => Effect.sync(() => render(contents))
      })
    ),
    ...received.slice(0, 2).map(({ contents, kind }): Part => {
      const { id, payload } = render(contents)
      const body = Buffer.from(payload)
      return {
        name: `sign, ${sizes[kind]}`,
        atATime: 1,
        count,
        once: () =>
          Effect.orDie(
            signer.sign({ workspaceId: domain.workspaceId, eventId: id, body, secrets, seconds: 1_800_000_000 })
          )
      }
    }),
    ...kinds.flatMap((kind) =>
      [1, 32].map((atATime): Part => {
        const message = [messageOf(kind)]
        return {
          name: `raw write, ${sizes[kind]}`,
          atATime,
          count,
          once: () => Effect.orDie(raw.put(rawRef(domain.id, InboundEmailId.make(randomUUID())), message))
        }
      })
    ),
    ...[1, 16].map((atATime): Part => ({ name: "insert", atATime, count, once: () => accept })),
    ...[1, 16].map(
      (atATime): Part => ({
        name: "events of a message",
        atATime,
        count,
        prepare: receivedButUnread,
        once: (number) => {
          const read = waiting[number]
          return read === undefined ? Effect.void : written(read)
        }
      })
    ),
    { name: "claim, one by one", atATime: 1, count, prepare: pending, once: () => Effect.orDie(claim(1)) },
    {
      name: "claim, 16 at once",
      atATime: 1,
      count: Math.ceil(count / 16),
      prepare: (many) => pending(many * 16),
      once: () => Effect.orDie(claim(16))
    },
    ...[1, 16].map(
      (atATime): Part => ({
        name: "settle",
        atATime,
        count,
        prepare: leased,
        once: Effect.fnUntraced(function* (number) {
          const lease = claimed[number]
          const requestedAt = yield* Clock.currentTimeMillis
          if (lease !== undefined) yield* Effect.orDie(queue.settle(lease, outcome, requestedAt))
        })
      })
    ),
    ...[1, 16].map((atATime): Part => {
      const { id, payload } = render(small.contents)
      return {
        name: "POST, signing included, 4 KB",
        atATime,
        count,
        once: () =>
          sender.send({
            url: webhook,
            eventId: id,
            payload: Buffer.from(payload),
            secrets,
            workspaceId: domain.workspaceId
          })
      }
    })
  ]
  return parts
})
