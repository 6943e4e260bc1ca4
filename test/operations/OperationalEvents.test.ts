import { generateKeyPairSync } from "node:crypto"
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, DateTime, Duration, Effect, FileSystem, Layer, Option, Queue, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { generate } from "selfsigned"
import { CurrentCertificate } from "../../src/certificates/CurrentCertificate.ts"
import { OperationalEvent, OperationalEventId } from "../../src/model/OperationalEvent.ts"
import * as Uuid7 from "../../src/model/Uuid7.ts"
import { WorkspaceId } from "../../src/model/Workspace.ts"
import * as CertificateWatch from "../../src/operations/CertificateWatch.ts"
import * as ExpiredOperationalEvents from "../../src/operations/ExpiredOperationalEvents.ts"
import * as Ledger from "../../src/operations/Ledger.ts"
import * as MxWatch from "../../src/operations/MxWatch.ts"
import { OperationalQueue } from "../../src/operations/OperationalQueue.ts"
import * as SelfSigned from "../../src/smtp/SelfSigned.ts"
import * as FakeClock from "../../src/testing/FakeClock.ts"
import { type OperationalEvent as Received, verifySync } from "../../src/webhook.ts"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as TestDatabase from "../TestDatabase.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"
import * as Operations from "./Operations.ts"

const settings = {
  ADMIN_TOKEN: "operator",
  MAX_EMAILS_PER_DAY: "5",
  MAX_DOMAINS_PER_WORKSPACE: "0",
  WEBHOOK_RETRY_DELAYS: "1ms,1ms"
}

/** Makes the event of a domain so many days old. */
const aged = Effect.fnUntraced(function* (domainId: string, days: number) {
  const sql = yield* SqlClient.SqlClient
  const old = Uuid7.lowestAt(DateTime.toEpochMillis(yield* DateTime.now) - days * 86_400_000)
  yield* sql`
    UPDATE operational_events SET id = ${old}, period = period - make_interval(days => ${days})
    WHERE domain_id = ${domainId}
  `
})

layer(Operations.layer(settings), { excludeTestServices: true })("An operational event", (it) => {
  it.effect("is posted to the operational webhook, signed like every other one, and listed as delivered", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const { delivery, domain, domainId, list, secret, set, workspaceId } = yield* Operations.workspace
      assert.deepStrictEqual((yield* set(receiver.url)).json, {
        workspace_id: workspaceId,
        opsWebhookUrl: receiver.url
      })
      yield* Operations.pause(domainId)
      const { body, headers, method } = yield* receiver.next
      assert.strictEqual(method, "POST")
      const event = verifySync<Received>({ headers, rawBody: body, secret })
      assert.strictEqual(event.type, "webhook.paused")
      assert.deepInclude(event, {
        event: "operational",
        workspace_id: workspaceId,
        domain_id: domainId,
        domain,
        last_error: null,
        waiting: 0
      })
      assert.strictEqual(headers["webhook-id"], event.event_id)
      assert.include(
        event.message,
        `Repair the endpoint, then resume it with PATCH /api/domains/${domainId}/webhooks/${domainId} {"action": "webhook"}`
      )
      yield* delivery("delivered")
      const [entry] = (yield* list()).operational_events
      assert.deepStrictEqual(entry.event, event)
      assert.deepInclude(entry.delivery, { attempts: 1, last_error: null, next_attempt_at: null })
      assert.isString(entry.delivery.delivered_at)
    })
  )

  it.effect("is retried, then stays listed as dead after the last attempt", () =>
    Effect.gen(function* () {
      const receiver = yield* WebhookReceiver.make
      const { delivery, domainId, set, workspaceId } = yield* Operations.workspace
      yield* set(receiver.url)
      yield* receiver.answerWith(500, 503, 200)
      yield* Operations.pause(domainId)
      const bodies = yield* Effect.all([receiver.next, receiver.next, receiver.next])
      assert.lengthOf(new Set(bodies.map(({ body }) => body.toString())), 1)
      assert.deepInclude(yield* delivery("delivered"), { attempts: 3, last_error: null })

      yield* receiver.answerWith(500, 500, 502)
      yield* Operations.anHourLater(workspaceId)
      yield* Operations.resume(domainId)
      assert.deepInclude(yield* delivery("dead"), {
        attempts: 3,
        last_error: "the webhook answered 502",
        next_attempt_at: null,
        delivered_at: null
      })
    })
  )

  it.effect("whose signing secret can't be opened is dead after the last attempt, and says why", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const receiver = yield* WebhookReceiver.make
      const { delivery, domainId, set, workspaceId } = yield* Operations.workspace
      yield* set(receiver.url)
      yield* sql`UPDATE workspaces SET signing_secret = 'of another key' WHERE id = ${workspaceId}`
      yield* Operations.pause(domainId)
      assert.deepInclude(yield* delivery("dead"), {
        attempts: 3,
        last_error: "the signing secret can't be opened",
        next_attempt_at: null
      })
      assert.lengthOf(yield* receiver.all, 0)
    })
  )

  it.effect("at a webhook that hangs delays no other workspace", () =>
    Effect.gen(function* () {
      const [slow, quick] = [yield* WebhookReceiver.make, yield* WebhookReceiver.make]
      yield* slow.answerAlways(() => {})
      const [one, other] = [yield* Operations.workspace, yield* Operations.workspace]
      yield* one.set(slow.url)
      yield* other.set(quick.url)
      yield* Operations.pause(one.domainId)
      yield* slow.next
      yield* Operations.resume(one.domainId)
      yield* Operations.pause(other.domainId)
      yield* quick.next
      yield* other.delivery("delivered")
      // The hanging one has its other events wait.
      assert.lengthOf(yield* slow.all, 1)
    })
  )

  it.effect("survives a worker that dies within its request, whose late outcome then counts for nothing", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const receiver = yield* WebhookReceiver.make
      const { delivery, domainId, set, workspaceId } = yield* Operations.workspace
      yield* set("http://127.0.0.1:9/")
      // As a worker that was killed leaves it.
      yield* sql`UPDATE operational_webhooks SET leased_until = now() + interval '1 hour' WHERE workspace_id = ${workspaceId}`
      yield* Operations.pause(domainId)
      yield* delivery("pending")
      yield* sql`UPDATE operational_deliveries SET attempts = 1 WHERE workspace_id = ${workspaceId}`
      yield* set(receiver.url)
      assert.strictEqual((yield* receiver.within(200))._tag, "None")
      yield* sql`UPDATE operational_webhooks SET leased_until = now() - interval '1 second' WHERE workspace_id = ${workspaceId}`
      const { event } = yield* receiver.next
      const delivered = yield* delivery("delivered")
      assert.strictEqual(delivered.attempts, 2)
      const queue = yield* Effect.provide(OperationalQueue, OperationalQueue.layer)
      const late = {
        workspaceId: WorkspaceId.make(workspaceId),
        eventId: OperationalEventId.make(event.event_id),
        attempt: 1,
        url: receiver.url,
        isFailing: false,
        payload: "",
        signingSecret: new Uint8Array(),
        previousSigningSecret: null
      }
      yield* queue.settle(late, { error: "too late", wait: null })
      yield* queue.giveBack(late)
      assert.deepStrictEqual(yield* delivery("delivered"), delivered)
    })
  )

  it.effect("without a webhook is listed newest first, by type and in pages, for its own workspace only", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { domainId, events, key, list } = yield* Operations.workspace
      yield* Operations.pause(domainId)
      yield* events(1)
      yield* Operations.resume(domainId)
      const all = yield* events(2)
      const types = (entries: ReadonlyArray<{ readonly event: { readonly type: string } }>) =>
        entries.map(({ event }) => event.type)
      assert.deepStrictEqual(types(all), ["webhook.resumed", "webhook.paused"])
      assert.deepStrictEqual(
        all.map(({ delivery }: { readonly delivery: unknown }) => delivery),
        [null, null]
      )
      assert.isTrue(Schema.is(Schema.toEncoded(OperationalEvent))(all[0].event))

      const first = yield* list("?limit=1")
      assert.strictEqual(first.next_cursor, all[0].event.event_id)
      const second = yield* list(`?limit=1&cursor=${first.next_cursor}`)
      assert.deepStrictEqual([types(second.operational_events), second.next_cursor], [["webhook.paused"], null])
      const paused = yield* list("?type=webhook.paused")
      assert.deepStrictEqual(types(paused.operational_events), ["webhook.paused"])
      for (const wrong of [
        "?cursor=x",
        "?type=other",
        "?limit=0",
        "?limit=1e1",
        "?limit=%205",
        "?kind=webhook.paused"
      ]) {
        const { status } = yield* inlet.call("GET", `/api/operational-events${wrong}`, { key })
        assert.strictEqual(status, 400, wrong)
      }

      const other = yield* Operations.workspace
      assert.deepStrictEqual((yield* other.list()).operational_events, [])
      const { json } = yield* inlet.call("GET", "/admin/operational-events?type=webhook.resumed&limit=1", {
        key: "operator"
      })
      assert.deepStrictEqual(json.operational_events, [all[0]])
      assert.strictEqual((yield* inlet.call("GET", "/admin/operational-events", { key })).status, 404)
    })
  )

  it.effect("of a kind is recorded once an hour, and 500 of a workspace in a UTC day", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { domainId, events, list, workspaceId } = yield* Operations.workspace
      const changed = eventually(
        sql`SELECT 1 FROM domain_changes WHERE domain_id = ${domainId}`,
        (rows) => rows.length === 0
      )
      const count = Effect.map(list(), ({ operational_events: all }) => all.length)
      for (const _ of ["first", "again"]) {
        yield* Operations.pause(domainId)
        yield* Operations.resume(domainId)
        yield* changed
      }
      yield* events(2)
      assert.strictEqual(yield* count, 2)
      yield* Operations.anHourLater(workspaceId)
      yield* Operations.pause(domainId)
      yield* events(3)

      yield* sql`
        INSERT INTO operational_events (id, workspace_id, type, subject, kind, period, payload)
        SELECT (substr(id::text, 1, 24) || lpad(number::text, 12, '0'))::uuid, workspace_id, type, subject,
          'filling ' || number, period, payload
        FROM generate_series(1, ${Ledger.mostOfDay - 3}) AS number, (
          SELECT * FROM operational_events WHERE workspace_id = ${workspaceId} LIMIT 1
        ) AS example
      `
      const record = yield* Ledger.make
      const day = yield* DateTime.now
      const draft = {
        workspaceId: WorkspaceId.make(workspaceId),
        domainId: null,
        kind: "beyond",
        details: {
          type: "quota.reached",
          percent: 80,
          accepted: 4,
          limit: 5,
          occurred_at: day,
          day_ends_at: day,
          message: ""
        }
      } as const
      assert.isFalse(yield* record(draft))
      yield* sql`DELETE FROM operational_events WHERE workspace_id = ${workspaceId} AND kind = 'filling 1'`
      assert.isTrue(yield* record(draft))
    })
  )

  it.effect("reports each of two webhooks of a domain that are paused in one hour, by its pattern", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { domainId, events, key } = yield* Operations.workspace
      const { json } = yield* inlet.call("POST", `/api/domains/${domainId}/webhooks`, {
        key,
        body: { pattern: "agent-*" }
      })
      yield* Operations.pause(domainId)
      yield* Operations.pause(json.webhook.id)
      const listed: ReadonlyArray<{ readonly event: Readonly<Record<string, unknown>> }> = yield* events(2)
      const found = listed.map(({ event }) => [event.type, event.pattern, event.webhook_id])
      assert.sameDeepMembers(found, [
        ["webhook.paused", "*", domainId],
        ["webhook.paused", "agent-*", json.webhook.id]
      ])
    })
  )

  it.effect("reports no resumption of a paused webhook that is removed", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const { domainId, events, key, list } = yield* Operations.workspace
      yield* Operations.pause(domainId)
      yield* events(1)
      yield* inlet.call("PATCH", `/api/domains/${domainId}/delivery`, { key, body: { webhookUrl: null } })
      const [domain] = yield* sql`SELECT paused_at FROM webhooks WHERE id = ${domainId}`
      assert.deepStrictEqual(domain, { pausedAt: null })
      assert.deepStrictEqual(yield* sql`SELECT 1 FROM domain_changes WHERE domain_id = ${domainId}`, [])
      assert.lengthOf((yield* list()).operational_events, 1)
    })
  )

  it.effect("reports dead letters once an hour, with the count of the day so far", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { domain, domainId, events, list, workspaceId } = yield* Operations.workspace
      const die = (dead: number) => sql`
        INSERT INTO domain_days (domain_id, day, dead) VALUES (${domainId}, (now() AT TIME ZONE 'UTC')::date, ${dead})
        ON CONFLICT (domain_id, day) DO UPDATE SET dead = excluded.dead
      `
      yield* die(1)
      const [{ event }] = yield* events(1)
      assert.deepInclude(event, { type: "delivery.dead", domain_id: domainId, domain, dead: 1 })
      yield* die(3)
      // By then a look has passed over it.
      const other = yield* Operations.workspace
      yield* sql`
          INSERT INTO domain_days (domain_id, day, dead)
          VALUES (${other.domainId}, (now() AT TIME ZONE 'UTC')::date, 1)
        `
      yield* other.events(1)
      assert.lengthOf((yield* list()).operational_events, 1)
      yield* Operations.anHourLater(workspaceId)
      assert.strictEqual((yield* events(2))[0].event.dead, 3)
    })
  )

  it.effect("reports 80 % and 100 % of the messages of a UTC day, each once", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { address, events, list, workspaceId } = yield* Operations.workspace
      const send = (subject: string) => Mail.send(inlet.smtpPort, { to: address, subject })
      for (const subject of ["1", "2", "3"]) yield* send(subject)
      yield* send("4")
      const [early] = yield* events(1)
      assert.deepInclude(early.event, { type: "quota.reached", percent: 80, accepted: 4, limit: 5 })
      assert.match(early.event.day_ends_at, /T00:00:00\.000Z$/)
      yield* send("5")
      const [full] = yield* events(2)
      assert.deepInclude(full.event, { percent: 100, accepted: 5 })
      assert.match(full.event.message, /gets 452 until midnight UTC/)
      const other = yield* Operations.workspace
      yield* Operations.pause(other.domainId)
      yield* other.events(1)
      assert.lengthOf((yield* list()).operational_events, 2)
      assert.strictEqual(full.event.workspace_id, workspaceId)
    })
  )

  it.effect("reports a verified and a bought domain", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { events, key } = yield* Operations.workspace
      const own = yield* Operations.verifiedDomain(key, "verified.example.com")
      const [verified] = yield* events(1)
      assert.deepInclude(verified.event, { type: "domain.verified", domain_id: own, domain: "verified.example.com" })
      const inlet = yield* TestInlet
      const { json } = yield* inlet.call("POST", "/api/domains", { key, body: { domain: "bought.example.com" } })
      yield* sql`
        UPDATE domains SET origin = 'purchased', status = 'mx_pending', verified_at = now() WHERE id = ${json.id}
      `
      const [bought] = yield* events(2)
      assert.deepInclude(bought.event, { type: "domain.purchased", domain: "bought.example.com" })
    })
  )

  it.effect("reports an MX record that is missing twice some minutes apart, and its return", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { events, key, list, workspaceId } = yield* Operations.workspace
      const name = "watched.example.com"
      const id = yield* Operations.verifiedDomain(key, name)
      yield* events(1)
      const round = yield* Effect.provide(MxWatch.make, Operations.dns.layer)
      /** The state after a look that is due. */
      const look = Effect.gen(function* () {
        yield* sql`UPDATE mx_watches SET next_at = now() + interval '1 day' WHERE domain_id <> ${id}`
        yield* sql`UPDATE mx_watches SET next_at = now(), missing_at = missing_at - interval '5 minutes' WHERE domain_id = ${id}`
        yield* sql`UPDATE mx_watch_turns SET next_at = now()`
        yield* round
        const [watch] = yield* sql<{ readonly state: string }>`SELECT state FROM mx_watches WHERE domain_id = ${id}`
        return watch?.state
      })
      const mx = (exchange: string) => Operations.dns.answer(name, { MX: [{ priority: 10, exchange }] })

      assert.strictEqual(yield* look, "unseen")
      yield* mx("MX.inlet.test.")
      assert.strictEqual(yield* look, "seen")
      // A failing resolver says nothing about the record.
      yield* Operations.dns.will("fail", "resolve")
      assert.strictEqual(yield* look, "seen")
      yield* Operations.dns.will("work")
      yield* mx("mx.elsewhere.example")
      assert.strictEqual(yield* look, "missing")
      yield* sql`UPDATE mx_watches SET missing_at = now() + interval '4 minutes' WHERE domain_id = ${id}`
      assert.strictEqual(yield* look, "missing")
      assert.lengthOf((yield* list()).operational_events, 1)
      assert.strictEqual(yield* look, "lost")
      assert.strictEqual(yield* look, "lost")
      const [lost] = (yield* list()).operational_events
      assert.deepInclude(lost.event, {
        type: "domain.mx_lost",
        domain: name,
        expected: "mx.inlet.test",
        observed: ["mx.elsewhere.example"]
      })
      yield* mx("mx.inlet.test")
      assert.strictEqual(yield* look, "seen")
      const [returned] = (yield* list()).operational_events
      assert.strictEqual(returned.event.type, "domain.mx_returned")

      // A second loss within the hour is reported in the next one.
      yield* Operations.dns.will("refuse", "resolve")
      assert.strictEqual(yield* look, "missing")
      assert.strictEqual(yield* look, "missing")
      yield* Operations.anHourLater(workspaceId)
      assert.strictEqual(yield* look, "lost")
      yield* Operations.dns.will("work")
      const [again] = (yield* list()).operational_events
      assert.deepInclude(again.event, { type: "domain.mx_lost", observed: [] })
      assert.match(again.event.message, /It has no MX record/)
    })
  )

  it.effect(
    "about MX records comes from one process at a time, 100 domains in ten seconds, of each workspace in turn",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { workspaceId } = yield* Operations.workspace
        yield* sql`
        WITH watched AS (
          INSERT INTO domains (id, workspace_id, name, origin, status, verified_at)
          SELECT gen_random_uuid(), ${workspaceId}::uuid, number || '.turns.example', 'byo', 'mx_pending', now()
          FROM generate_series(1, 225) AS number RETURNING id
        )
        INSERT INTO mx_watches (domain_id, next_at) SELECT id, now() - interval '1 year' FROM watched
      `
        const other = yield* Operations.workspace
        const isDue = Effect.map(
          sql`
              SELECT 1 FROM mx_watches JOIN domains ON domains.id = domain_id
              WHERE name = 'other.turns.example' AND next_at <= now()
            `,
          ({ length }) => length
        )
        yield* sql`
            WITH watched AS (
              INSERT INTO domains (id, workspace_id, name, origin, status, verified_at)
              VALUES (gen_random_uuid(), ${other.workspaceId}::uuid, 'other.turns.example', 'byo', 'mx_pending', now())
              RETURNING id
            )
            INSERT INTO mx_watches (domain_id, next_at) SELECT id, now() - interval '1 minute' FROM watched
          `
        const left = Effect.map(
          sql`SELECT 1 FROM mx_watches WHERE next_at < now() - interval '1 day'`,
          ({ length }) => length
        )
        const round = yield* Effect.provide(MxWatch.make, Operations.dns.layer)
        yield* sql`UPDATE mx_watch_turns SET next_at = now() + interval '5 seconds'`
        yield* round
        assert.strictEqual(yield* left, 225)
        for (const expected of [126, 26]) {
          yield* sql`UPDATE mx_watch_turns SET next_at = now()`
          yield* Effect.all([round, round], { concurrency: 2 })
          assert.strictEqual(yield* left, expected)
          assert.strictEqual(yield* isDue, 0)
        }
      })
  )

  it.effect("that can't be recorded takes no turn of the other domains of its workspace", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { workspaceId } = yield* Operations.workspace
      const watch = (count: number, state: string, due: string, missing: string | null) => sql<{ domainId: string }>`
          WITH watched AS (
            INSERT INTO domains (id, workspace_id, name, origin, status, verified_at)
            SELECT gen_random_uuid(), ${workspaceId}::uuid, number || ${`.${state}.example`}, 'byo', 'live', now()
            FROM generate_series(1, ${count}::int) AS number
            RETURNING id
          )
          INSERT INTO mx_watches (domain_id, state, next_at, missing_at)
          SELECT id, ${state}, now() - ${due}::interval, now() - ${missing}::interval FROM watched
          RETURNING domain_id
        `
      yield* sql`DELETE FROM mx_watches`
      // The losses of more domains than a workspace has events on a day.
      yield* watch(150, "missing", "1 minute", "3 hours")
      const [seen] = yield* watch(1, "seen", "1 hour", null)
      const round = yield* Effect.provide(MxWatch.make, Operations.dns.layer)
      yield* sql`UPDATE mx_watch_turns SET next_at = now()`
      yield* round
      const due = sql`SELECT 1 FROM mx_watches WHERE domain_id = ${seen?.domainId ?? ""} AND next_at <= now()`
      assert.deepStrictEqual(yield* due, [])
      yield* sql`DELETE FROM mx_watches`
    })
  )

  it.effect("leaves when its retention is over", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { domainId, events, list } = yield* Operations.workspace
      yield* Operations.pause(domainId)
      yield* events(1)
      yield* aged(domainId, 15)
      assert.strictEqual(yield* ExpiredOperationalEvents.removeSome(sql, 16, 10), 0)
      assert.strictEqual(yield* ExpiredOperationalEvents.removeSome(sql, 14, 10), 1)
      assert.deepStrictEqual((yield* list()).operational_events, [])
    })
  )

  it.effect("stays for its retention by the clock of the database, if that of the host is ahead", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { domainId, events, list } = yield* Operations.workspace
      yield* Operations.pause(domainId)
      yield* events(1)
      const clock = FakeClock.make()
      yield* clock.move("20 days")
      yield* Effect.provide(ExpiredOperationalEvents.removeSome(sql, 14, 1_000), clock.layer)
      assert.lengthOf((yield* list()).operational_events, 1)
    })
  )

  it.effect("of a certificate stays until its retention is over after the end of the certificate", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { domainId, events } = yield* Operations.workspace
      yield* Operations.pause(domainId)
      yield* events(1)
      yield* aged(domainId, 15)
      const end = (interval: string) =>
        sql`UPDATE operational_events SET period = now() + ${interval}::interval WHERE domain_id = ${domainId}`
      yield* end("1 day")
      assert.strictEqual(yield* ExpiredOperationalEvents.removeSome(sql, 7, 10), 0)
      yield* end("-6 days")
      assert.strictEqual(yield* ExpiredOperationalEvents.removeSome(sql, 7, 10), 0)
      yield* end("-8 days")
      assert.strictEqual(yield* ExpiredOperationalEvents.removeSome(sql, 7, 10), 1)
    })
  )

  it.effect("webhook is refused unless it is a URL, and its changes are limited like those of webhooks", () =>
    Effect.gen(function* () {
      const { set } = yield* Operations.workspace
      for (const wrong of ["no url", "ftp://hooks.example/", "https://me:secret@hooks.example/", 7, undefined]) {
        const { json, status } = yield* set(wrong)
        assert.strictEqual(status, 400)
        assert.match(json.error, /^opsWebhookUrl: /)
      }
      for (let change = 0; change < 10; change++) assert.strictEqual((yield* set(null)).status, 200)
      const { headers, status } = yield* set(null)
      assert.strictEqual(status, 429)
      assert.isDefined(headers["retry-after"])
    })
  )

  it.effect("webhook is set by the workspace's own key, and a read key sees its host only", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { domainId, events, key, set } = yield* Operations.workspace
      yield* set("http://hooks.example/token?secret=1")
      const { json } = yield* inlet.call("POST", "/api/workspaces/keys", { key, body: { scope: "read" } })
      const shown = (by: string) =>
        Effect.map(inlet.call("GET", "/api/workspace", { key: by }), ({ json }) => json.opsWebhookUrl)
      assert.strictEqual(yield* shown(key), "http://hooks.example/token?secret=1")
      assert.strictEqual(yield* shown(json.api_key), "http://hooks.example/…")
      const { status } = yield* inlet.call("PATCH", "/api/workspace", {
        key: json.api_key,
        body: { opsWebhookUrl: null }
      })
      assert.strictEqual(status, 403)
      yield* Operations.pause(domainId)
      yield* events(1)
      const list = yield* inlet.call("GET", "/api/operational-events", { key: json.api_key })
      assert.lengthOf(list.json.operational_events, 1)
    })
  )

  it.effect("that waits is dead once the webhook is removed, and goes to a new one at once", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const receiver = yield* WebhookReceiver.make
      const { delivery, domainId, events, set, workspaceId } = yield* Operations.workspace
      const wait = sql`
        UPDATE operational_webhooks SET leased_until = now() + interval '1 hour' WHERE workspace_id = ${workspaceId}
      `
      yield* set("http://127.0.0.1:9/")
      yield* wait
      yield* Operations.pause(domainId)
      yield* events(1)
      yield* set(null)
      assert.deepInclude(yield* delivery("dead"), { attempts: 0, last_error: "the operational webhook was removed" })

      yield* set("http://127.0.0.1:9/")
      yield* wait
      yield* Operations.resume(domainId)
      yield* events(2)
      yield* sql`
        UPDATE operational_deliveries SET next_attempt_at = now() + interval '1 day'
        WHERE workspace_id = ${workspaceId} AND next_attempt_at IS NOT NULL
      `
      yield* sql`UPDATE operational_webhooks SET leased_until = NULL WHERE workspace_id = ${workspaceId}`
      yield* set(receiver.url)
      assert.strictEqual((yield* receiver.next).event.type, "webhook.resumed")
      yield* delivery("delivered")
    })
  )
})

describe("The queue of operational events", () => {
  it.live("leases a webhook to one of several processes, with one event at a time, oldest first", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const record = yield* Ledger.make
      const ids = yield* Effect.forEach([1, 2, 3], (number) =>
        Effect.gen(function* () {
          const id = WorkspaceId.make(Uuid7.lowestAt(number))
          yield* sql`
            INSERT INTO workspaces (id, name, api_key_hash, signing_secret)
            VALUES (${id}, 'one of three', ${Buffer.from([number])}, ${Buffer.from([number])})
          `
          yield* sql`INSERT INTO operational_webhooks (workspace_id, url) VALUES (${id}, 'https://hooks.example/')`
          const now = yield* DateTime.now
          for (const percent of [80, 100] as const) {
            yield* record({
              workspaceId: id,
              domainId: null,
              kind: `quota.reached ${percent}`,
              details: {
                type: "quota.reached",
                percent,
                accepted: 5,
                limit: 5,
                occurred_at: now,
                day_ends_at: now,
                message: ""
              }
            })
          }
          return id
        })
      )
      const process = Effect.provide(OperationalQueue, OperationalQueue.layer)
      const [one, other] = [yield* process, yield* process]
      const room = { steady: 2, failing: 0 }
      const claims = (yield* Effect.all([one.claim(room), other.claim(room)], { concurrency: 2 })).flat()
      assert.sameMembers(
        claims.map(({ workspaceId }) => workspaceId),
        ids
      )
      assert.deepStrictEqual(
        claims.map(({ payload }) => JSON.parse(payload).percent),
        [80, 80, 80]
      )
      assert.deepStrictEqual(yield* one.claim(room), [])

      // A stopped process returns the request that it did not make. A failing webhook has its own room.
      const [stopped, failed, delivered] = claims
      if (stopped === undefined || failed === undefined || delivered === undefined) return assert.fail("three claims")
      yield* one.giveBack(stopped)
      yield* one.settle(failed, { error: "the webhook answered 500", wait: Duration.zero })
      yield* one.settle(delivered, { error: null, wait: null })
      const again = yield* other.claim({ steady: 10, failing: 0 })
      assert.deepStrictEqual(
        again.map(({ attempt, workspaceId }) => [workspaceId, attempt]).toSorted(),
        [
          [stopped.workspaceId, 1],
          [delivered.workspaceId, 1]
        ].toSorted()
      )
      const [retried, ...none] = yield* other.claim({ steady: 10, failing: 10 })
      assert.deepStrictEqual(none, [])
      assert.deepInclude(retried, { workspaceId: failed.workspaceId, isFailing: true })
    }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer))
  )
})

describe("A certificate", () => {
  it.live("that ends in under 14 days is reported to the operator once, and again under 3 days", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const fs = yield* FileSystem.FileSystem
      const file = yield* fs.makeTempFileScoped()
      const env = ConfigProvider.layer(ConfigProvider.fromEnv({ env: { SMTP_TLS_CERT: file, SMTP_TLS_KEY: file } }))
      const watch = CertificateWatch.layer.pipe(
        Layer.provide(env),
        Layer.provide(Layer.succeed(CertificateWatch.Interval, "20 millis"))
      )
      const rows = sql<{ readonly payload: string; readonly workspaceId: string | null }>`
        SELECT payload, workspace_id FROM operational_events ORDER BY id
      `
      const certificate = Effect.fnUntraced(function* (days: number) {
        const notAfterDate = DateTime.toDateUtc(DateTime.add(yield* DateTime.now, { hours: days * 24 + 12 }))
        const made = yield* Effect.promise(() =>
          generate([{ name: "commonName", value: "mx.example.com" }], { notAfterDate })
        )
        yield* fs.writeFileString(file, made.cert)
      })
      yield* certificate(20)
      yield* Layer.build(watch)
      yield* certificate(10)
      const [first] = yield* eventually(rows, (all) => all.length === 1)
      assert.isNull(first?.workspaceId)
      const event = JSON.parse(first?.payload ?? "")
      assert.deepInclude(event, { type: "certificate.expiring", workspace_id: null, days_left: 10 })
      yield* certificate(2)
      const [, second] = yield* eventually(rows, (all) => all.length === 2)
      assert.strictEqual(JSON.parse(second?.payload ?? "").days_left, 2)
      assert.match(JSON.parse(second?.payload ?? "").message, /ends in 2 days\. Renew the files/)
    }).pipe(Effect.scoped, Effect.provide([TestDatabase.layer, NodeServices.layer]))
  )

  it.live("that Inlet orders is reported only in the last sixth of its life", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const now = DateTime.toEpochMillis(yield* DateTime.now)
      const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" })
      const read = yield* Queue.unbounded<void>()
      let days: readonly [from: number, to: number] = [-3, 3]
      const current = Effect.sync(() => {
        Queue.offerUnsafe(read, undefined)
        const [from, to] = days
        const chain = SelfSigned.certificate(
          privateKey,
          "mx.inlet.test",
          now + from * 86_400_000,
          now + to * 86_400_000
        )
        return Option.some({ chain, key: Redacted.make("") })
      })
      yield* Layer.build(
        CertificateWatch.layer.pipe(
          Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: {} }))),
          Layer.provide(Layer.succeed(CurrentCertificate, current)),
          Layer.provide(Layer.succeed(CertificateWatch.Interval, "20 millis"))
        )
      )
      const rows = sql<{ readonly payload: string }>`SELECT payload FROM operational_events`
      // The second look begins after the first one has ended.
      yield* Queue.take(read)
      yield* Queue.take(read)
      assert.deepStrictEqual(yield* rows, [])
      days = [-80, 10]
      const [first] = yield* eventually(rows, (all) => all.length === 1)
      const event = JSON.parse(first?.payload ?? "")
      assert.deepInclude(event, { type: "certificate.expiring", host: "mx.inlet.test" })
      assert.match(event.message, /Inlet could not renew it\. GET \/admin\/status has the reason/)
    }).pipe(Effect.scoped, Effect.provide([TestDatabase.layer, NodeServices.layer]))
  )
})
