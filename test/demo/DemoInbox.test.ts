import { createHash } from "node:crypto"
import { NodeHttpClient, NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Array, Effect, Layer, Queue, Stream } from "effect"
import { HttpClient } from "effect/http"
import { SqlClient } from "effect/sql"
import * as RawStoreFile from "../../src/providers/storage/RawStoreFile.ts"
import { Sweeper } from "../../src/retention/Sweeper.ts"
import type { Answer } from "../ApiCall.ts"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"

const cookieOf = ({ headers }: Answer) => (headers["set-cookie"] ?? "").split(";")[0] ?? ""

/** A new demo inbox and its cookie. */
const open = Effect.gen(function* () {
  const inlet = yield* TestInlet
  const answer = yield* inlet.call("POST", "/api/demo/inbox")
  return {
    cookie: cookieOf(answer),
    address: answer.json.address as string,
    domainId: answer.json.domain_id as string,
    domain: answer.json.domain as string
  }
})

const events = Effect.fnUntraced(function* (cookie: string) {
  const inlet = yield* TestInlet
  return yield* inlet.call("GET", "/api/demo/events", { headers: { cookie } })
})

/** A stream, open for the lifetime of the scope. */
const follow = Effect.fnUntraced(function* (cookie: string, lastEventId?: string) {
  const inlet = yield* TestInlet
  const lines = yield* Queue.unbounded<string>()
  const headers = { cookie, ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }) }
  const response = yield* Effect.orDie(HttpClient.get(`${inlet.url}/api/demo/events/stream`, { headers }))
  yield* response.stream.pipe(
    Stream.decodeText,
    Stream.splitLines,
    Stream.filter((line) => line.startsWith("id: ")),
    Stream.runForEach((line) => Queue.offer(lines, line)),
    Effect.ignore,
    Effect.forkScoped
  )
  return {
    status: response.status,
    headers: response.headers,
    /** The id of the next event. */
    next: Effect.orDie(Effect.timeout(Queue.take(lines), "10 seconds"))
  }
})

const sweeper = Effect.fnUntraced(function* () {
  const { folder } = yield* TestInlet
  return yield* Sweeper.pipe(
    Effect.provide(
      Sweeper.layer.pipe(Layer.provide(RawStoreFile.layer(`${folder}/raw`)), Layer.provide(NodeServices.layer))
    )
  )
})

/** Makes the inbox as old as its lifetime. */
const age = Effect.fnUntraced(function* (domainId: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE demo_sessions SET expires_at = now() WHERE domain_id = ${domainId}`
})

layer(Layer.merge(TestInlet.layer(), NodeHttpClient.layerUndici), { excludeTestServices: true })(
  "The demo inbox",
  (it) => {
    it.effect("is created without a key, with 201 and an HttpOnly cookie", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { headers, json, status } = yield* inlet.call("POST", "/api/demo/inbox")
        assert.strictEqual(status, 201)
        assert.match(json.domain, /^[a-z\d]{10}\.inbox\.inlet\.test$/)
        assert.deepStrictEqual(json, {
          address: `inbox@${json.domain}`,
          domain_id: json.domain_id,
          domain: json.domain
        })
        assert.match(
          headers["set-cookie"] ?? "",
          /^inlet_demo=[\w-]{43}; Max-Age=86400; Path=\/; HttpOnly; SameSite=Lax$/
        )
      })
    )

    it.effect("simulates samples for its cookie, counts each toward its 20 mails, and serves their bytes", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { cookie } = yield* open
        const simulate = (sample: string, headers = { cookie }) =>
          inlet.call("POST", "/api/demo/simulate", { body: { sample }, headers })
        assert.strictEqual((yield* simulate("code", { cookie: "" })).status, 401)
        assert.strictEqual((yield* simulate("nothing")).status, 400)
        const { json, status } = yield* simulate("attachment")
        assert.strictEqual(status, 202)
        const [event] = yield* eventually(
          Effect.map(inlet.call("GET", "/api/demo/events", { headers: { cookie } }), (answer) => answer.json.events),
          (events) => events.length === 1
        )
        assert.strictEqual(event.inbound_email_id, json.inbound_email_id)
        const path = `/api/demo/events/${event.event_id}`
        const file = yield* inlet.call("GET", `${path}/attachments/1`, { headers: { cookie } })
        assert.strictEqual(file.text, "item,price\r\nPlan,12.00\r\n")
        assert.match(file.headers["content-disposition"] ?? "", /^attachment; filename="items\.csv"/)
        const raw = yield* inlet.call("GET", `${path}/raw`, { headers: { cookie } })
        assert.match(raw.text, /^Return-Path: <billing@acme\.example>\r\nReceived: from simulate/)
        for (const { headers } of [file, raw]) assert.strictEqual(headers["x-content-type-options"], "nosniff")
        const other = yield* open
        for (const wanted of ["/raw", "/attachments/0"]) {
          const answer = yield* inlet.call("GET", `${path}${wanted}`, { headers: { cookie: other.cookie } })
          assert.strictEqual(answer.status, 404)
        }
        for (let count = 1; count < 20; count++) assert.strictEqual((yield* simulate("code")).status, 202)
        const full = yield* simulate("code")
        assert.strictEqual(full.status, 429)
        assert.match(full.json.error, /^This demo inbox has reached its limit/)
      })
    )

    it.effect("is returned for its cookie with 200 and no new cookie", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* open
        const again = yield* inlet.call("POST", "/api/demo/inbox", { headers: { cookie: inbox.cookie } })
        assert.strictEqual(again.status, 200)
        assert.strictEqual(again.json.domain_id, inbox.domainId)
        assert.isUndefined(again.headers["set-cookie"])
      })
    )

    it.effect("is a new one for an invented cookie", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const chosen = `inlet_demo=${"A".repeat(43)}`
        const answer = yield* inlet.call("POST", "/api/demo/inbox", { headers: { cookie: chosen } })
        assert.strictEqual(answer.status, 201)
        assert.notStrictEqual(cookieOf(answer), chosen)
      })
    )

    it.effect("is stored with the hash of its cookie", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { cookie, domainId } = yield* open
        const rows = yield* sql<{ readonly tokenHash: Uint8Array }>`
        SELECT token_hash FROM demo_sessions WHERE domain_id = ${domainId}
      `
        const hash = createHash("sha256").update(cookie.replace("inlet_demo=", "")).digest("hex")
        assert.deepStrictEqual(
          rows.map(({ tokenHash }) => Buffer.from(tokenHash).toString("hex")),
          [hash]
        )
      })
    )

    it.effect("lists its mails as webhook payloads, newest first", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* open
        yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "One" })
        yield* eventually(events(inbox.cookie), ({ json }) => json.events.length === 1)
        yield* Mail.send(inlet.smtpPort, { to: `any+body@${inbox.domain}`, subject: "Two" })
        const { headers, json, status } = yield* eventually(events(inbox.cookie), (all) => all.json.events.length === 2)
        assert.strictEqual(status, 200)
        assert.strictEqual(headers["cache-control"], "no-store")
        assert.deepStrictEqual(Object.keys(json), ["events", "next_cursor"])
        assert.deepStrictEqual(
          json.events.map(({ subject }: { subject: string }) => subject),
          ["Two", "One"]
        )
        const [event] = json.events
        assert.strictEqual(event.event, "inbound.email.received")
        assert.strictEqual(event.recipient, `any+body@${inbox.domain}`)
        assert.strictEqual(event.rawRef, `inbound/${inbox.domainId}/${event.inbound_email_id}.eml`)
        assert.notProperty(event, "delivery")
      })
    )

    it.effect("is visible only with its own cookie", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const mine = yield* open
        const other = yield* open
        yield* Mail.send(inlet.smtpPort, { to: mine.address, html: "<p>Mine</p>" })
        const seen = yield* eventually(events(mine.cookie), ({ json }) => json.events.length === 1)
        assert.deepStrictEqual((yield* events(other.cookie)).json, { events: [], next_cursor: null })
        const html = `/api/demo/events/${seen.json.events[0].event_id}/html`
        assert.strictEqual((yield* inlet.call("GET", html, { headers: { cookie: mine.cookie } })).status, 200)
        assert.strictEqual((yield* inlet.call("GET", html, { headers: { cookie: other.cookie } })).status, 404)

        const cookies = ["", "inlet_demo=", "inlet_demo=x", `inlet_demo=${"A".repeat(43)}`, `inlet_demo=' OR true --`]
        for (const cookie of cookies) {
          for (const path of ["/api/demo/events", "/api/demo/events/stream", html]) {
            const { headers, json, status } = yield* inlet.call("GET", path, { headers: { cookie } })
            assert.strictEqual(status, 401, `${path} with ${cookie}`)
            assert.deepStrictEqual(Object.keys(json), ["error"])
            assert.isUndefined(headers["www-authenticate"])
          }
        }
      })
    )

    it.effect("grants no access to the rest of the API, and API keys do not open it", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { cookie, domainId } = yield* open
        const path = `/api/domains/${domainId}/events`
        assert.strictEqual((yield* inlet.call("GET", path, { headers: { cookie } })).status, 401)
        const { key } = yield* inlet.workspace
        assert.strictEqual((yield* inlet.call("GET", path, { key })).status, 404)
        assert.strictEqual((yield* inlet.call("GET", "/api/demo/events", { key })).status, 401)
      })
    )

    it.effect("allows no other origin", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const origin = { origin: "https://elsewhere.example" }
        const { headers } = yield* inlet.call("POST", "/api/demo/inbox", { headers: origin })
        assert.deepStrictEqual(
          Object.keys(headers).filter((name) => name.startsWith("access-control-")),
          []
        )
      })
    )

    it.effect("is not replaced by a form on a page of another site", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const opened = (site: string) => inlet.call("POST", "/api/demo/inbox", { headers: { "sec-fetch-site": site } })
        const { headers, json, status } = yield* opened("cross-site")
        assert.deepStrictEqual([status, headers["set-cookie"]], [403, undefined])
        assert.match(json.error, /^Another site cannot create a demo inbox/)
        assert.strictEqual((yield* opened("same-origin")).status, 201)
      })
    )

    it.effect("streams mails on arrival and resumes after the last one seen", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* open
        yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "One" })
        yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "Two" })
        const { json } = yield* eventually(events(inbox.cookie), (all) => all.json.events.length === 2)
        const [second, first] = json.events
        const again = yield* follow(inbox.cookie, first.event_id)
        assert.strictEqual(again.headers["content-type"], "text/event-stream")
        assert.strictEqual(yield* again.next, `id: ${second.event_id}`)
        const fresh = yield* follow(inbox.cookie)
        yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "Three" })
        const third = yield* fresh.next
        assert.strictEqual(yield* again.next, third)
        assert.notInclude([`id: ${first.event_id}`, `id: ${second.event_id}`], third)
      }).pipe(Effect.scoped)
    )

    it.effect("allows five concurrent streams", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const { cookie } = yield* open
        yield* Effect.scoped(
          Effect.gen(function* () {
            for (const _ of Array.range(1, 5)) assert.strictEqual((yield* follow(cookie)).status, 200)
            const sixth = yield* inlet.call("GET", "/api/demo/events/stream", { headers: { cookie } })
            assert.strictEqual(sixth.status, 429)
            assert.strictEqual(sixth.headers["retry-after"], "5")
          })
        )
        yield* eventually(Effect.scoped(Effect.map(follow(cookie), ({ status }) => status)), (status) => status === 200)
      })
    )

    it.effect("accepts 20 mails, and answers 452 to further concurrent ones", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* open
        yield* Effect.forEach(Array.range(1, 18), () => Mail.send(inlet.smtpPort, { to: inbox.address }), {
          concurrency: 6
        })
        // All RCPTs are accepted before the first sends its data.
        const replies = yield* Effect.scoped(
          Effect.gen(function* () {
            const dialogs = yield* Effect.forEach(Array.range(1, 8), () => Mailbox.begin(inlet.smtpPort, inbox.address))
            for (const { replies } of dialogs) assert.match(replies[0] ?? "", /^250/)
            return yield* Effect.forEach(
              dialogs,
              (dialog, index) => Mailbox.data(dialog, `Message-ID: <${index}@sender.example>\r\n\r\n${index}`),
              { concurrency: "unbounded" }
            )
          })
        )
        assert.lengthOf(
          replies.filter((reply) => reply.startsWith("250")),
          2
        )
        assert.lengthOf(
          replies.filter((reply) => reply === "452 4.2.2 This demo inbox has reached its limit of mails"),
          6
        )
        const { json } = yield* eventually(events(inbox.cookie), (all) => all.json.events.length === 20)
        assert.lengthOf(json.events, 20)
        assert.lengthOf(yield* Mailbox.stored(inbox.domainId), 20)

        const late = yield* Effect.flip(Mail.send(inlet.smtpPort, { to: inbox.address }))
        assert.strictEqual(late.code, 452)
        assert.include(late.response, "4.2.2")
      })
    )

    it.effect("expires after 24 h with its cookie, address, mails and raw messages", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const sql = yield* SqlClient.SqlClient
        const { demos } = yield* sweeper()
        const inbox = yield* open
        const other = yield* open
        yield* Mail.send(inlet.smtpPort, { to: inbox.address })
        yield* eventually(events(inbox.cookie), ({ json }) => json.events.length === 1)
        const [session] = yield* sql<{ readonly hours: number }>`
        SELECT extract(epoch FROM expires_at - now())::float8 / 3600 AS hours
        FROM demo_sessions WHERE domain_id = ${inbox.domainId}
      `
        assert.approximately(session?.hours ?? 0, 24, 0.1)

        yield* age(inbox.domainId)
        assert.strictEqual((yield* events(inbox.cookie)).status, 401)
        assert.strictEqual((yield* Effect.flip(Mail.send(inlet.smtpPort, { to: inbox.address }))).code, 550)
        const next = yield* inlet.call("POST", "/api/demo/inbox", { headers: { cookie: inbox.cookie } })
        assert.strictEqual(next.status, 201)
        assert.notStrictEqual(next.json.domain, inbox.domain)
        assert.notStrictEqual(cookieOf(next), inbox.cookie)

        assert.strictEqual(yield* demos, 1)
        const rows = (table: string) => sql`SELECT 1 FROM ${sql(table)} WHERE domain_id = ${inbox.domainId}`
        assert.lengthOf(yield* rows("demo_sessions"), 0)
        assert.lengthOf(yield* sql`SELECT 1 FROM domains WHERE id = ${inbox.domainId}`, 0)
        // The mail of a removed domain is removed in the background.
        for (const table of ["inbound_emails", "events"]) {
          yield* eventually(rows(table), (left) => left.length === 0)
        }
        yield* eventually(Mailbox.onDisk(inbox.domainId), (left) => left.length === 0)
        assert.strictEqual((yield* events(other.cookie)).status, 200)
      })
    )

    it.effect("is removed in batches when many have expired", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { demos } = yield* sweeper()
        yield* Effect.replicateEffect(open, 51)
        // The embedded database's clock has a resolution of 1 ms, so two statements may have the same time.
        yield* sql`UPDATE demo_sessions SET expires_at = now() - interval '1 second'`
        // The service's own sweep may run first or concurrently.
        yield* demos
        yield* eventually(sql`SELECT 1 FROM domains WHERE origin = 'demo'`, (left) => left.length === 0)
        assert.strictEqual(yield* demos, 0)
      })
    )

    it.effect("serves the HTML part of a mail in a sandbox", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* open
        yield* Mail.send(inlet.smtpPort, { to: inbox.address, html: "<p onclick=x>Hello<script>y</script></p>" })
        yield* eventually(events(inbox.cookie), ({ json }) => json.events.length === 1)
        yield* Mail.send(inlet.smtpPort, { to: inbox.address, text: "No HTML" })
        const { json } = yield* eventually(events(inbox.cookie), (all) => all.json.events.length === 2)
        const [plain, html] = json.events
        const page = (eventId: string) =>
          inlet.call("GET", `/api/demo/events/${eventId}/html`, { headers: { cookie: inbox.cookie } })
        const answer = yield* page(html.event_id)
        assert.include(answer.text, "<body><p>Hello</p>")
        assert.strictEqual(answer.headers["content-type"], "text/html; charset=utf-8")
        assert.strictEqual(answer.headers["x-content-type-options"], "nosniff")
        assert.strictEqual(answer.headers["cache-control"], "no-store")
        assert.match(answer.headers["content-security-policy"] ?? "", /^sandbox; default-src 'none'; /)
        assert.strictEqual((yield* page(plain.event_id)).status, 404)
      })
    )
  }
)
