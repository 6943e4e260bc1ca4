import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { InboundEvent } from "../../../src/model/InboundEvent.ts"
import type { Answer } from "../../ApiCall.ts"
import { DnsServer } from "../../DnsServer.ts"
import { eventually } from "../../Eventually.ts"
import * as Mailbox from "../../Mailbox.ts"
import * as OpenWaits from "../../OpenWaits.ts"
import * as ServerSentEvents from "../../ServerSentEvents.ts"
import { TestInlet } from "../../TestInlet.ts"

const World = Layer.unwrap(
  Effect.map(DnsServer, ({ server }) => TestInlet.layer({ DNS_SERVERS: server, MAX_EMAILS_PER_DAY: "0" }))
).pipe(Layer.provideMerge(DnsServer.layer))

/** The same random numbers on each run. */
const dice = (seed: number) => {
  let state = seed
  return <A>(faces: ReadonlyArray<A>): A => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    // The index is within bounds.
    return faces[Math.floor((state / 2 ** 31) * faces.length)] as A
  }
}

const authors: ReadonlyArray<string> = [
  "shop.example",
  "mail.shop.example",
  "notshop.example",
  "person.example",
  "forged.example"
]
const subjects = ["Your order", "YOUR ORDER 100%", "Hello_there", "Größe geändert", "Code inside", "Re: plans"]
const tags = ["", "+github", "+GitHub", "+a+b", "+list"]
const kinds = {
  person: "",
  list: "List-Id: <news.shop.example>\r\n",
  auto: "Auto-Submitted: auto-replied\r\n",
  bounce: "Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n"
}
const bodies = [
  "Content-Type: text/plain\r\n\r\nJust words.\r\n",
  "Content-Type: text/plain\r\n\r\nYour verification code is 482913\r\n",
  "Content-Type: text/plain\r\n\r\nConfirm your address: https://app.shop.example/verify?token=Zm9vYmFyYmF6cXV4MTIzNA\r\n",
  "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nSee the file.\r\n--b\r\nContent-Type: application/pdf; name=a.pdf\r\nContent-Disposition: attachment; filename=a.pdf\r\n\r\nx\r\n--b--\r\n"
]

const mail = (number: number, roll: ReturnType<typeof dice>) => {
  const kind = roll(["person", "person", "list", "auto", "bounce"] as const)
  const author = roll(authors)
  // Some name the shop as author but come from another server.
  const isForged = roll([true, false, false, false])
  const head = [
    `From: Somebody <somebody@${isForged ? roll(["shop.example", "mail.shop.example"]) : author}>`,
    ...(isForged ? ["X-Forged: yes"] : []),
    `Subject: =?utf-8?B?${Buffer.from(`${roll(subjects)} ${number}`).toString("base64")}?=`,
    `Message-ID: <${number}@filters.example>`,
    ...(roll([true, false]) ? [`References: <thread-${roll([1, 2, 3])}@filters.example>`] : []),
    "MIME-Version: 1.0"
  ]
  const body = kind === "bounce" ? "\r\n--b\r\nContent-Type: text/plain\r\n\r\nIt failed.\r\n--b--\r\n" : roll(bodies)
  const from = `bounce@${isForged ? roll(["person.example", "forged.example"]) : author}`
  return { tag: roll(tags), from, message: `${head.join("\r\n")}\r\n${kinds[kind]}${body}` }
}

type Listed = Required<InboundEvent> & { readonly delivery: { readonly status: string } }

const domainOf = (address: string) => address.slice(address.lastIndexOf("@") + 1).toLowerCase()

/** The meaning of each filter, by the fields of the event. */
const model: Record<string, (event: Listed, value: string) => boolean> = {
  has: (event, value) =>
    value === "attachment"
      ? event.attachments.length > 0
      : value === "code"
        ? event.extracted.code !== null
        : event.extracted.links.length > 0,
  fromDomain: ({ authentication, from }, value) =>
    authentication.dmarc === "pass" && (domainOf(from) === value || domainOf(from).endsWith(`.${value}`)),
  subject: ({ subject }, value) => subject.toLowerCase().includes(value.toLowerCase()),
  tag: ({ tag }, value) => tag?.toLowerCase() === value.toLowerCase(),
  thread: ({ threadId }, value) => threadId === value,
  sender: ({ sender }, value) => sender === value,
  recipient: ({ recipient }, value) => recipient.toLowerCase() === value.toLowerCase(),
  delivery: ({ delivery }, value) => delivery.status === value
}

type Query = Readonly<Record<string, string>>

const matching = (all: ReadonlyArray<Listed>, query: Query) =>
  all.filter((event) => Object.entries(query).every(([name, value]) => model[name]?.(event, value) === true))

const idsOf = (events: ReadonlyArray<Pick<Listed, "event_id">>) => events.map(({ event_id }) => event_id)

const isForged = ({ headers }: Listed) => headers.some(({ name }) => name === "X-Forged")

/** Mail from these addresses is sent by their domains, with one exception. */
const publish = Effect.gen(function* () {
  const dns = yield* DnsServer
  for (const author of authors) {
    const mayBeHere = author !== "forged.example"
    yield* dns.answer("TXT", author, { text: [mayBeHere ? "v=spf1 ip4:127.0.0.1 -all" : "v=spf1 -all"] })
    yield* dns.answer("TXT", `_dmarc.${author}`, { text: ["v=DMARC1; p=none"] })
  }
})

layer(World, { excludeTestServices: true })("An event list", (it) => {
  it.effect(
    "contains exactly the events of any filter combination on 500 random mails, as do a wait and a stream",
    () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        yield* publish
        const inbox = yield* inlet.inbox()
        const path = `/api/domains/${inbox.domainId}/events`
        const values: Record<string, ReadonlyArray<string>> = {
          has: ["code", "link", "attachment"],
          fromDomain: ["shop.example", "mail.shop.example", "forged.example", "example.org"],
          subject: ["your ORDER", "100%", "Hello_", "größe", "o_t", "7"],
          tag: ["github", "a+b", "nobody"],
          sender: ["person", "list", "auto", "bounce"],
          recipient: [inbox.address.replace("@", "+github@")]
        }
        const alone = (name: string): ReadonlyArray<Query> => (values[name] ?? []).map((value) => ({ [name]: value }))

        // They wait before any mail arrives.
        const never = ["forged.example", "example.org", "nobody"]
        const waited = Object.keys(values)
          .flatMap(alone)
          .filter((query) => Object.values(query).every((value) => !never.includes(value)))
        const waits = yield* Effect.forEach(waited, (query) =>
          Effect.forkScoped(
            inlet.call(
              "GET",
              `${path}?${new URLSearchParams({ ...query, after: "latest", order: "asc", wait: "60" })}`,
              {
                key: inbox.key
              }
            )
          )
        )
        yield* OpenWaits.are(waits.length)
        // Their first queries are before this one.
        yield* inlet.call("GET", path, { key: inbox.key })

        const roll = dice(7)
        const mails = Array.from({ length: 500 }, (_, number) => mail(number, roll))
        yield* Effect.forEach(
          mails,
          ({ from, message, tag }) =>
            Mailbox.deliver(inlet.smtpPort, inbox.address.replace("@", `${tag}@`), message, { from }),
          { concurrency: 10, discard: true }
        )

        const list = Effect.fnUntraced(function* (query: Query) {
          const found: Array<Listed> = []
          let cursor: string | null = null
          do {
            const parameters = new URLSearchParams({ ...query, limit: "100", ...(cursor === null ? {} : { cursor }) })
            const { json, status, text }: Answer = yield* inlet.call("GET", `${path}?${parameters}`, { key: inbox.key })
            assert.strictEqual(status, 200, text)
            found.push(...json.events)
            cursor = json.next_cursor
          } while (cursor !== null)
          return found
        })
        const all = yield* eventually(list({}), (events) => events.length === mails.length)
        assert.isAbove(all.filter(({ authentication }) => authentication.dmarc === "pass").length, 100)

        const oldestFirst = all.toReversed()
        for (const [index, wait] of waits.entries()) {
          const { json }: Answer = yield* Fiber.join(wait)
          const wanted = idsOf(matching(oldestFirst, waited[index] ?? {}))
          assert.isNotEmpty(json.events, JSON.stringify(waited[index]))
          assert.deepStrictEqual(idsOf(json.events), wanted.slice(0, json.events.length), JSON.stringify(waited[index]))
        }

        values.thread = [all[0]?.threadId ?? "", all[1]?.threadId ?? "", "00000000-0000-8000-8000-000000000000"]
        values.delivery = ["held", "dead"]
        const names = Object.keys(values)
        const queries = [
          ...names.flatMap(alone),
          ...Array.from({ length: 40 }, () =>
            Object.fromEntries([roll(names), roll(names)].map((name) => [name, roll(values[name] ?? [])]))
          )
        ]
        for (const query of queries) {
          const found = yield* list(query)
          assert.deepStrictEqual(idsOf(found), idsOf(matching(all, query)), JSON.stringify(query))
          if ("fromDomain" in query) assert.isFalse(found.some(isForged))
        }
        assert.isAbove(all.filter(isForged).length, 80)

        yield* Effect.forEach(
          queries.filter((query) => !("delivery" in query)),
          (query) =>
            Effect.gen(function* () {
              const stream = yield* ServerSentEvents.follow(inbox, "start", `?${new URLSearchParams(query)}`)
              const found: Array<string> = []
              const more = Effect.tap(stream.next, ({ id }) => Effect.sync(() => found.push(id)))
              const wanted = idsOf(matching(oldestFirst, query))
              while (found.length < wanted.length) yield* more
              yield* Effect.timeoutOption(more, "200 millis")
              assert.deepStrictEqual(found, wanted, JSON.stringify(query))
            }).pipe(Effect.scoped),
          { concurrency: 10, discard: true }
        )
      })
  )

  it.effect("lists fields that a payload lacks as null in brief", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* inlet.inbox()
      yield* publish
      yield* Mailbox.deliver(
        inlet.smtpPort,
        inbox.address.replace("@", "+old@"),
        "From: shop@shop.example\r\nSubject: Your code\r\nList-Id: <news.shop.example>\r\n\r\nYour verification code is 482913. It opens https://app.shop.example/verify?token=Zm9vYmFyYmF6cXV4MTIzNA\r\n",
        { from: "bounce@shop.example" }
      )
      const ask = (query: string) =>
        Effect.map(
          inlet.call("GET", `/api/domains/${inbox.domainId}/events?${query}`, { key: inbox.key }),
          ({ json }) => json.events
        )
      const [brief] = yield* eventually(ask("view=brief"), (events) => events.length === 1)
      assert.hasAllKeys(brief, [
        "event_id",
        "receivedAt",
        "recipient",
        "tag",
        "from",
        "fromName",
        "subject",
        "sender",
        "kind",
        "threadId",
        "authentication",
        "extracted",
        "trust",
        "spam",
        "attachments",
        "textBytes",
        "delivery"
      ])
      const filters = [
        "has=code",
        "has=link",
        "fromDomain=shop.example",
        "subject=e",
        "tag=old",
        `thread=${brief.threadId}`,
        `sender=${brief.sender}`
      ]
      for (const filter of filters) assert.lengthOf(yield* ask(filter), 1, filter)
      yield* sql`
        UPDATE events SET
          payload = (payload::jsonb - 'sender' - 'tag' - 'threadId' - 'extracted' - 'fromName' - 'reply' - 'trust')::text
        WHERE id = ${brief.event_id}
      `
      const [older] = yield* ask("view=brief")
      assert.deepStrictEqual(
        [older.sender, older.threadId, older.tag, older.extracted, older.fromName, older.trust, older.subject],
        [null, null, null, null, null, null, brief.subject]
      )
    })
  )

  it.effect("examines 5,000 events a request for a filter without an index, but all of them before a wait", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const inbox = yield* inlet.inbox()
      yield* Mailbox.deliver(inlet.smtpPort, inbox.address, "Subject: The needle\r\n\r\nFound.\r\n")
      const ask = (query: string) =>
        Effect.map(
          inlet.call("GET", `/api/domains/${inbox.domainId}/events?${query}`, { key: inbox.key }),
          ({ json }) => json
        )
      const { events } = yield* eventually(ask("subject=needle"), (page) => page.events.length === 1)
      // It is the oldest of many.
      yield* sql`
        WITH source AS (SELECT * FROM events WHERE id = ${events[0].event_id}), copies AS (
          INSERT INTO events (id, domain_id, inbound_email_id, position, recipient, sender, received_at, payload, traits, subject)
          SELECT gen_random_uuid(), domain_id, inbound_email_id, position + number, recipient, sender, received_at, payload, traits, 'Hay'
          FROM source CROSS JOIN generate_series(1, 11000) AS number
          RETURNING id, domain_id, position
        )
        INSERT INTO deliveries (event_id, domain_id, webhook_id, position, status, due_at, attempts)
        SELECT id, domain_id, domain_id, position, 'held', now(), 0 FROM copies
      `
      const [{ position: newest } = { position: 0n }] = yield* sql<{ readonly position: bigint }>`
        UPDATE event_positions SET position = position + 11000 WHERE domain_id = ${inbox.domainId} RETURNING position
      `
      yield* sql`UPDATE deliveries SET status = 'delivered' WHERE event_id = ${events[0].event_id}`
      for (const filter of ["subject=needle", "delivery=delivered", `delivery=delivered&recipient=${inbox.address}`]) {
        const pages: Array<number> = []
        let cursor: string | null = ""
        while (cursor !== null) {
          const page: Answer["json"] = yield* ask(`${filter}${cursor === "" ? "" : `&cursor=${cursor}`}`)
          pages.push(page.events.length)
          cursor = page.next_cursor
        }
        assert.deepStrictEqual(pages, [0, 0, 1], filter)
      }
      const oldestFirst = yield* ask("subject=needle&order=asc")
      assert.lengthOf(oldestFirst.events, 1)
      assert.isNotNull(oldestFirst.next_cursor)
      assert.lengthOf((yield* ask("subject=needle&after=start&wait=20")).events, 1)
      assert.lengthOf((yield* ask("has=code")).events, 0)
      assert.isNull((yield* ask("has=code")).next_cursor)
      // Neither index alone has both.
      assert.isNotNull((yield* ask("has=code&delivery=held")).next_cursor)
      yield* sql`UPDATE events SET subject = 'Needle' WHERE domain_id = ${inbox.domainId} AND position = ${newest}`
      assert.lengthOf((yield* ask(`subject=needle&after=${events[0].event_id}&order=asc&wait=20`)).events, 1)
    })
  )

  it.effect("is filtered the same in a wait and a stream", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const path = `/api/domains/${inbox.domainId}/events`
      const wait = inlet.call("GET", `${path}?after=latest&has=code&view=brief&wait=30`, { key: inbox.key })
      const mails = Effect.gen(function* () {
        yield* OpenWaits.are(1)
        // The first query of the wait is before this one.
        yield* inlet.call("GET", path, { key: inbox.key })
        yield* Mailbox.deliver(inlet.smtpPort, inbox.address, "Subject: No code\r\n\r\nJust words.\r\n")
        yield* Mailbox.deliver(
          inlet.smtpPort,
          inbox.address,
          "Subject: Code\r\n\r\nYour verification code is 482913\r\n"
        )
      })
      const [{ json }] = yield* Effect.all([wait, mails], { concurrency: 2 })
      assert.lengthOf(json.events, 1)
      assert.deepStrictEqual([json.events[0].extracted.code.value, json.events[0].text], ["482913", undefined])
    })
  )

  it.effect("finds an author by either spelling of a domain, whichever the mail has", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const authors = ["jo@xn--mnchen-3ya.example", "jo@münchen.example"]
      for (const author of [...authors, "jo@münster.example"]) {
        yield* Mailbox.deliver(inlet.smtpPort, inbox.address, `From: Jo <${author}>\r\n\r\nHi\r\n`)
      }
      yield* eventually(Mailbox.events(inbox), ({ length }) => length === 3)
      const found = (query: string) =>
        Effect.map(
          inlet.call("GET", `/api/domains/${inbox.domainId}/events?${encodeURI(query)}`, { key: inbox.key }),
          ({ json }) => new Set(json.events.map(({ from }: InboundEvent) => from))
        )
      for (const query of [
        ...authors.map((author) => `from=${author}`),
        "from=JO@MÜNCHEN.example",
        "fromPart=MÜNCHEN",
        "fromPart=o@münchen.ex",
        "fromPart=xn--mnchen-3ya"
      ]) {
        assert.deepStrictEqual(yield* found(query), new Set(authors), query)
      }
    })
  )

  it.effect("refuses a recipient at another domain, for which no mail can come", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { domain, domainId, key } = yield* inlet.inbox()
      const refusal = { error: `recipient: Expected an address at ${domain}` }
      const at = `/api/domains/${domainId}`
      for (const path of [
        "events?after=latest&wait=30&recipient=",
        "events/stream?recipient=",
        "refusals?recipient="
      ]) {
        for (const recipient of ["x@other.example", `x@sub.${domain}`, `Jo <jo@${domain}>`]) {
          const { json, status } = yield* inlet.call("GET", `${at}/${path}${encodeURIComponent(recipient)}`, { key })
          assert.deepStrictEqual([status, json], [400, refusal], path + recipient)
        }
      }
      const body = { status: "held", recipient: "x@other.example" }
      assert.deepStrictEqual((yield* inlet.call("POST", `${at}/replays`, { key, body })).json, refusal)
      const { status } = yield* inlet.call("GET", `${at}/events?recipient=Any+tag@${domain.toUpperCase()}`, { key })
      assert.strictEqual(status, 200)
    })
  )

  for (const [query, message] of [
    ["has=codes", "has: Expected one of code, link, attachment"],
    ["fromDomain=nonsense", "fromDomain: Expected a domain name such as github.com"],
    [`subject=${"x".repeat(201)}`, "subject: Expected 1 to 200 characters, without control characters"],
    ["thread=1", "thread: Expected the threadId of an event"],
    ["sender=robot", "sender: Expected one of person, list, auto, bounce"],
    ["newerThan=15d", "newerThan: Expected a time such as 90s, 5m, 2h or 7d, at most 14d"],
    ["newerThan=5", "newerThan: Expected a time such as 90s, 5m, 2h or 7d, at most 14d"],
    ["view=short", "view: Expected one of full, brief"]
  ] as const) {
    it.effect(`answers 400 to ${query.slice(0, 20)}`, () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const inbox = yield* inlet.inbox()
        const { json, status } = yield* inlet.call("GET", `/api/domains/${inbox.domainId}/events?${query}`, {
          key: inbox.key
        })
        assert.deepStrictEqual([status, json.error], [400, message])
      })
    )
  }
})
