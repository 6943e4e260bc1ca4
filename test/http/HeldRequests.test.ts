import { assert, describe, layer } from "@effect/vitest"
import { Array, Duration, Effect, Fiber, Layer, Option, Queue } from "effect"
import { SqlClient } from "effect/sql"
import type { Answer } from "../ApiCall.ts"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import * as OpenWaits from "../OpenWaits.ts"
import { quickest } from "../Quickest.ts"
import { follow } from "../ServerSentEvents.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

const get = Effect.fnUntraced(function* (inbox: Mailbox.Inbox, query: string) {
  const inlet = yield* TestInlet
  return yield* inlet.call("GET", `/api/domains/${inbox.domainId}/events?${query}`, { key: inbox.key })
})

const send = Effect.fnUntraced(function* (address: string, subject: string) {
  const inlet = yield* TestInlet
  yield* Mail.send(inlet.smtpPort, { to: address, subject })
})

const subjectsOf = ({ json }: Answer): ReadonlyArray<string> =>
  json.events.map(({ subject }: { readonly subject: string }) => subject)

/** An inbox that received a mail with each of these subjects, in order. Returns its events, oldest first. */
const withMail = Effect.fnUntraced(function* (...subjects: ReadonlyArray<string>) {
  const inlet = yield* TestInlet
  const inbox = yield* inlet.inbox()
  for (const subject of subjects) {
    yield* send(inbox.address, subject)
    yield* Mailbox.events(inbox)
  }
  return { ...inbox, events: yield* Mailbox.events(inbox) }
})

layer(Layer.merge(TestInlet.layer(), WebhookReceiver.layer), { excludeTestServices: true })("Held requests", (it) => {
  describe("with a replaced key", () => {
    /** An open wait and stream, and the stream of another workspace. */
    const held = Effect.gen(function* () {
      const inbox = yield* withMail()
      const other = yield* withMail()
      const wait = yield* Effect.forkChild(Effect.timed(get(inbox, "wait=60")))
      const stream = yield* follow(inbox)
      const others = yield* follow(other)
      // Both have queried once.
      yield* send(other.address, "open")
      yield* others.next
      return { inbox, other, wait, stream, others }
    })

    it.effect("end at once in the same process: the wait with 401, the stream without another event", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const ended = Effect.gen(function* () {
          const { inbox, other, others, stream, wait } = yield* held
          const rotated = yield* inlet.call("POST", "/api/workspaces/rotate-key", { key: inbox.key })
          assert.strictEqual(rotated.status, 200)
          const [time] = yield* Effect.timed(stream.ended)
          const [, { headers, json, status }] = yield* Fiber.join(wait)
          assert.strictEqual(status, 401)
          assert.match(json.error, /API key/)
          assert.strictEqual(headers["www-authenticate"], "Bearer")

          const again = yield* follow({ ...inbox, key: rotated.json.api_key })
          assert.strictEqual(again.status, 200)
          yield* send(other.address, "still open")
          assert.include((yield* others.next).data, "still open")
          return Duration.toMillis(time)
        })
        // Other processes look every 3 s. The quickest counts, because the machine may be busy.
        assert.isBelow(Math.min(...(yield* Effect.replicateEffect(ended, 3, { concurrency: "unbounded" }))), 1_500)
      })
    )

    it.effect("end within seconds in another process", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { inbox, stream, wait } = yield* held
        yield* sql`
            UPDATE workspaces SET api_key_hash = sha256('another')
            WHERE id = (SELECT workspace_id FROM domains WHERE id = ${inbox.domainId})
          `
        yield* stream.ended
        const [time, { status }] = yield* Fiber.join(wait)
        assert.strictEqual(status, 401)
        assert.isBelow(Duration.toMillis(time), 10_000)
      })
    )
  })

  describe("with a revoked key", () => {
    /** A wait and a stream with a read key, and a stream with the workspace key. */
    const held = Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* withMail()
      const { json } = yield* inlet.call("POST", "/api/workspaces/keys", { key: inbox.key, body: { scope: "read" } })
      const reader = { ...inbox, key: json.api_key as string }
      const wait = yield* Effect.forkChild(Effect.timed(get(reader, "wait=60&from=nobody@nowhere.example")))
      const stream = yield* follow(reader)
      const own = yield* follow(inbox)
      // They have queried once.
      yield* send(inbox.address, "open")
      yield* stream.next
      yield* own.next
      return { inbox, keyId: json.id as string, wait, stream, own }
    })

    it.effect("end at once in the same process, and those with the workspace key continue", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const ended = Effect.gen(function* () {
          const { inbox, keyId, own, stream, wait } = yield* held
          const revoked = yield* inlet.call("DELETE", `/api/workspaces/keys/${keyId}`, { key: inbox.key })
          assert.strictEqual(revoked.status, 204)
          const [time] = yield* Effect.timed(stream.ended)
          const [, { headers, json, status }] = yield* Fiber.join(wait)
          assert.strictEqual(status, 401)
          assert.match(json.error, /it was revoked/)
          assert.strictEqual(headers["www-authenticate"], "Bearer")
          yield* send(inbox.address, "still open")
          assert.include((yield* own.next).data, "still open")
          return Duration.toMillis(time)
        })
        assert.isBelow(Math.min(...(yield* Effect.replicateEffect(ended, 3, { concurrency: "unbounded" }))), 1_500)
      })
    )

    it.effect("end within seconds in another process", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { inbox, keyId, own, stream, wait } = yield* held
        yield* sql`DELETE FROM workspace_keys WHERE id = ${keyId}`
        yield* stream.ended
        const [, { status }] = yield* Fiber.join(wait)
        assert.strictEqual(status, 401)
        yield* send(inbox.address, "still open")
        assert.include((yield* own.next).data, "still open")
      })
    )
  })

  describe("for a removed domain", () => {
    it.effect("end at once, the stream with event: end and the wait with 404, and free their slots", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* withMail("one")
        const [first] = inbox.events
        yield* OpenWaits.are(0)
        const stream = yield* follow(inbox, first.event_id)
        yield* send(inbox.address, "two")
        yield* stream.next
        const others = yield* Effect.forEach(Array.range(1, 18), () => follow(inbox), { concurrency: "unbounded" })
        const wait = yield* Effect.forkChild(Effect.timed(get(inbox, "wait=60&after=latest")))
        yield* OpenWaits.are(20)
        const head = yield* inlet.call("HEAD", `/api/domains/${inbox.domainId}/events/stream`, { key: inbox.key })
        assert.strictEqual(head.status, 429)

        const removed = yield* inlet.call("DELETE", `/api/domains/${inbox.domainId}`, { key: inbox.key })
        assert.strictEqual(removed.status, 204)
        for (const { ended, next } of [stream, ...others]) {
          const { data, event, id } = yield* next
          assert.strictEqual(event, "end")
          assert.strictEqual(id, "")
          assert.deepStrictEqual(JSON.parse(data), { reason: "The domain was removed" })
          yield* ended
        }
        const [time, { status }] = yield* Fiber.join(wait)
        assert.strictEqual(status, 404)
        assert.isBelow(Duration.toMillis(time), 30_000)
        // A slot is free a moment after its client has noticed the end.
        yield* OpenWaits.are(0)

        const { json } = yield* inlet.call("POST", "/api/instant-inbox", { key: inbox.key })
        const again = { ...inbox, domainId: json.domain_id }
        const reopened = yield* Effect.forEach(Array.range(1, 20), () => follow(again), { concurrency: "unbounded" })
        assert.deepStrictEqual(
          reopened.map(({ status }) => status),
          Array.replicate(200, 20)
        )
      })
    )

    it.effect("end within seconds in another process", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const inbox = yield* withMail()
        const stream = yield* follow(inbox)
        yield* sql`DELETE FROM domains WHERE id = ${inbox.domainId}`
        assert.strictEqual((yield* stream.next).event, "end")
        yield* stream.ended
      })
    )
  })

  describe("as waits", () => {
    it.effect("are answered when mail arrives", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail()
        const waiting = yield* Effect.forkChild(Effect.timed(get(inbox, "wait=30")))
        assert.deepStrictEqual(subjectsOf(yield* get(inbox, "wait=1")), [])
        assert.isUndefined(waiting.pollUnsafe(), "nothing has come yet")
        yield* send(inbox.address, "here it is")
        const [time, answer] = yield* Fiber.join(waiting)
        assert.strictEqual(answer.status, 200)
        assert.deepStrictEqual(subjectsOf(answer), ["here it is"])
        assert.isNull(answer.json.next_cursor)
        assert.strictEqual(answer.json.events[0].delivery.status, "held")
        assert.isBelow(Duration.toMillis(time), 10_000)
      })
    )

    it.effect("are answered when mail arrives, also for an id that the client writes in capitals", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail()
        const capitals = { ...inbox, domainId: inbox.domainId.toUpperCase() }
        const waiting = yield* Effect.forkChild(Effect.timed(get(capitals, "wait=30")))
        // After the first looks.
        yield* get(inbox, "wait=3")
        yield* send(inbox.address, "capitals")
        const [time, answer] = yield* Fiber.join(waiting)
        assert.deepStrictEqual(subjectsOf(answer), ["capitals"])
        assert.isBelow(Duration.toMillis(time), 10_000)
      })
    )

    it.effect("are answered at once if an event matches", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail("old")
        const [time, answer] = yield* Effect.timed(get(inbox, "wait=30"))
        assert.deepStrictEqual(subjectsOf(answer), ["old"])
        assert.isBelow(Duration.toMillis(time), 5_000)
      })
    )

    it.effect("are answered with an empty list on timeout", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail()
        const [time, answer] = yield* Effect.timed(get(inbox, "wait=1"))
        assert.strictEqual(answer.status, 200)
        const { cursor_now } = answer.json
        assert.deepStrictEqual(answer.json, { events: [], next_cursor: null, cursor_now })
        assert.isAtLeast(Duration.toMillis(time), 990)
        assert.isBelow(Duration.toMillis(time), 5_000)
      })
    )

    it.effect("are not held with wait=0", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail()
        const asked = Effect.map(get(inbox, "wait=0"), ({ json }) => assert.deepStrictEqual(json.events, []))
        assert.isBelow(yield* quickest(asked), 900)
      })
    )

    it.effect("ignore events before after or since", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail("seen")
        const [seen] = inbox.events
        const after = yield* Effect.forkChild(get(inbox, `wait=30&after=${seen.event_id}`))
        const since = yield* Effect.forkChild(get(inbox, `wait=30&since=${plusOneMillisecond(seen.receivedAt)}`))
        yield* send(inbox.address, "new")
        assert.deepStrictEqual(subjectsOf(yield* Fiber.join(after)), ["new"])
        assert.deepStrictEqual(subjectsOf(yield* Fiber.join(since)), ["new"])
      })
    )

    it.effect("return only new mail after a list cursor, also of an empty list, and after latest", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail()
        const empty = (yield* get(inbox, "limit=1")).json.cursor_now
        yield* send(inbox.address, "code 1")
        assert.deepStrictEqual(subjectsOf(yield* get(inbox, `wait=30&after=${empty}`)), ["code 1"])

        const mark = (yield* get(inbox, "limit=1")).json.cursor_now
        yield* OpenWaits.are(0)
        const marked = yield* Effect.forkChild(get(inbox, `wait=30&after=${mark}`))
        const latest = yield* Effect.forkChild(get(inbox, "wait=30&after=latest"))
        yield* OpenWaits.are(2)
        assert.deepStrictEqual(subjectsOf(yield* get(inbox, `wait=1&after=${mark}`)), [])
        yield* send(inbox.address, "code 2")
        for (const waiting of [marked, latest]) {
          const { json } = yield* Fiber.join(waiting)
          assert.deepStrictEqual(subjectsOf({ json } as Answer), ["code 2"])
          assert.deepStrictEqual((yield* get(inbox, `after=${json.cursor_now}`)).json.events, [])
        }
      })
    )

    it.effect("resume at the cursor of an empty wait without a gap", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail("old")
        const ended = yield* get(inbox, "wait=1&after=latest")
        assert.deepStrictEqual(subjectsOf(ended), [])
        yield* send(inbox.address, "between")
        yield* Mailbox.events(inbox)
        const next = yield* get(inbox, `wait=30&after=${ended.json.cursor_now}`)
        assert.deepStrictEqual(subjectsOf(next), ["between"])
      })
    )

    it.effect("are answered oldest first with order=asc", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail("1", "2", "3")
        const [first] = inbox.events
        const answer = yield* get(inbox, `wait=30&order=asc&limit=1&after=${first.event_id}`)
        assert.deepStrictEqual(subjectsOf(answer), ["2"])
        const next = yield* get(inbox, `order=asc&limit=1&cursor=${answer.json.next_cursor}`)
        assert.deepStrictEqual(subjectsOf(next), ["3"])
      })
    )

    it.effect("continue after an event that does not match", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail()
        const waiting = yield* Effect.forkChild(
          get(inbox, `wait=30&recipient=${encodeURIComponent(`b@${inbox.domain}`)}`)
        )
        yield* send(`a@${inbox.domain}`, "for a")
        yield* send(`b@${inbox.domain}`, "for b")
        assert.deepStrictEqual(subjectsOf(yield* Fiber.join(waiting)), ["for b"])
      })
    )

    it.effect("end for new events only, not for a delivery status", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const receiver = yield* WebhookReceiver
        const inbox = yield* withMail("old")
        const path = `/api/domains/${inbox.domainId}`
        yield* inlet.call("PATCH", `${path}/delivery`, { key: inbox.key, body: { webhookUrl: receiver.url } })
        // Longer than a busy machine needs for the replay below.
        const waiting = yield* Effect.forkChild(get(inbox, "wait=8&delivery=delivered"))
        yield* inlet.call("POST", `${path}/events/${inbox.events[0].event_id}/replay`, { key: inbox.key })
        yield* receiver.next
        yield* eventually(get(inbox, "delivery=delivered"), ({ json }) => json.events.length === 1)
        assert.isUndefined(waiting.pollUnsafe())
        assert.deepStrictEqual((yield* Fiber.join(waiting)).json.events, [])
      })
    )

    it.effect("do not end for mail of another domain", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail()
        const other = yield* withMail()
        const waiting = yield* Effect.forkChild(get(inbox, "wait=1"))
        yield* send(other.address, "not for you")
        assert.deepStrictEqual((yield* Fiber.join(waiting)).json.events, [])
      })
    )

    it.effect("answer 400 to a page cursor", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail("1", "2")
        const { json } = yield* get(inbox, "limit=1")
        const refused = yield* get(inbox, `wait=1&cursor=${json.next_cursor}`)
        assert.strictEqual(refused.status, 400)
        assert.match(refused.json.error, /^wait: Expected no cursor/)
        assert.strictEqual((yield* get(inbox, `wait=0&cursor=${json.next_cursor}`)).status, 200)
      })
    )
  })

  describe("as streams", () => {
    it.effect("send each new event with its id and payload", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail("before the stream")
        const stream = yield* follow(inbox)
        assert.strictEqual(stream.status, 200)
        assert.strictEqual(stream.headers["content-type"], "text/event-stream")
        assert.strictEqual(stream.headers["cache-control"], "no-store")

        yield* send(inbox.address, "one")
        const one = yield* stream.next
        yield* send(inbox.address, "two")
        const two = yield* stream.next
        const [, first, second] = yield* Mailbox.events(inbox)
        for (const [sent, listed] of [
          [one, first],
          [two, second]
        ] as const) {
          const { delivery: _, ...payload } = listed
          assert.strictEqual(sent.event, "inbound.email.received")
          assert.strictEqual(sent.id, listed.event_id)
          assert.deepStrictEqual(JSON.parse(sent.data), payload)
        }
      })
    )

    it.effect("resume after Last-Event-ID, oldest first", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail("1", "2", "3")
        const [first, second, third] = inbox.events
        const stream = yield* follow(inbox, first.event_id)
        assert.strictEqual((yield* stream.next).id, second.event_id)
        assert.strictEqual((yield* stream.next).id, third.event_id)
        yield* send(inbox.address, "4")
        assert.strictEqual(JSON.parse((yield* stream.next).data).subject, "4")
      })
    )

    it.effect("resume at the cursor of a list", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail("1")
        const mark = (yield* get(inbox, "limit=1")).json.cursor_now
        yield* send(inbox.address, "2")
        yield* Mailbox.events(inbox)
        const stream = yield* follow(inbox, mark)
        assert.strictEqual(JSON.parse((yield* stream.next).data).subject, "2")
      })
    )

    it.effect("send each event once to a client that reconnects repeatedly", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail("0")
        let last: string = inbox.events[0].event_id
        const heard: Array<string> = []
        yield* Effect.forkChild(Effect.forEach(Array.range(1, 12), (n) => send(inbox.address, `${n}`)))
        while (heard.length < 12) {
          yield* Effect.scoped(
            Effect.gen(function* () {
              const stream = yield* follow(inbox, last)
              const { data, id } = yield* stream.next
              heard.push(JSON.parse(data).subject)
              last = id
            })
          )
        }
        assert.deepStrictEqual(heard, Array.range(1, 12).map(String))
      })
    )

    it.effect("send the same events to two clients, and none to another domain", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail()
        const other = yield* withMail()
        const one = yield* follow(inbox)
        const two = yield* follow(inbox)
        const stranger = yield* follow(other)
        yield* send(inbox.address, "for both")
        assert.deepStrictEqual(yield* one.next, yield* two.next)
        yield* send(other.address, "for the other")
        assert.strictEqual(JSON.parse((yield* stranger.next).data).subject, "for the other")
      })
    )

    it.effect("answer 400 to an unknown Last-Event-ID and occupy no slot", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail()
        for (const _ of Array.range(1, 25)) {
          const refused = yield* follow(inbox, "5b0e7c1e-0f5a-4c63-9a55-3d1f3a2c9e10")
          assert.strictEqual(refused.status, 400)
        }
        assert.strictEqual((yield* follow(inbox)).status, 200)
      })
    )
  })

  describe("are limited to twenty for each workspace", () => {
    const tooMany = ({ headers, json, status }: Answer) => {
      assert.strictEqual(status, 429)
      assert.deepStrictEqual(Object.keys(json), ["error"])
      assert.match(json.error, /20 waits and streams/)
      assert.match(headers["retry-after"] ?? "", /^[1-9]\d*$/)
    }

    it.effect("as streams, after which a wait or stream answers 429 and other requests are served", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* withMail("one")
        const streams = yield* Effect.forEach(Array.range(1, 20), () => follow(inbox), { concurrency: "unbounded" })
        assert.deepStrictEqual(
          streams.map(({ status }) => status),
          Array.replicate(200, 20)
        )
        tooMany(yield* get(inbox, "wait=1"))
        tooMany(yield* inlet.call("GET", `/api/domains/${inbox.domainId}/events/stream`, { key: inbox.key }))

        assert.strictEqual((yield* get(inbox, "limit=1")).status, 200)
        assert.strictEqual((yield* get(inbox, "wait=0")).status, 200)
        const other = yield* withMail("another workspace")
        assert.strictEqual((yield* get(other, "wait=1")).status, 200)
        assert.strictEqual((yield* follow(other)).status, 200)
      })
    )

    it.effect("as waits, after which one more answers 429 at once", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail()
        const answers = yield* Queue.unbounded<Answer>()
        const waits = yield* Effect.forEach(Array.range(1, 21), () =>
          Effect.forkChild(Effect.flatMap(get(inbox, "wait=60"), (answer) => Queue.offer(answers, answer)))
        )
        tooMany(yield* Effect.orDie(Effect.timeout(Queue.take(answers), "10 seconds")))
        assert.isTrue(Option.isNone(yield* Queue.poll(answers)), "the others are held")

        yield* send(inbox.address, "ends them all")
        const ended = yield* Effect.forEach(Array.range(1, 20), () => Queue.take(answers))
        for (const answer of ended) assert.deepStrictEqual(subjectsOf(answer), ["ends them all"])
        yield* Fiber.joinAll(waits)
        yield* OpenWaits.are(0)
        assert.strictEqual((yield* get(inbox, "wait=1")).status, 200)
      })
    )

    it.effect("and a client that disconnects frees its slot", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail()
        yield* OpenWaits.are(0)
        const wait = yield* Effect.forkChild(get(inbox, "wait=60"))
        const streams = yield* Effect.forEach(Array.range(1, 19), () => follow(inbox), { concurrency: "unbounded" })
        yield* OpenWaits.are(20)
        tooMany(yield* get(inbox, "wait=1"))

        yield* Fiber.interrupt(wait)
        yield* OpenWaits.are(19)
        const afterWait = yield* follow(inbox)
        assert.strictEqual(afterWait.status, 200)
        tooMany(yield* get(inbox, "wait=1"))
        yield* afterWait.hangUp
        yield* Effect.forEach(streams, ({ hangUp }) => hangUp)
        yield* OpenWaits.are(0)
        const again = yield* Effect.forEach(Array.range(1, 20), () => follow(inbox))
        for (const { status } of again) assert.strictEqual(status, 200)
      })
    )

    it.effect("and HEAD occupies no slot", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* withMail()
        for (const _ of Array.range(1, 25)) {
          const { status } = yield* inlet.call("HEAD", `/api/domains/${inbox.domainId}/events/stream`, {
            key: inbox.key
          })
          assert.strictEqual(status, 200)
        }
        assert.strictEqual((yield* follow(inbox)).status, 200)
      })
    )
  })
})

function plusOneMillisecond(time: string): string {
  const [whole, milliseconds] = [time.slice(0, -4), Number(time.slice(-4, -1))]
  return milliseconds === 999 ? `${whole}999Z` : `${whole}${`${milliseconds + 1}`.padStart(3, "0")}Z`
}
