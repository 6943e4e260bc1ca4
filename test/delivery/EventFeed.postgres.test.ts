import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Queue } from "effect"
import { Notices } from "../../src/database/Database.ts"
import { EventFeed } from "../../src/delivery/EventFeed.ts"
import type { Announcement } from "../../src/delivery/News.ts"
import { DomainId } from "../../src/model/Domain.ts"
import { catchAllOf } from "../../src/model/Webhook.ts"
import { eventually } from "../Eventually.ts"
import * as TestDatabase from "../TestDatabase.ts"

const domainOf = (number: number) => DomainId.make(`00000000-0000-7000-8000-${`${number}`.padStart(12, "0")}`)

/** The feed of one process, and what its listeners have heard. */
const process = Effect.gen(function* () {
  const feed = Context.get(yield* Layer.build(Layer.fresh(EventFeed.layer)), EventFeed)
  const heard: Array<Announcement> = []
  yield* feed.listen((announcement) => void heard.push(announcement))
  return { feed, heard }
})

layer(TestDatabase.layer, { excludeTestServices: true })("Two processes of a database", (it) => {
  it.effect("hear of each other's events, and each of its own at once and once", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* process, yield* process]
      const due = { domainId: domainOf(1), due: catchAllOf(domainOf(1)) }
      // The first is repeated until the other process listens.
      yield* eventually(
        Effect.sync(() => {
          one.feed.announce(due.domainId, due)
          return other.heard.length
        }),
        (count) => count > 0
      )
      assert.deepStrictEqual(other.heard[0], due)
      const own = one.heard.length
      other.feed.announce(domainOf(2), { due: null })
      assert.deepStrictEqual(other.heard.at(-1), { domainId: domainOf(2), due: null })
      yield* eventually(
        Effect.sync(() => one.heard.length),
        (count) => count === own + 1
      )
      assert.deepStrictEqual(one.heard.at(-1), { domainId: domainOf(2), due: null })
    })
  )

  it.effect("send one notice for all domains with news, however many mails come", () =>
    Effect.gen(function* () {
      const sent = yield* Queue.unbounded<ReadonlyArray<string>>()
      const real = yield* Notices
      if (real === undefined) return yield* Effect.die("PostgreSQL has notices")
      const listener = yield* process
      const teller = yield* Effect.provideService(process, Notices, {
        hear: real.hear,
        send: (channel, messages) => Effect.andThen(Queue.offer(sent, messages), real.send(channel, messages))
      })
      yield* eventually(
        Effect.sync(() => {
          teller.feed.announce(domainOf(0), { due: null })
          return listener.heard.length
        }),
        (count) => count > 0
      )
      yield* Effect.sleep("200 millis")
      yield* Queue.takeAll(sent)
      for (let mail = 0; mail < 3_000; mail++) {
        const domainId = domainOf(1 + (mail % 300))
        teller.feed.announce(domainId, { due: catchAllOf(domainId) })
      }
      yield* eventually(
        Effect.sync(() => new Set(listener.heard.map(({ domainId }) => domainId)).size),
        (count) => count === 301
      )
      yield* Effect.sleep("200 millis")
      const notices = yield* Queue.takeAll(sent)
      assert.isAtMost(notices.length, 2)
      assert.isTrue(notices.flat().every((message) => Buffer.byteLength(message) < 8_000))
    })
  )
})
