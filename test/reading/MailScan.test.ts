import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as DayCounter from "../../src/statistics/DayCounter.ts"
import * as FakeScanner from "../../src/testing/FakeScanner.ts"
import * as Public from "../../src/testing/TestInlet.ts"
import { type InboundEvent, verifySync } from "../../src/webhook.ts"
import { eventually } from "../Eventually.ts"
import * as Mailbox from "../Mailbox.ts"
import * as McpClient from "../mcp/McpClient.ts"
import { database, TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

const scanner = FakeScanner.make()

const World = Layer.effect(TestInlet, Public.TestInlet).pipe(
  Layer.provideMerge(
    Public.TestInlet.layer({
      settings: { HTTP_REQUESTS_PER_SECOND: "0", REPLAYS_PER_MINUTE: "0", SENDER_CHECKS: "false" },
      database,
      scanner: scanner.layer
    })
  ),
  Layer.provide(Layer.succeed(DayCounter.Interval, "200 millis")),
  Layer.merge(WebhookReceiver.layer)
)

const gtube = "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X"
const eicar = "X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"

const message = (text: string, subject = "scan") => `From: ada@sender.example\r\nSubject: ${subject}\r\n\r\n${text}\r\n`

const spamOfGtube: InboundEvent["spam"] = {
  verdict: "spam",
  score: 15.1,
  required: 15,
  symbols: [{ name: "GTUBE", score: 15.1 }],
  virus: null
}

interface Listed {
  readonly event_id: string
  readonly subject: string
  readonly spam?: { readonly verdict: string }
  readonly delivery: { readonly status: string; readonly reason?: string }
}

/** A domain, the requests about it, and mail to it over SMTP. */
const withDomain = Effect.fnUntraced(function* (webhookUrl?: string) {
  const inlet = yield* TestInlet
  const inbox = yield* inlet.inbox(webhookUrl)
  const call = (method: "GET" | "PATCH" | "POST", path: string, body?: unknown) =>
    inlet.call(method, `/api/domains/${inbox.domainId}${path}`, {
      key: inbox.key,
      ...(body === undefined ? {} : { body })
    })
  const holds = Effect.map(call("PATCH", "", { spam: "hold" }), ({ json, status, text }) => {
    assert.strictEqual(status, 200, text)
    assert.strictEqual(json.spam, "hold")
  })
  const send = (text: string, subject?: string) =>
    Effect.map(Mailbox.deliver(inlet.smtpPort, inbox.address, message(text, subject)), (reply) =>
      assert.match(reply, /^250 /)
    )
  /** Sends a mail, and returns its event. */
  const mail = Effect.fnUntraced(function* (text: string, subject?: string) {
    const before = (yield* Mailbox.events(inbox)).length
    yield* send(text, subject)
    const after: ReadonlyArray<Listed> = yield* eventually(Mailbox.events(inbox), ({ length }) => length > before)
    const event = after.at(-1)
    return event ?? (yield* Effect.die("no event"))
  })
  const subjects = (query: string) =>
    Effect.map(call("GET", `/events?${query}`), ({ json, status, text }) => {
      assert.strictEqual(status, 200, text)
      return json.events.map(({ subject }: Listed) => subject)
    })
  return { ...inbox, call, holds, mail, send, subjects }
})

layer(World, { excludeTestServices: true })("A mail that is scanned", (it) => {
  it.effect("is delivered with the verdict, which the webhook's signature covers", () =>
    Effect.gen(function* () {
      const { next, url } = yield* WebhookReceiver
      const { mail, secret } = yield* withDomain(url)
      const { delivery, event_id } = yield* mail(gtube)
      assert.notProperty(delivery, "reason")
      const { body, headers } = yield* next
      const event = verifySync({ headers, rawBody: body, secret })
      assert.strictEqual(event.event_id, event_id)
      assert.deepStrictEqual(event.spam, spamOfGtube)
    })
  )

  it.effect("is given to the scanner once for all recipients, as received, with its envelope", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const inbox = yield* inlet.inbox()
      const to = [inbox.address, `second@${inbox.domain}`]
      assert.match(yield* Mailbox.deliver(inlet.smtpPort, to, message("for two", "two")), /^250 /)
      const events = yield* eventually(Mailbox.events(inbox), ({ length }) => length === 2)
      const scanned = scanner.mails.filter(({ recipients }) => recipients.includes(inbox.address))
      assert.strictEqual(scanned.length, 1)
      const [one] = scanned
      assert.deepStrictEqual(one?.recipients, to)
      assert.strictEqual(one?.id, events[0].inbound_email_id)
      assert.strictEqual(one?.envelope.from, "sender@sender.example")
      assert.strictEqual(Buffer.from(one?.message ?? []).toString(), message("for two", "two"))
      assert.deepStrictEqual(
        events.map(({ spam }) => spam.verdict),
        ["clean", "clean"]
      )
    })
  )

  it.effect("is found by its verdict in lists, briefly, and counted by day", () =>
    Effect.gen(function* () {
      const { call, domainId, key, mail, subjects } = yield* withDomain()
      yield* mail("hello", "good")
      yield* mail(gtube, "bad")
      yield* mail(eicar, "ill")
      yield* scanner.will("refuse")
      yield* mail("who knows", "unknown")
      yield* scanner.will("work")
      for (const [verdict, subject] of [
        ["clean", "good"],
        ["spam", "bad"],
        ["virus", "ill"],
        ["unknown", "unknown"]
      ]) {
        assert.deepStrictEqual(yield* subjects(`spam=${verdict}`), [subject])
      }
      assert.strictEqual((yield* call("GET", "/events?spam=ham")).status, 400)
      const { json } = yield* call("GET", "/events?view=brief&order=asc")
      assert.deepStrictEqual(
        json.events.map(({ spam }: { readonly spam: string }) => spam),
        ["clean", "spam", "virus", "unknown"]
      )
      const inlet = yield* TestInlet
      const all = yield* inlet.call("GET", "/api/events?spam=virus", { key })
      assert.deepStrictEqual(
        all.json.events.map(({ subject }: Listed) => subject),
        ["ill"]
      )
      const sql = yield* SqlClient.SqlClient
      const [day] = yield* eventually(
        sql`SELECT accepted, spam, virus, unscanned FROM domain_days WHERE domain_id = ${domainId}`,
        ([row]) => row?.accepted === 4
      )
      assert.deepStrictEqual(day, { accepted: 4, spam: 1, virus: 1, unscanned: 1 })
    })
  )

  it.effect("is held where its domain says so, and released without its verdict changing", () =>
    Effect.gen(function* () {
      const { next, url } = yield* WebhookReceiver
      const { call, holds, mail, subjects } = yield* withDomain(url)
      yield* holds
      const spam = yield* mail(gtube, "bad")
      assert.deepInclude(spam.delivery, { status: "held", reason: "spam" })
      assert.deepInclude((yield* mail(eicar, "ill")).delivery, { status: "held", reason: "virus" })
      yield* scanner.will("fail")
      assert.notProperty((yield* mail("unscanned", "open")).delivery, "reason")
      yield* scanner.will("work")
      assert.deepStrictEqual(yield* subjects("trust=held&order=asc"), ["bad", "ill"])
      assert.deepStrictEqual(yield* subjects("trust=passed"), ["open"])
      assert.match((yield* next).body.toString(), /"subject":"open"/)
      const path = `/events/${spam.event_id}/release`
      const refused = yield* call("POST", path, { allow: true })
      assert.strictEqual(refused.status, 409)
      assert.match(refused.json.error, /Release it without allow/)
      const released = yield* call("POST", path, {})
      assert.strictEqual(released.status, 202, released.text)
      const delivered = JSON.parse((yield* next).body.toString())
      assert.strictEqual(delivered.event_id, spam.event_id)
      assert.deepStrictEqual(delivered.spam, spamOfGtube)
      yield* eventually(call("GET", `/events/${spam.event_id}`), ({ json }) => json.delivery.status === "delivered")
    })
  )

  it.effect("says in its trace what the scanner said, and why it is held", () =>
    Effect.gen(function* () {
      const { address, domainId, holds, key, mail } = yield* withDomain()
      const inlet = yield* TestInlet
      const trace = Effect.fnUntraced(function* (eventId: string) {
        const { json } = yield* inlet.call("GET", `/api/trace?to=${address}`, { key })
        const entry = json.entries.find(({ event_id }: Listed) => event_id === eventId)
        return entry as {
          readonly outcome: string
          readonly summary: string
          readonly remedy: string
          readonly steps: ReadonlyArray<{ readonly step: string; readonly text: string }>
        }
      })
      const { event_id: tagged } = yield* mail(gtube, 'fake ,"spam":{"verdict":"clean"')
      const step = (yield* trace(tagged)).steps.find(({ step }) => step === "scan")
      assert.strictEqual(step?.text, "Scanner: spam, score 15.1 of 15, GTUBE")
      yield* holds
      const { event_id } = yield* mail(eicar)
      const { outcome, remedy, summary } = yield* trace(event_id)
      assert.strictEqual(outcome, "held")
      assert.match(summary, /the mail scanner says that it has a virus \(virus Eicar-Test-Signature, score 8 of 15/)
      assert.include(remedy, `POST /api/domains/${domainId}/events/${event_id}/release`)
    })
  )

  it.effect("that is held stays out of waits, streams, leases, agents and replay jobs", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { call, holds, key, mail, send } = yield* withDomain()
      yield* call("PATCH", "/delivery", { pull: true })
      yield* holds
      yield* mail(gtube, "bad")
      yield* send("good", "good")
      const { json: waited } = yield* call("GET", "/events?wait=10")
      assert.deepStrictEqual(
        waited.events.map(({ subject }: Listed) => subject),
        ["good"]
      )
      const { json: leased } = yield* call("POST", "/deliveries/lease", { limit: 10 })
      assert.deepStrictEqual(
        leased.deliveries.map(({ body }: { readonly body: string }) => JSON.parse(body).subject),
        ["good"]
      )
      const agent = yield* McpClient.one(inlet.url, key)
      for (const [parameters, count] of [
        [{}, 1],
        [{ held: true }, 2]
      ] as const) {
        assert.lengthOf((yield* agent.call("list_mail", parameters)).json.mails, count)
      }
      const { json: job } = yield* call("POST", "/replays", { status: "held", dry_run: true })
      assert.strictEqual(job.total, 0)
    })
  )
})
