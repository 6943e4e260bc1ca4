import type { ServerResponse } from "node:http"
import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Exit, FileSystem, Layer, Logger, Option } from "effect"
import { SqlClient } from "effect/sql"
import { DeliveryQueue } from "../../src/delivery/DeliveryQueue.ts"
import * as DeliveryWorker from "../../src/delivery/DeliveryWorker.ts"
import { EventFeed } from "../../src/delivery/EventFeed.ts"
import { Handover } from "../../src/delivery/Handover.ts"
import type { SealedDelivery } from "../../src/delivery/Lease.ts"
import { WebhookSender } from "../../src/delivery/WebhookSender.ts"
import type { DomainId } from "../../src/model/Domain.ts"
import { catchAllOf } from "../../src/model/Webhook.ts"
import * as Resolver from "../../src/providers/dns/Resolver.ts"
import { WebhookSigner } from "../../src/providers/signing/WebhookSigner.ts"
import { Workspaces } from "../../src/workspaces/Workspaces.ts"
import { eventually } from "../Eventually.ts"
import * as TestDatabase from "../TestDatabase.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"
import * as Deliveries from "./Deliveries.ts"

const settings = Layer.provide(
  Layer.unwrap(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const env = {
        DATA_DIR: yield* fs.makeTempDirectoryScoped({ prefix: "inlet-test-" }),
        SECRETS_KEY: Buffer.alloc(32, 5).toString("base64"),
        DELIVERY_CONCURRENCY_PER_WEBHOOK: "2"
      }
      return ConfigProvider.layer(ConfigProvider.fromEnv({ env }))
    })
  ).pipe(Layer.provide(NodeServices.layer))
)

/** A separate worker, and the deliveries handed to it. */
const start = Effect.map(
  Layer.build(
    DeliveryWorker.layer.pipe(
      Layer.provide([DeliveryQueue.layer, WebhookSender.layer, EventFeed.layer, Deliveries.noFormats]),
      Layer.provide([Resolver.layer, WebhookSigner.layer]),
      settings,
      Layer.fresh
    )
  ),
  Context.get(Handover)
)

/** Writes deliveries, leased if slots are free, as the statement that creates events does. */
const write = (domainId: DomainId, count: number) => (places: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const ids = yield* Deliveries.pending(domainId, count)
    const leased = yield* sql<SealedDelivery>`
      UPDATE deliveries SET attempts = 1, leased_until = now() + interval '60 seconds', claimed_at = now()
      FROM events
      JOIN domains ON domains.id = events.domain_id
      JOIN webhooks ON webhooks.id = domains.id
      JOIN workspaces ON workspaces.id = domains.workspace_id
      WHERE deliveries.event_id = ANY(${ids.slice(0, places)}::uuid[]) AND events.id = deliveries.event_id
      RETURNING events.id AS event_id, events.domain_id, webhooks.id AS webhook_id, attempts, spent,
        false AS taken_over, url, format, credentials, convert_to(events.payload, 'UTF8') AS payload, workspaces.id AS workspace_id,
        workspaces.signing_secret, NULL::bytea AS previous_signing_secret, false AS has_own_secret
    `
    return { leased, places, ids }
  })

/** Reserves slots, writes deliveries, and starts the leased ones. */
const within = Effect.fnUntraced(function* <A extends { readonly leased: ReadonlyArray<SealedDelivery> }, E, R>(
  handover: Handover["Service"],
  domainId: DomainId,
  most: number,
  write: (places: number) => Effect.Effect<A, E, R>
) {
  const places = yield* handover.reserve(catchAllOf(domainId), most)
  return yield* Effect.onExit(write(places), (exit) =>
    Effect.gen(function* () {
      const leased = Exit.isSuccess(exit) ? exit.value.leased : []
      yield* handover.begin(leased)
      yield* handover.release(catchAllOf(domainId), places - leased.length)
    })
  )
})

/** Lets a webhook hang until the returned effect answers all requests. */
const heldBack = Effect.fnUntraced(function* (receiver: WebhookReceiver["Service"]) {
  const open: Array<ServerResponse> = []
  yield* receiver.answerAlways((_, response) => void open.push(response))
  return Effect.andThen(
    receiver.answerAlways(200),
    Effect.sync(() => {
      for (const response of open) response.end()
    })
  )
})

const nothing = (places: number) => Effect.succeed({ leased: [], places })

/**
 * A domain with its full concurrency after webhook answers, and its requests after those. An answer that takes a
 * second, as on a busy machine, leaves the webhook slow, and then another one follows.
 */
const proven = Effect.fnUntraced(function* (handover: Handover["Service"], receiver: WebhookReceiver["Service"]) {
  const { id } = yield* Deliveries.domain(receiver.url)
  const proof = Effect.gen(function* () {
    yield* within(handover, id, 1, write(id, 1))
    yield* receiver.next
    return yield* Effect.timeoutOption(hasPlaces(handover, id), "5 seconds")
  })
  yield* eventually(proof, Option.isSome)
  const proofs = (yield* receiver.all).length
  return { id, later: Effect.map(receiver.all, (requests) => requests.slice(proofs)) }
})

/** Checks that all slots are free. */
const hasPlaces = (handover: Handover["Service"], id: DomainId) =>
  eventually(
    Effect.gen(function* () {
      const places = yield* handover.reserve(catchAllOf(id), 6)
      yield* handover.release(catchAllOf(id), places)
      return places
    }),
    (places) => places === 6
  )

layer(Workspaces.layer.pipe(settings, Layer.provideMerge(TestDatabase.layer)), {
  excludeTestServices: true
})("The delivery handover", (it) => {
  it.effect("starts leased deliveries and records the first attempt of each", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const { id } = yield* Deliveries.domain(receiver.url)
      const handover = yield* start
      const { ids } = yield* within(handover, id, 1, write(id, 1))
      const [eventId] = ids
      assert.isDefined(eventId)
      assert.strictEqual((yield* receiver.next).event.event_id, eventId)
      yield* eventually(
        Deliveries.delivery(eventId),
        ({ attempts, status }) => attempts === 1 && status === "delivered"
      )
    })
  )

  it.effect("gives a domain slots for three batches, and none while older deliveries may wait", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const handover = yield* start
      const { id, later } = yield* proven(handover, receiver)
      const answers = yield* heldBack(receiver)
      assert.strictEqual((yield* within(handover, id, 10, write(id, 10))).places, 6)
      assert.strictEqual((yield* within(handover, id, 1, nothing)).places, 0)
      const { id: other } = yield* Deliveries.domain(receiver.url)
      assert.strictEqual((yield* within(handover, other, 1, nothing)).places, 1)
      yield* eventually(later, (requests) => requests.length === 2)
      yield* answers
    })
  )

  it.effect("delivers a message without a slot through a claim, and has slots again afterwards", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const { id } = yield* Deliveries.domain(receiver.url)
      const handover = yield* start
      yield* within(handover, id, 40, write(id, 40))
      yield* eventually(receiver.all, (requests) => requests.length === 40)
      yield* eventually(within(handover, id, 1, nothing), ({ places }) => places === 1)
    })
  )

  it.effect("starts deliveries in reserved slots and frees the slots afterwards", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const handover = yield* start
      const { id, later } = yield* proven(handover, receiver)
      for (const round of [1, 2]) {
        assert.strictEqual(yield* handover.reserve(catchAllOf(id), 6), 6)
        const { ids, leased } = yield* write(id, 4)(4)
        yield* handover.begin(leased)
        yield* handover.release(catchAllOf(id), 2)
        const requests = yield* eventually(later, (requests) => requests.length === 4 * round)
        assert.sameMembers(
          requests.slice(-4).map(({ event }) => event.event_id),
          ids
        )
        yield* hasPlaces(handover, id)
      }
    })
  )

  it.effect("starts other deliveries beside one with an unreadable secret, which counts as failed", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const handover = yield* start
      const { id, later } = yield* proven(handover, receiver)
      assert.strictEqual(yield* handover.reserve(catchAllOf(id), 3), 3)
      const { leased } = yield* write(id, 3)(3)
      const [broken, ...sound] = leased
      if (broken === undefined) return assert.fail("nothing was written")
      yield* handover.begin([{ ...broken, signingSecret: Buffer.from("tampered with") }, ...sound])
      const requests = yield* eventually(later, (requests) => requests.length === 2)
      assert.sameMembers(
        requests.map(({ event }) => event.event_id),
        sound.map(({ eventId }) => eventId)
      )
      const { attempts, lastError, status } = yield* eventually(
        Deliveries.delivery(broken.eventId),
        ({ leasedFor }) => leasedFor === null
      )
      assert.deepStrictEqual([status, attempts, lastError], ["pending", 1, "the signing secret can't be opened"])
      yield* eventually(within(handover, id, 6, nothing), ({ places }) => places === 6)
    }).pipe(Effect.provide(Logger.layer([])))
  )

  it.effect("frees a slot if nothing was written", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const handover = yield* start
      const { id } = yield* proven(handover, receiver)
      for (let round = 0; round < 5; round++) {
        yield* Effect.flip(within(handover, id, 6, (places) => Effect.fail(places)))
        yield* within(handover, id, 6, nothing)
      }
      assert.strictEqual((yield* within(handover, id, 6, nothing)).places, 6)
    })
  )

  it.effect("returns waiting deliveries when the worker stops, and accepts no more", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const handover = yield* start
      const { id, later } = yield* proven(handover, receiver)
      const answers = yield* heldBack(receiver)
      const { ids } = yield* within(handover, id, 6, write(id, 6))
      yield* eventually(later, (requests) => requests.length === 2)
      yield* Effect.all([handover.drain, Effect.delay(answers, "300 millis")], { concurrency: 2 })
      assert.strictEqual((yield* within(handover, id, 1, nothing)).places, 0)
      const rows = yield* Effect.forEach(ids, Deliveries.delivery)
      assert.deepStrictEqual(
        rows.map(({ attempts, leasedFor, status }) => [status, attempts, leasedFor]),
        [
          ...Array.from({ length: 2 }, () => ["delivered", 1, null]),
          ...Array.from({ length: 4 }, () => ["pending", 0, null])
        ]
      )
      assert.lengthOf(yield* later, 2)
    })
  )
})
