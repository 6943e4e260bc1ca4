import { connect } from "node:net"
import { assert, describe, layer } from "@effect/vitest"
import { Array, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import * as OpenWaits from "../OpenWaits.ts"
import { TestInlet } from "../TestInlet.ts"
import * as UnreadAnswer from "../UnreadAnswer.ts"

const options = { excludeTestServices: true } as const

interface Page {
  readonly events: ReadonlyArray<{ readonly event_id: string; readonly subject: string; readonly text: string }>
  readonly next_cursor: string | null
}

/** An inbox with a mail of each of these sizes, oldest first. */
const withMails = Effect.fnUntraced(function* (...sizes: ReadonlyArray<number>) {
  const inlet = yield* TestInlet
  const inbox = yield* inlet.inbox()
  for (const [index, size] of sizes.entries()) {
    yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: `${index}`, text: "x".repeat(size) })
    yield* Mailbox.events(inbox)
  }
  return { ...inbox, list: `/api/domains/${inbox.domainId}/events` }
})

/** Every page of a list, by its cursors. */
const pages = Effect.fnUntraced(function* (path: string, headers: Readonly<Record<string, string>>) {
  const inlet = yield* TestInlet
  const all: Array<Page & { readonly bytes: number }> = []
  for (let cursor: string | null = ""; cursor !== null && all.length < 20; cursor = all.at(-1)?.next_cursor ?? null) {
    const { json, status, text } = yield* inlet.call(
      "GET",
      `${path}${path.includes("?") ? "&" : "?"}${cursor === "" ? "" : `cursor=${cursor}`}`.replace(/[?&]$/, ""),
      { headers }
    )
    assert.strictEqual(status, 200, text.slice(0, 200))
    all.push({ ...json, bytes: Buffer.byteLength(text) })
  }
  return all
})

const subjects = (all: ReadonlyArray<Page>) => all.map(({ events }) => events.map(({ subject }) => subject))
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

describe("A page of events", () => {
  layer(TestInlet.layer({ HTTP_PAGE_BYTES: "600000" }), options)("is limited by bytes and by number", (it) => {
    it.effect("contains at least one event, and all events follow in order, once each", () =>
      Effect.gen(function* () {
        const sizes = [1_000, 200_000, 200_000, 150_000, 700_000, 10, 20, 900_000, 30]
        const { key, list } = yield* withMails(...sizes)
        const all = yield* pages(`${list}?limit=4`, bearer(key))
        assert.deepStrictEqual(subjects(all), [["8"], ["7"], ["6", "5"], ["4"], ["3", "2", "1", "0"]])
        for (const { events } of all) {
          for (const { subject, text } of events) assert.strictEqual(text.trim().length, sizes[Number(subject)])
        }
        const single = yield* pages(`${list}?limit=1`, bearer(key))
        assert.deepStrictEqual(subjects(single).flat(), ["8", "7", "6", "5", "4", "3", "2", "1", "0"])
      })
    )

    it.effect("takes an address with + as written, and refuses what is no address", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { domain, domainId, key } = yield* inlet.inbox()
        yield* Mail.send(inlet.smtpPort, { to: `me+tag@${domain}` })
        const found = yield* eventually(
          inlet.call("GET", `/api/domains/${domainId}/events?recipient=me+tag@${domain}`, { key }),
          ({ json }) => json.events.length > 0
        )
        assert.strictEqual(found.json.events[0].recipient, `me+tag@${domain}`)
        const refused = yield* inlet.call("GET", `/api/domains/${domainId}/events?recipient=me`, { key })
        assert.strictEqual(refused.json.error, "recipient: Expected an address, such as agent-7@example.com")
      })
    )

    it.effect("has the same limit in a wait, a single event, a stream and every filter", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { address, key, list } = yield* withMails(400_000, 400_000, 10)
        const call = (path: string) => inlet.call("GET", path, { key })
        const waited = yield* call(`${list}?wait=5`)
        assert.deepStrictEqual(subjects([waited.json]), [["2", "1"]])
        assert.deepStrictEqual(subjects(yield* pages(`${list}?recipient=${address}&delivery=held`, bearer(key))), [
          ["2", "1"],
          ["0"]
        ])
        const { json } = yield* call(`${list}/${waited.json.events[1].event_id}`)
        assert.deepStrictEqual(json, waited.json.events[1])
      })
    )

    it.effect("omits an event that is removed while it is written", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { domainId, key, list } = yield* withMails(300_000, 290_000)
        const inlet = yield* TestInlet
        const [before] = yield* pages(list, bearer(key))
        yield* sql`DELETE FROM events WHERE domain_id = ${domainId} AND id = ${before?.events[1]?.event_id ?? ""}`
        const { json } = yield* inlet.call("GET", list, { key })
        assert.deepStrictEqual(subjects([json]), [["1"]])
      })
    )

    it.effect("of the demo is followed by its cursor", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { headers, json } = yield* inlet.call("POST", "/api/demo/inbox")
        const cookie = { cookie: headers["set-cookie"]?.split(";")[0] ?? "" }
        const sizes = [500_000, 500_000, 10]
        for (const [index, size] of sizes.entries()) {
          yield* Mail.send(inlet.smtpPort, { to: json.address, subject: `${index}`, text: "x".repeat(size) })
          yield* eventually(
            Effect.map(pages("/api/demo/events", cookie), (all) => subjects(all).flat().length),
            (count) => count === index + 1
          )
        }
        assert.deepStrictEqual(subjects(yield* pages("/api/demo/events", cookie)), [["2", "1"], ["0"]])
        const foreign = yield* inlet.call("GET", "/api/demo/events?cursor=x", { headers: cookie })
        assert.strictEqual(foreign.status, 400)
      })
    )
  })
})

/** More than the kernel buffers for a client that does not read. */
const heavyBytes = 9_000_000

/**
 * An answer of which the client has received the first bytes. A refused request asks again, because an earlier one
 * makes room a moment after its answer is received.
 */
const unreadAnswer = Effect.fnUntraced(function* (
  port: number,
  { key, list }: { readonly key: string; readonly list: string }
) {
  const asked = Effect.gen(function* () {
    const answer = yield* UnreadAnswer.ask(port, list, { headers: { ...bearer(key), connection: "close" } })
    return { answer, status: yield* answer.status }
  })
  const { answer } = yield* eventually(asked, ({ status }) => status === 200)
  return answer
})

/** An inbox whose newest event is large, beyond the limit for mail. */
const withHeavyEvent = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const inbox = yield* withMails(10, 10)
  const payload = `{"filler":"${"x".repeat(heavyBytes)}"}`
  yield* sql`
    UPDATE events SET payload = ${payload} WHERE domain_id = ${inbox.domainId} AND position = 2
  `
  return inbox
})

layer(
  TestInlet.layer({
    HTTP_PAGE_BYTES: `${10 * heavyBytes}`,
    HTTP_MAX_ANSWER_BYTES: `${5.5 * heavyBytes}`,
    HTTP_MAX_ANSWER_BYTES_PER_WORKSPACE: `${3.5 * heavyBytes}`,
    HTTP_REQUESTS_PER_SECOND: "0"
  }),
  { ...options }
)("Unread answers", (it) => {
  it.effect("are limited in memory: more answer 429 for one client and 503 for all until they are sent", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const port = Number(new URL(inlet.url).port)
      const one = yield* withHeavyEvent
      const other = yield* withHeavyEvent
      const third = yield* withHeavyEvent
      const small = yield* withMails(10)
      const unread = (inbox: typeof one, times: number) => Effect.replicateEffect(unreadAnswer(port, inbox), times)
      const status = (inbox: typeof one) =>
        Effect.map(inlet.call("HEAD", inbox.list, { key: inbox.key }), ({ headers, status }) => {
          if (status !== 200) assert.match(headers["retry-after"] ?? "", /^\d+$/)
          return status
        })

      const ofOne = yield* unread(one, 3)
      assert.strictEqual(yield* status(one), 429)
      assert.strictEqual(yield* status(other), 200)
      const ofOther = yield* unread(other, 2)
      assert.strictEqual(yield* status(third), 503)
      assert.strictEqual(yield* status(small), 200)
      for (const { rest } of [...ofOne, ...ofOther]) assert.isAbove(yield* rest, heavyBytes)
      yield* Effect.forEach([one, other, third], (inbox) => eventually(status(inbox), (now) => now === 200))
    })
  )

  it.effect("are waited for by a stream, which continues once they are sent", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const port = Number(new URL(inlet.url).port)
      const inbox = yield* withHeavyEvent
      const { json } = yield* inlet.call("GET", `${inbox.list}?limit=1&order=asc`, { key: inbox.key })
      const unread = yield* Effect.replicateEffect(unreadAnswer(port, inbox), 3)
      const { status } = yield* inlet.call("HEAD", inbox.list, { key: inbox.key })
      assert.strictEqual(status, 429)
      const stream = yield* UnreadAnswer.ask(port, `${inbox.list}/stream`, {
        headers: { ...bearer(inbox.key), "last-event-id": json.events[0].event_id }
      })
      yield* Effect.forkChild(stream.rest)
      yield* OpenWaits.are(1)
      assert.isBelow(yield* stream.bytes, 10_000)
      for (const { rest } of unread) assert.isAbove(yield* rest, heavyBytes)
      yield* eventually(stream.bytes, (bytes) => bytes > heavyBytes)
    })
  )
})

layer(
  TestInlet.layer({
    HTTP_PAGE_BYTES: `${10 * heavyBytes}`,
    HTTP_MAX_ANSWER_BYTES_PER_WORKSPACE: "0",
    HTTP_READ_TIMEOUT: "3s",
    HTTP_REQUESTS_PER_SECOND: "0"
  }),
  options
)("Unread answers after HTTP_READ_TIMEOUT", (it) => {
  it.effect("are cut for a client that reads nothing, but not for a slow or waiting one", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const port = Number(new URL(inlet.url).port)
      const { domainId, key, list } = yield* withHeavyEvent
      const [unread, slow] = yield* Effect.all([
        UnreadAnswer.ask(port, list, { headers: bearer(key) }),
        UnreadAnswer.ask(port, list, { headers: bearer(key) })
      ])
      const reading = yield* Effect.forkChild(slow.trickle)
      const wait = yield* Effect.forkChild(
        inlet.call("GET", `/api/domains/${domainId}/events?wait=8&from=nobody@nowhere.example`, { key })
      )
      // Twice the limit. The kernel tells the service of progress only after 1.4 MB, a third of what it holds.
      yield* Effect.sleep("7 seconds")
      yield* Fiber.interrupt(reading)
      assert.isAbove(yield* slow.rest, heavyBytes)
      assert.isBelow(yield* unread.rest, heavyBytes)
      assert.strictEqual((yield* Fiber.join(wait)).status, 200)
    })
  )
})

layer(
  TestInlet.layer({
    HTTP_PAGE_BYTES: `${10 * heavyBytes}`,
    HTTP_MAX_ANSWER_BYTES_PER_WORKSPACE: "0",
    HTTP_REQUESTS_PER_SECOND: "0"
  }),
  options
)("Running answers", (it) => {
  it.effect("are cut when the key is revoked, and others continue", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const port = Number(new URL(inlet.url).port)
      const { key, list } = yield* withHeavyEvent
      const { json } = yield* inlet.call("POST", "/api/workspaces/keys", { key, body: { scope: "read" } })
      const [own, reader] = yield* Effect.all([
        UnreadAnswer.ask(port, list, { headers: { ...bearer(key), connection: "close" } }),
        UnreadAnswer.ask(port, list, { headers: { ...bearer(json.api_key), connection: "close" } })
      ])
      // Nothing more is read, because the kernel buffers up to 32 MiB for a client that reads.
      assert.deepStrictEqual(yield* Effect.all([own.status, reader.status], { concurrency: 2 }), [200, 200])
      const { status } = yield* inlet.call("DELETE", `/api/workspaces/keys/${json.id}`, { key })
      assert.strictEqual(status, 204)
      assert.isBelow(yield* reader.rest, heavyBytes)
      assert.isAbove(yield* own.rest, heavyBytes)
    })
  )
})

describe("One workspace", () => {
  // A rate at which the answer takes some 9 s to be paid, more than a busy machine needs for the next request.
  layer(TestInlet.layer({ HTTP_REQUESTS_PER_SECOND: "12" }), options)(
    "is charged for the size of its answers",
    (it) => {
      it.effect("at 64 KiB a request, and answers 429 after a large one while others are served", () =>
        Effect.gen(function* () {
          const inlet = yield* TestInlet
          const one = yield* withHeavyEvent
          const other = yield* inlet.workspace
          const ask = (path: string) => inlet.call("GET", path, { key: one.key })
          const heavy = yield* ask(one.list)
          assert.strictEqual(heavy.status, 200)
          assert.match(heavy.headers.ratelimit ?? "", /^"workspace";r=0;t=\d+$/)
          const refused = yield* ask("/api/domains")
          assert.strictEqual(refused.status, 429)
          assert.match(refused.json.error, /64 KiB/)
          assert.match(refused.headers["retry-after"] ?? "", /^\d$/)
          assert.strictEqual((yield* inlet.call("GET", "/api/domains", { key: other.key })).status, 200)
          yield* eventually(ask("/api/domains"), ({ status }) => status === 200)
        })
      )
    }
  )

  layer(TestInlet.layer({ HTTP_REQUESTS_PER_SECOND: "2" }), options)("has a request rate", (it) => {
    it.effect("with the remaining quota in headers, and answers 429 beyond it while others are served", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const one = yield* inlet.workspace
        const other = yield* inlet.workspace
        const first = yield* inlet.call("GET", "/api/domains", { key: one.key })
        assert.strictEqual(first.headers["ratelimit-policy"], '"workspace";q=6;w=3')
        assert.strictEqual(first.headers.ratelimit, '"workspace";r=5;t=1')
        // So many that a busy machine, which gives the workspace more seconds, still refuses some.
        const answers = yield* Effect.forEach(
          Array.range(1, 40),
          () => inlet.call("GET", "/api/domains", { key: one.key }),
          { concurrency: 40 }
        )
        const refused = answers.filter(({ status }) => status === 429)
        assert.isAbove(refused.length, 4)
        for (const { headers, json } of refused) {
          assert.strictEqual(headers["retry-after"], "1")
          assert.strictEqual(headers["ratelimit-policy"], '"workspace";q=6;w=3')
          assert.match(headers.ratelimit ?? "", /^"workspace";r=0;t=[1-3]$/)
          assert.deepStrictEqual(Object.keys(json), ["error"])
        }
        assert.strictEqual((yield* inlet.call("GET", "/api/domains", { key: other.key })).status, 200)
        yield* Effect.sleep("1200 millis")
        assert.strictEqual((yield* inlet.call("GET", "/api/domains", { key: one.key })).status, 200)
      })
    )
  })

  layer(
    TestInlet.layer({
      HTTP_MAX_REQUESTS_PER_WORKSPACE: "3",
      HTTP_MAX_WAITS_PER_WORKSPACE: "2",
      HTTP_MAX_ANSWER_BYTES_PER_WORKSPACE: "0",
      HTTP_REQUESTS_PER_SECOND: "0"
    }),
    options
  )("has a limit of concurrent requests", (it) => {
    it.effect("counts streams among the waits, and frees the slot of one that disconnects", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const port = Number(new URL(inlet.url).port)
        const { key, list } = yield* withMails(10)
        const next = Effect.map(inlet.call("HEAD", `${list}/stream`, { key }), ({ status }) => status)
        yield* Effect.scoped(
          Effect.gen(function* () {
            const streams = yield* Effect.replicateEffect(
              UnreadAnswer.ask(port, `${list}/stream`, { headers: bearer(key) }),
              2
            )
            // Both are open before the next request.
            for (const stream of streams) {
              yield* Effect.forkScoped(stream.rest)
              yield* eventually(stream.bytes, (bytes) => bytes > 0)
            }
            assert.strictEqual(yield* next, 429)
            const refused = yield* inlet.call("GET", `${list}?wait=1`, { key })
            assert.strictEqual(refused.status, 429)
            assert.match(refused.json.error, /2 waits and streams/)
            assert.strictEqual((yield* inlet.call("GET", list, { key })).status, 200)
          })
        )
        yield* eventually(inlet.call("GET", `${list}?wait=1`, { key }), ({ status }) => status === 200)
      })
    )

    it.effect("without the waits, and answers 429 to one more until one ends", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const port = Number(new URL(inlet.url).port)
        const { domainId, key, list } = yield* withHeavyEvent
        const status = Effect.map(inlet.call("GET", "/api/domains", { key }), ({ status }) => status)
        yield* OpenWaits.are(0)
        const waits = yield* Effect.forkChild(
          Effect.replicateEffect(inlet.call("GET", `${list}?wait=30&from=nobody@nowhere.example`, { key }), 2, {
            concurrency: 2
          })
        )
        yield* OpenWaits.are(2)
        const head = yield* inlet.call("HEAD", `/api/domains/${domainId}/events/stream`, { key })
        assert.strictEqual(head.status, 429)
        assert.strictEqual(yield* status, 200)
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* Effect.replicateEffect(unreadAnswer(port, { key, list }), 3)
            assert.strictEqual(yield* status, 429)
          })
        )
        yield* eventually(status, (now) => now === 200)
        yield* Fiber.interrupt(waits)
      })
    )
  })
})

/** Opens a silent connection. */
const silent = (port: number, localAddress: string) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly ask: Effect.Effect<void>; readonly heard: Effect.Effect<string>; close: () => void }>(
      (resume) => {
        let heard = ""
        const socket = connect({ port, host: "127.0.0.1", localAddress })
        socket.on("data", (chunk) => {
          heard += chunk.toString()
        })
        // A refused connection is closed, and may then answer a request with a reset.
        let isClosed = false
        socket.on("error", () => {})
        socket.on("close", () => {
          isClosed = true
        })
        socket.on("connect", () =>
          resume(
            Effect.succeed({
              ask: Effect.sync(() => void socket.write("GET /health HTTP/1.1\r\nHost: inlet.example\r\n\r\n")),
              heard: Effect.map(
                eventually(
                  Effect.sync(() => [heard, isClosed] as const),
                  ([text, ended]) => ended || text.startsWith("HTTP/1.1 200 ")
                ),
                ([text]) => text
              ),
              close: () => socket.destroy()
            })
          )
        )
      }
    ),
    ({ close }) => Effect.sync(close)
  )

/** Opens a connection that is not refused, and keeps it open. A slot is free a moment after its client has left. */
const admitted = (port: number, localAddress: string) =>
  eventually(
    Effect.gen(function* () {
      const { ask, heard } = yield* silent(port, localAddress)
      yield* ask
      return yield* heard
    }),
    (answer) => answer.startsWith("HTTP/1.1 200 ")
  )

describe("Connections", () => {
  layer(TestInlet.layer({ HTTP_MAX_CONNECTIONS: "8", HTTP_MAX_CONNECTIONS_PER_IP: "5" }), options)(
    "of the API are limited",
    (it) => {
      it.effect("to 429 for each client address and 503 in total, until some close", () =>
        Effect.gen(function* () {
          const inlet = yield* TestInlet
          const port = Number(new URL(inlet.url).port)
          const told = (localAddress: string) =>
            Effect.scoped(Effect.flatMap(silent(port, localAddress), ({ heard }) => heard))
          yield* Effect.scoped(
            Effect.gen(function* () {
              yield* Effect.replicateEffect(admitted(port, "127.0.0.2"), 5)
              assert.match(yield* told("127.0.0.2"), /^HTTP\/1\.1 429 .*\r\nRetry-After: 5\r\n.*"error":/s)
              yield* Effect.scoped(admitted(port, "127.0.0.3"))
              yield* Effect.replicateEffect(admitted(port, "127.0.0.4"), 3)
              assert.match(yield* told("127.0.0.3"), /^HTTP\/1\.1 503 .*\r\nRetry-After: 5\r\n.*"error":/s)
            })
          )
          yield* Effect.scoped(admitted(port, "127.0.0.2"))
          assert.strictEqual((yield* inlet.call("GET", "/health")).status, 200)
        })
      )
    }
  )

  layer(TestInlet.layer({ HTTP_MAX_CONNECTIONS_PER_IP: "5", TRUST_PROXY: "1" }), options)("behind a proxy", (it) => {
    it.effect("belong to the proxy, and its clients' requests are limited for each client address", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const port = Number(new URL(inlet.url).port)
        const inboxes = yield* Effect.replicateEffect(inlet.inbox(), 2)
        yield* Effect.replicateEffect(silent(port, "127.0.0.2"), 10)
        const ask = (key: string, path: string, client: string) =>
          inlet.call("GET", path, { key, headers: { "x-forwarded-for": client } })
        const [one, other] = inboxes
        if (one === undefined || other === undefined) return assert.fail("no inbox")
        const waits = yield* Effect.forkChild(
          Effect.forEach(
            Array.range(1, 5),
            () => ask(one.key, `/api/domains/${one.domainId}/events?wait=30`, "203.0.113.1"),
            { concurrency: 5 }
          )
        )
        yield* OpenWaits.are(5)
        const refused = yield* ask(one.key, "/api/domains", "203.0.113.1")
        assert.strictEqual(refused.status, 429)
        assert.isString(refused.headers["retry-after"])
        assert.strictEqual((yield* ask(one.key, "/api/domains", "203.0.113.2")).status, 200)
        assert.strictEqual((yield* ask(other.key, "/api/domains", "203.0.113.2")).status, 200)
        yield* Fiber.interrupt(waits)
        yield* eventually(ask(one.key, "/api/domains", "203.0.113.1"), ({ status }) => status === 200)
      })
    )
  })
})
