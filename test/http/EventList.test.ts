import { assert, describe, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as Mailbox from "../Mailbox.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

/** The subjects of a query's events, and the whole answer. */
const list = Effect.fnUntraced(function* (inbox: Mailbox.Inbox, query: Readonly<Record<string, string | number>> = {}) {
  const inlet = yield* TestInlet
  const search = Object.entries(query)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&")
  const { json, status, text } = yield* inlet.call("GET", `/api/domains/${inbox.domainId}/events?${search}`, {
    key: inbox.key
  })
  const subjects: ReadonlyArray<string> = (json.events ?? []).map(
    ({ subject }: { readonly subject: string }) => subject
  )
  return { status, json, text, subjects }
})

/** An inbox that received a mail with each of these subjects, in order. */
const withMail = Effect.fnUntraced(function* (...subjects: ReadonlyArray<string>) {
  const inlet = yield* TestInlet
  const inbox = yield* inlet.inbox()
  for (const subject of subjects) {
    yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject })
    yield* Mailbox.events(inbox)
  }
  return inbox
})

layer(Layer.merge(TestInlet.layer({ WEBHOOK_RETRY_DELAYS: "1h" }), WebhookReceiver.layer), {
  excludeTestServices: true
})("The event list", (it) => {
  it.effect("is empty at first", () =>
    Effect.gen(function* () {
      const inbox = yield* withMail()
      const { json, status } = yield* list(inbox)
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(json, { events: [], next_cursor: null, cursor_now: json.cursor_now })
    })
  )

  it.effect("over all domains names the domain of each event, in full and in brief, also to a read key", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* withMail("at the inbox")
      const sql = yield* SqlClient.SqlClient
      const { json: own } = yield* inlet.call("POST", "/api/domains", {
        key: inbox.key,
        body: { domain: "all-events.example.com" }
      })
      yield* sql`UPDATE domains SET status = 'mx_pending', verified_at = now() WHERE id = ${own.id}`
      yield* Mail.send(inlet.smtpPort, { to: "ada@all-events.example.com", subject: "at the own domain" })
      const { json: read } = yield* inlet.call("POST", "/api/workspaces/keys", {
        key: inbox.key,
        body: { scope: "read" }
      })
      const all = (query: string) => inlet.call("GET", `/api/events${query}`, { key: read.api_key })
      const { json } = yield* eventually(all(""), ({ json }) => json.events.length === 2)
      assert.deepStrictEqual(Object.keys(json), ["events", "next_cursor"])
      assert.isNull(json.next_cursor)
      const [newest, oldest] = json.events
      assert.deepInclude(newest, { subject: "at the own domain", domain: own.domain, domain_id: own.id })
      assert.strictEqual(newest.delivery.status, "held")
      assert.deepInclude(oldest, { subject: "at the inbox", domain_id: inbox.domainId })
      const page = yield* all("?view=brief&limit=1")
      assert.deepInclude(page.json.events[0], { event_id: newest.event_id, domain: own.domain, domain_id: own.id })
      const next = yield* all(`?view=brief&limit=1&cursor=${page.json.next_cursor}`)
      assert.deepInclude(next.json.events[0], { event_id: oldest.event_id, domain_id: inbox.domainId })
      const { json: found } = yield* all("?subject=OWN&delivery=held")
      assert.deepStrictEqual(
        found.events.map(({ event_id }: { readonly event_id: string }) => event_id),
        [newest.event_id]
      )
      assert.strictEqual((yield* all("?wait=1")).status, 400)
      assert.strictEqual((yield* all("?after=start")).status, 400)
    })
  )

  it.effect(
    "has times that follow the positions, also if a statement began earlier, but not a clock that was put back",
    () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const sql = yield* SqlClient.SqlClient
        const inbox = yield* inlet.inbox()
        const after = Effect.fnUntraced(function* (seconds: number) {
          const [set] = yield* sql<{ readonly time: Date }>`
          UPDATE event_positions SET read_at = now() + make_interval(secs => ${seconds}) WHERE domain_id = ${inbox.domainId}
          RETURNING read_at AS time
        `
          yield* Mail.send(inlet.smtpPort, { to: inbox.address })
          yield* Mailbox.events(inbox)
          const [newest] = yield* sql<{ readonly time: Date }>`
          SELECT read_at AS time FROM events WHERE domain_id = ${inbox.domainId} ORDER BY position DESC LIMIT 1
        `
          return Number(newest?.time) - Number(set?.time)
        })
        yield* after(0)
        assert.strictEqual(yield* after(20), 0)
        assert.isAbove(yield* after(-20), 0)
        assert.isBelow(yield* after(40), 0)
      })
  )

  it.effect("contains webhook payloads with the delivery status, newest first", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const inbox = yield* inlet.inbox(receiver.url)
      yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "first" })
      const first = yield* receiver.next
      yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "second" })
      yield* receiver.next

      const { json, subjects } = yield* eventually(list(inbox), ({ json }) =>
        json.events.every(
          (event: { readonly delivery: { readonly status: string } }) => event.delivery.status === "delivered"
        )
      )
      assert.deepStrictEqual(subjects, ["second", "first"])
      const { delivery, ...payload } = json.events[1]
      assert.deepStrictEqual(payload, first.event)
      assert.deepStrictEqual(delivery, {
        status: "delivered",
        attempts: 1,
        nextAttemptAt: null,
        deliveredAt: delivery.deliveredAt,
        lastError: null
      })
      assert.match(delivery.deliveredAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    })
  )

  describe("by page", () => {
    it.effect("continues after the previous page to the end", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail("1", "2", "3", "4", "5")
        const first = yield* list(inbox, { limit: 2 })
        assert.deepStrictEqual(first.subjects, ["5", "4"])
        assert.isString(first.json.next_cursor)
        const second = yield* list(inbox, { limit: 2, cursor: first.json.next_cursor })
        assert.deepStrictEqual(second.subjects, ["3", "2"])
        const third = yield* list(inbox, { limit: 2, cursor: second.json.next_cursor })
        assert.deepStrictEqual(third.subjects, ["1"])
        assert.isNull(third.json.next_cursor)

        const exact = yield* list(inbox, { limit: 5 })
        assert.lengthOf(exact.subjects, 5)
        assert.isNull(exact.json.next_cursor, "a page that happens to be full is the last one")
      })
    )

    it.effect("does not shift when mail arrives between pages", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* withMail("1", "2", "3")
        const first = yield* list(inbox, { limit: 2 })
        yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "4" })
        yield* Mailbox.events(inbox)
        const second = yield* list(inbox, { limit: 2, cursor: first.json.next_cursor })
        assert.deepStrictEqual(second.subjects, ["1"])
      })
    )

    it.effect("keeps the order of arrival with equal or decreasing acceptance times", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const inbox = yield* withMail("1", "2", "3")
        yield* sql`
          UPDATE events SET received_at = now() - position * interval '1 minute' WHERE domain_id = ${inbox.domainId}
        `
        assert.deepStrictEqual((yield* list(inbox)).subjects, ["3", "2", "1"])
        yield* sql`UPDATE events SET received_at = now() WHERE domain_id = ${inbox.domainId}`
        const page = yield* list(inbox, { limit: 1 })
        assert.deepStrictEqual((yield* list(inbox, { cursor: page.json.next_cursor })).subjects, ["2", "1"])
      })
    )

    it.effect("has 50 events by default and 100 at most", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const inbox = yield* withMail("original")
        // Copies of one event, because only the page size is tested.
        yield* sql`
          INSERT INTO events (id, domain_id, inbound_email_id, position, recipient, sender, received_at, payload)
          SELECT gen_random_uuid(), domain_id, inbound_email_id, 1000 + n, recipient, sender, received_at, payload
          FROM events, generate_series(1, 110) AS n WHERE domain_id = ${inbox.domainId}
        `
        yield* sql`
          INSERT INTO deliveries (event_id, domain_id, webhook_id, position, status, due_at)
          SELECT id, domain_id, domain_id, position, 'held', now() FROM events
          WHERE domain_id = ${inbox.domainId} AND position > 1000
        `
        assert.lengthOf((yield* list(inbox)).subjects, 50)
        const page = yield* list(inbox, { limit: 100 })
        assert.lengthOf(page.subjects, 100)
        assert.lengthOf((yield* list(inbox, { limit: 100, cursor: page.json.next_cursor })).subjects, 11)
      })
    )
  })

  describe("oldest first", () => {
    it.effect("pages forward from a cursor without a gap", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail("1", "2", "3", "4", "5", "6", "7")
        const { json } = yield* list(inbox)
        const after = json.events.at(-1).event_id
        const first = yield* list(inbox, { after, order: "asc", limit: 3 })
        assert.deepStrictEqual(first.subjects, ["2", "3", "4"])
        const second = yield* list(inbox, { after, order: "asc", limit: 3, cursor: first.json.next_cursor })
        assert.deepStrictEqual(second.subjects, ["5", "6", "7"])
        assert.isNull(second.json.next_cursor)
        const rest = yield* list(inbox, { after: second.json.cursor_now, order: "asc" })
        assert.deepStrictEqual(rest.subjects, [])
      })
    )

    it.effect("pages forward from a time", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const inbox = yield* withMail("January", "February", "March")
        yield* sql`
          UPDATE events SET received_at = timestamptz '2026-01-01 12:00:00Z' + (position - 1) * interval '1 month'
          WHERE domain_id = ${inbox.domainId}
        `
        const query = { since: "2026-02-01T00:00:00Z", order: "asc", limit: 1 }
        const page = yield* list(inbox, query)
        assert.deepStrictEqual(page.subjects, ["February"])
        assert.deepStrictEqual((yield* list(inbox, { ...query, cursor: page.json.next_cursor })).subjects, ["March"])
      })
    )

    it.effect("answers 400 to a cursor of the other order, and accepts an event id as one of newest first", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail("1", "2", "3")
        const down = (yield* list(inbox, { limit: 2 })).json
        const up = (yield* list(inbox, { limit: 2, order: "asc" })).json
        for (const query of [
          { cursor: down.next_cursor, order: "asc" },
          { cursor: up.next_cursor },
          { cursor: up.next_cursor, order: "desc" },
          { cursor: down.events[0].event_id, order: "asc" }
        ]) {
          const { json, status } = yield* list(inbox, query)
          assert.strictEqual(status, 400)
          assert.match(json.error, /^cursor: Expected a cursor of order=(asc|desc)\. This one is of order=(desc|asc)$/)
        }
        assert.deepStrictEqual((yield* list(inbox, { cursor: down.events[0].event_id })).subjects, ["2", "1"])
        assert.strictEqual((yield* list(inbox, { cursor: down.cursor_now })).status, 400)
        assert.strictEqual((yield* list(inbox, { after: down.next_cursor })).status, 400)
        assert.match((yield* list(inbox, { order: "newest" })).json.error, /^order: Expected /)
      })
    )

    it.effect("catches up with arriving mail and returns each event once", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* withMail()
        const { json } = yield* list(inbox)
        const numbers = Array.from({ length: 30 }, (_, index) => `${index}`)
        const sending = yield* Effect.forkChild(
          Effect.forEach(numbers, (subject) => Mail.send(inlet.smtpPort, { to: inbox.address, subject }), {
            concurrency: 4
          })
        )
        const seen: Array<string> = []
        let after: string = json.cursor_now
        let cursor: string | null = null
        while (seen.length < numbers.length) {
          const page: Effect.Success<ReturnType<typeof list>> = yield* list(inbox, {
            after,
            order: "asc",
            limit: 3,
            ...(cursor === null ? { wait: 10 } : { cursor })
          })
          assert.strictEqual(page.status, 200)
          seen.push(...page.subjects)
          cursor = page.json.next_cursor
          if (cursor === null) after = page.json.cursor_now
        }
        assert.sameMembers(seen, numbers)
        yield* Fiber.join(sending)
        const order = (yield* Mailbox.events(inbox)).map(({ subject }) => subject)
        assert.deepStrictEqual(seen, order)
      })
    )
  })

  describe("after a cursor", () => {
    it.effect("contains later mail, also in an inbox that was empty", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* withMail()
        const { cursor_now: mark } = (yield* list(inbox)).json
        assert.match(mark, /^[\w-]{20}$/)
        assert.deepStrictEqual((yield* list(inbox, { after: mark })).subjects, [])
        yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject: "new" })
        yield* Mailbox.events(inbox)
        assert.deepStrictEqual((yield* list(inbox, { after: mark })).subjects, ["new"])
        assert.deepStrictEqual((yield* list(inbox, { after: "latest" })).subjects, [])
      })
    )

    it.effect("contains later mail when the event of the cursor is expired", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const inbox = yield* withMail("1", "2", "3")
        const page = yield* list(inbox, { limit: 1, order: "asc" })
        yield* sql`DELETE FROM deliveries WHERE domain_id = ${inbox.domainId} AND position = 1`
        yield* sql`DELETE FROM events WHERE domain_id = ${inbox.domainId} AND position = 1`
        const next = yield* list(inbox, { order: "asc", cursor: page.json.next_cursor })
        assert.deepStrictEqual(next.subjects, ["2", "3"])
      })
    )

    it.effect("answers 400 if the cursor is newer than every event, as after a restored backup", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const inbox = yield* withMail("1", "2")
        const { cursor_now: mark } = (yield* list(inbox)).json
        yield* sql`UPDATE event_positions SET position = 1 WHERE domain_id = ${inbox.domainId}`
        const { json, status } = yield* list(inbox, { after: mark })
        assert.strictEqual(status, 400)
        assert.match(json.error, /^after: Expected a cursor_now /)
      })
    )
  })

  describe("filtered", () => {
    it.effect("by recipient, in any case", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        for (const local of ["sales", "Support", "sup"]) {
          yield* Mail.send(inlet.smtpPort, { to: `${local}@${inbox.domain}`, subject: local })
          yield* Mailbox.events(inbox)
        }
        assert.deepStrictEqual((yield* list(inbox, { recipient: `support@${inbox.domain}` })).subjects, ["Support"])
        assert.deepStrictEqual((yield* list(inbox, { recipient: `SALES@${inbox.domain.toUpperCase()}` })).subjects, [
          "sales"
        ])
        assert.deepStrictEqual((yield* list(inbox, { recipient: "sales" })).subjects, [])
        assert.deepStrictEqual((yield* list(inbox, { recipient: `%@${inbox.domain}` })).subjects, [])
        assert.deepStrictEqual((yield* list(inbox, { recipient: "" })).subjects, [])
      })
    )

    it.effect("by sender, in any case", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        for (const from of ["Ada@Sender.example", "bob@sender.example"]) {
          yield* Mail.send(inlet.smtpPort, { to: inbox.address, from, subject: from })
          yield* Mailbox.events(inbox)
        }
        assert.deepStrictEqual((yield* list(inbox, { from: "ada@sender.EXAMPLE" })).subjects, ["Ada@Sender.example"])
        assert.deepStrictEqual((yield* list(inbox, { from: "nobody@sender.example" })).subjects, [])
      })
    )

    it.effect("by a part of the recipient or the author, in any case", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        const domain = inbox.address.split("@")[1]
        for (const [name, from] of [
          ["Ada+orders", "billing@shop.example"],
          ["bob", "news@Shop.example"],
          ["ada", "x@other.example"]
        ]) {
          yield* Mail.send(inlet.smtpPort, { to: `${name}@${domain}`, from: from ?? "", subject: `to ${name}` })
        }
        yield* eventually(list(inbox), ({ subjects }) => subjects.length === 3)
        const found = (query: Readonly<Record<string, string>>) =>
          Effect.map(list(inbox, query), ({ subjects }) => subjects.toSorted())
        assert.deepStrictEqual(yield* found({ recipientPart: "ADA" }), ["to Ada+orders", "to ada"])
        assert.deepStrictEqual(yield* found({ fromPart: "@shop" }), ["to Ada+orders", "to bob"])
        assert.deepStrictEqual(yield* found({ recipientPart: "+orders@", fromPart: "bill" }), ["to Ada+orders"])
        assert.deepStrictEqual(yield* found({ fromPart: "%" }), [])
        assert.strictEqual((yield* list(inbox, { fromPart: "" })).status, 400)
      })
    )

    it.effect("by recipient and sender among dead deliveries, in any case", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const sql = yield* SqlClient.SqlClient
        const inbox = yield* inlet.inbox()
        for (const local of ["sales", "Support", "support"]) {
          const from = `${local}@Sender.example`
          yield* Mail.send(inlet.smtpPort, { to: `${local}@${inbox.domain}`, from, subject: local })
          yield* Mailbox.events(inbox)
        }
        yield* sql`UPDATE deliveries SET status = 'dead' WHERE domain_id = ${inbox.domainId} AND position < 3`
        const dead = { delivery: "dead" }
        assert.deepStrictEqual((yield* list(inbox, dead)).subjects, ["Support", "sales"])
        assert.deepStrictEqual((yield* list(inbox, { ...dead, recipient: `SUPPORT@${inbox.domain}` })).subjects, [
          "Support"
        ])
        assert.deepStrictEqual((yield* list(inbox, { ...dead, from: "sales@sender.example" })).subjects, ["sales"])
      })
    )

    it.effect("by time among many, of which some are removed and some were read late", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const inbox = yield* withMail("original")
        yield* sql`
          INSERT INTO events (id, domain_id, inbound_email_id, position, recipient, sender, received_at, read_at, payload)
          SELECT gen_random_uuid(), domain_id, inbound_email_id, 1000 + n, recipient, sender,
            timestamptz '2026-01-01Z' + n * interval '10 minutes'
              - CASE WHEN n % 50 = 0 THEN interval '1 day' ELSE interval '0' END,
            timestamptz '2026-01-01Z' + n * interval '10 minutes' + interval '1 second',
            json_build_object('subject', n::text)::text
          FROM events, generate_series(1, 400) AS n WHERE domain_id = ${inbox.domainId} AND n % 7 <> 0
        `
        yield* sql`
          INSERT INTO deliveries (event_id, domain_id, webhook_id, position, status, due_at)
          SELECT id, domain_id, domain_id, position, CASE WHEN position % 2 = 0 THEN 'dead' ELSE 'delivered' END, now() FROM events
          WHERE domain_id = ${inbox.domainId} AND position > 1000
        `
        const times = ["2026-01-01T02:00:00Z", "2026-01-01T20:10:00Z", "2026-01-02T09:00:00Z", "2026-01-03T01:00:01Z"]
        for (const since of times) {
          for (const until of times) {
            for (const delivery of ["dead", "delivered"]) {
              const expected = yield* sql<{ readonly subject: string }>`
                SELECT (events.position - 1000)::text AS subject FROM events JOIN deliveries ON deliveries.event_id = events.id
                WHERE events.domain_id = ${inbox.domainId} AND received_at BETWEEN ${since} AND ${until}
                  AND status = ${delivery}
                ORDER BY events.position DESC LIMIT 100
              `
              const { subjects } = yield* list(inbox, { since, until, delivery, limit: 100 })
              assert.deepStrictEqual(
                subjects,
                expected.map(({ subject }) => subject)
              )
            }
          }
        }
      })
    )

    it.effect.each([60, 1_200])("by address among %i held events, with delivered ones between them", (count) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const inbox = yield* withMail("original")
        yield* sql`
          INSERT INTO events (id, domain_id, inbound_email_id, position, recipient, sender, received_at, payload)
          SELECT gen_random_uuid(), domain_id, inbound_email_id, 1000 + n, 'User' || n % 5 || ${`@${inbox.domain}`},
            'sender' || n % 3 || '@b.example', timestamptz '2026-01-01Z' + n * interval '1 minute',
            json_build_object('subject', n::text)::text
          FROM events, generate_series(1, ${count}::int) AS n WHERE domain_id = ${inbox.domainId}
        `
        yield* sql`
          INSERT INTO deliveries (event_id, domain_id, webhook_id, position, status, due_at)
          SELECT id, domain_id, domain_id, position, CASE WHEN position % 4 = 0 THEN 'delivered' ELSE 'held' END, now() FROM events
          WHERE domain_id = ${inbox.domainId} AND position > 1000
        `
        const recipient = `user2@${inbox.domain.toUpperCase()}`
        const from = "Sender1@b.example"
        const until = "2026-01-01T00:50:00Z"
        for (const filter of [{ recipient }, { from }, { recipient, from }, { recipient, until }]) {
          const expected = yield* sql<{ readonly subject: string }>`
            SELECT (events.position - 1000)::text AS subject FROM events JOIN deliveries ON deliveries.event_id = events.id
            WHERE ${sql.and([
              sql`events.domain_id = ${inbox.domainId} AND status = 'held'`,
              ...("recipient" in filter ? [sql`events.recipient = ${`User2@${inbox.domain}`}`] : []),
              ...("from" in filter ? [sql`events.sender = 'sender1@b.example'`] : []),
              ...("until" in filter ? [sql`received_at <= ${until}`] : [])
            ])}
            ORDER BY events.position DESC
          `
          const found: Array<string> = []
          for (let cursor = ""; found.length === 0 || cursor !== ""; ) {
            const page = yield* list(inbox, {
              ...filter,
              delivery: "held",
              limit: 7,
              ...(cursor === "" ? {} : { cursor })
            })
            found.push(...page.subjects)
            cursor = page.json.next_cursor ?? ""
          }
          assert.deepStrictEqual(
            found,
            expected.map(({ subject }) => subject)
          )
        }
      })
    )

    it.effect("by acceptance time, inclusive, in any time zone", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const inbox = yield* withMail("January", "February", "March")
        yield* sql`
          UPDATE events SET received_at = timestamptz '2026-01-01 12:00:00Z' + (position - 1) * interval '1 month'
          WHERE domain_id = ${inbox.domainId}
        `
        assert.deepStrictEqual((yield* list(inbox, { since: "2026-02-01T12:00:00Z" })).subjects, ["March", "February"])
        assert.deepStrictEqual((yield* list(inbox, { since: "2026-02-01T12:00:00.001Z" })).subjects, ["March"])
        assert.deepStrictEqual((yield* list(inbox, { until: "2026-02-01T12:00:00.000Z" })).subjects, [
          "February",
          "January"
        ])
        assert.deepStrictEqual((yield* list(inbox, { until: "2026-02-01T11:59:59.999Z" })).subjects, ["January"])
        assert.deepStrictEqual(
          (yield* list(inbox, { since: "2026-02-01T13:00:00+01:00", until: "2026-02-01T07:00:00-05:00" })).subjects,
          ["February"]
        )
        assert.deepStrictEqual(
          (yield* list(inbox, { since: "2026-03-01T00:00:00Z", until: "2026-01-01T00:00:00Z" })).subjects,
          []
        )
      })
    )

    it.effect("by delivery status", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const sql = yield* SqlClient.SqlClient
        const receiver = yield* WebhookReceiver
        const inbox = yield* withMail("held")
        yield* inlet.call("PATCH", `/api/domains/${inbox.domainId}/delivery`, {
          key: inbox.key,
          body: { webhookUrl: receiver.url }
        })
        for (const [subject, status] of [
          ["delivered", 200],
          ["pending", 500],
          ["dead", 410]
        ] as const) {
          yield* receiver.answerWith(status)
          yield* Mail.send(inlet.smtpPort, { to: inbox.address, subject })
          yield* receiver.next
          yield* eventually(
            sql`SELECT 1 FROM delivery_attempts WHERE domain_id = ${inbox.domainId} AND status_code = ${status}`,
            (rows) => rows.length === 1
          )
        }
        for (const state of ["held", "delivered", "pending", "dead"]) {
          const { json, subjects } = yield* eventually(
            list(inbox, { delivery: state }),
            ({ subjects }) => subjects.length === 1
          )
          assert.deepStrictEqual(subjects, [state])
          assert.strictEqual(json.events[0].delivery.status, state)
        }
      })
    )

    it.effect("to events newer than a given one", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail("1", "2", "3")
        const { json } = yield* list(inbox)
        const [third, second, first] = json.events
        assert.deepStrictEqual((yield* list(inbox, { after: first.event_id })).subjects, ["3", "2"])
        assert.deepStrictEqual((yield* list(inbox, { after: second.event_id })).subjects, ["3"])
        assert.deepStrictEqual((yield* list(inbox, { after: third.event_id })).subjects, [])
      })
    )

    it.effect("by several filters at once, in pages", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        for (const [to, subject] of [
          ["a", "1"],
          ["b", "2"],
          ["a", "3"],
          ["a", "4"],
          ["a", "5"]
        ]) {
          yield* Mail.send(inlet.smtpPort, { to: `${to}@${inbox.domain}`, subject: `${subject}` })
          yield* Mailbox.events(inbox)
        }
        const oldest = (yield* list(inbox)).json.events.at(-1)
        const filter = {
          recipient: `a@${inbox.domain}`,
          from: "sender@sender.example",
          delivery: "held",
          after: oldest.event_id,
          since: "2020-01-01T00:00:00Z",
          limit: 2
        }
        const page = yield* list(inbox, filter)
        assert.deepStrictEqual(page.subjects, ["5", "4"])
        const next = yield* list(inbox, { ...filter, cursor: page.json.next_cursor })
        assert.deepStrictEqual(next.subjects, ["3"])
        assert.isNull(next.json.next_cursor)
      })
    )

    it.effect("answers 400 to an invalid filter and names it", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail()
        const wrong: ReadonlyArray<readonly [name: string, values: ReadonlyArray<string>]> = [
          ["limit", ["0", "-1", "101", "1.5", "x", "", "1e400", "NaN", "Infinity", "50;"]],
          ["wait", ["-1", "61", "0.5", "x", "NaN"]],
          ["since", ["yesterday", "1", "2026-13-01T00:00:00Z", "-271821-04-20T00:00:00Z", "", "x".repeat(5_000)]],
          ["until", ["tomorrow", "2026-02-30T25:00:00Z", "+275760-09-13T00:00:00Z", ""]],
          ["delivery", ["failed", "", "DEAD"]],
          ["order", ["newest", "", "ASC"]],
          ["recipient", ["\0", "a\0@example.com"]],
          ["from", ["\0"]]
        ]
        for (const [name, values] of wrong) {
          for (const value of values) {
            const { json, status } = yield* list(inbox, { [name]: value })
            assert.strictEqual(status, 400, `${name}=${value.slice(0, 40)}`)
            assert.deepStrictEqual(Object.keys(json), ["error"])
            assert.match(json.error, new RegExp(`^${name}: Expected `))
            assert.isBelow(json.error.length, 200)
          }
        }
      })
    )

    it.effect("accepts distant times", () =>
      Effect.gen(function* () {
        const inbox = yield* withMail("now")
        for (const far of ["0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "1970-01-01"]) {
          assert.deepStrictEqual((yield* list(inbox, { since: far })).subjects, ["now"], far)
        }
        for (const far of ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59-23:59"]) {
          assert.deepStrictEqual((yield* list(inbox, { until: far })).subjects, ["now"], far)
        }
      })
    )
  })
})
