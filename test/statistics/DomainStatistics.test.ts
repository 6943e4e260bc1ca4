import { assert, describe, it, layer } from "@effect/vitest"
import { DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { DomainId } from "../../src/model/Domain.ts"
import * as DayCounter from "../../src/statistics/DayCounter.ts"
import { DomainStatistics, quantile } from "../../src/statistics/DomainStatistics.ts"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import * as ManyDomains from "../ManyDomains.ts"
import { TestInlet } from "../TestInlet.ts"
import { WebhookReceiver } from "../WebhookReceiver.ts"

const often = Layer.succeed(DayCounter.Interval, "50 millis")

layer(Layer.merge(TestInlet.layer({ WEBHOOK_RETRY_DELAYS: "1ms" }).pipe(Layer.provide(often)), WebhookReceiver.layer), {
  excludeTestServices: true
})("The daily statistics of a domain", (it) => {
  /** A domain with a webhook, and its statistics. */
  const counted = Effect.gen(function* () {
    const inlet = yield* TestInlet
    const receiver = yield* WebhookReceiver
    const inbox = yield* inlet.inbox(receiver.url)
    const stats = (days = 30) =>
      Effect.map(
        inlet.call("GET", `/api/domains/${inbox.domainId}/stats?days=${days}`, { key: inbox.key }),
        ({ json }) => json.days
      )
    return { ...inbox, stats }
  })

  /** Attempts count once they can no longer be running, so their times are set back. */
  const age = (domainId: string) =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) =>
        sql`UPDATE delivery_attempts SET requested_at = requested_at - interval '2 minutes' WHERE domain_id = ${domainId}`
    )

  const hasAttempts = (domainId: string, count: number) =>
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      eventually(sql`SELECT 1 FROM delivery_attempts WHERE domain_id = ${domainId}`, (rows) => rows.length === count)
    )

  it.effect("have a day each since the domain was added, oldest first, with zeros without mail", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { domainId, stats } = yield* counted
      assert.lengthOf(yield* stats(7), 1)
      yield* sql`UPDATE domains SET created_at = now() - interval '3 days' WHERE id = ${domainId}`
      assert.lengthOf(yield* stats(7), 4)
      yield* sql`UPDATE domains SET created_at = now() - interval '30 days' WHERE id = ${domainId}`
      const days = yield* stats(7)
      assert.lengthOf(days, 7)
      const today = DateTime.formatIsoDateUtc(yield* DateTime.now)
      assert.deepStrictEqual(days.at(-1), {
        day: today,
        accepted: 0,
        bytes: 0,
        held: 0,
        spam: 0,
        virus: 0,
        unscanned: 0,
        delivered: 0,
        failed: 0,
        dead: 0,
        p50_ms: null,
        p99_ms: null,
        refused: []
      })
      const names = days.map(({ day }: { readonly day: string }) => day)
      assert.deepStrictEqual(names, names.toSorted())
    })
  )

  it.effect("end with today in a time zone that skipped a midnight last week", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const statistics = yield* DomainStatistics
      const { domainId } = yield* counted
      yield* sql`UPDATE domains SET created_at = now() - interval '6 days' WHERE id = ${domainId}`
      const now = yield* DateTime.now
      const days = yield* sql.withTransaction(
        Effect.andThen(
          // A zone in which 00:00 is 01:00 on a day of the last week, and back 100 days before it.
          sql`
            SELECT set_config('TimeZone', format('<-04>4<-03>,J%s/0,J%s/0', least(skipped, 365), 1 + (skipped + 264) % 365), true)
            FROM (SELECT extract(doy FROM now() AT TIME ZONE 'UTC' - interval '3 days')::int AS skipped) AS zone
          `,
          statistics.of(DomainId.make(domainId), 7)
        )
      )
      assert.deepStrictEqual(
        days.map(({ day }) => day),
        [6, 5, 4, 3, 2, 1, 0].map((ago) => DateTime.formatIsoDateUtc(DateTime.subtract(now, { days: ago })))
      )
    }).pipe(Effect.provide(DomainStatistics.layer))
  )

  it.effect("count mail, its bytes, attempts, dead letters and the time to 2xx, each once", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const receiver = yield* WebhookReceiver
      const { address, domainId, stats } = yield* counted
      // Two attempts fail and the delivery is dead; the next mail is delivered.
      yield* receiver.answerWith(500, 500)
      yield* Mail.send(inlet.smtpPort, { to: address, subject: "dead", text: "x".repeat(1_000) })
      yield* hasAttempts(domainId, 2)
      yield* Mail.send(inlet.smtpPort, { to: address, subject: "delivered" })
      yield* hasAttempts(domainId, 3)
      yield* age(domainId)
      const days = yield* eventually(stats(), (days) => days.at(-1).delivered === 1)
      const { bytes, p50_ms, ...today } = days.at(-1)
      assert.deepInclude(today, { accepted: 2, delivered: 1, failed: 2, dead: 1 })
      assert.isAbove(bytes, 1_500)
      assert.isBelow(bytes, 6_000)
      assert.isAbove(p50_ms, 0)
      // Rounds without news count nothing again.
      yield* DayCounter.round
      yield* DayCounter.round
      assert.deepStrictEqual(yield* stats(), days)
    })
  )

  it.effect("count a delivery that is dead because its leases ended without an outcome, once", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const { address, domainId, key, stats } = yield* counted
      for (const body of [{ webhookUrl: null }, { pull: true }]) {
        const { status } = yield* inlet.call("PATCH", `/api/domains/${domainId}/delivery`, { key, body })
        assert.strictEqual(status, 200)
      }
      yield* Mail.send(inlet.smtpPort, { to: address })
      // Later mail has moved the counter on.
      const passed = sql`
        UPDATE domain_days_counted SET attempts_until = now() WHERE domain_id = ${domainId} RETURNING 1 AS one
      `
      yield* eventually(passed, ({ length }) => length === 1)
      const lease = inlet.call("POST", `/api/domains/${domainId}/deliveries/lease`, { key, body: { wait: 5 } })
      const ends = sql`
        UPDATE deliveries SET leased_until = now(), claimed_at = claimed_at - interval '3 days'
        WHERE domain_id = ${domainId}
      `
      for (const _ of [1, 2, 3]) {
        assert.lengthOf((yield* lease).json.deliveries, 1)
        yield* ends
      }
      yield* Effect.forkChild(lease)
      yield* eventually(stats(), (days) => days.at(-1).dead === 1)
      yield* sql`UPDATE domain_days_counted SET attempts_until = '-infinity' WHERE domain_id = ${domainId}`
      const sums = sql`
        SELECT sum(failed)::int AS failed, sum(dead)::int AS dead FROM domain_days WHERE domain_id = ${domainId}
      `
      const [sum] = yield* eventually(sums, ([row]) => row?.failed === 3)
      assert.deepStrictEqual(sum, { failed: 3, dead: 1 })
    })
  )

  it.effect("count a time to 2xx of a power of two in the bucket that begins there", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const { address, domainId, stats } = yield* counted
      yield* Mail.send(inlet.smtpPort, { to: address })
      yield* hasAttempts(domainId, 1)
      yield* sql`UPDATE events SET received_at = received_at - interval '2 minutes' WHERE domain_id = ${domainId}`
      yield* sql`
        UPDATE delivery_attempts SET requested_at = events.received_at, duration_ms = 1024
        FROM events WHERE events.id = delivery_attempts.event_id AND events.domain_id = ${domainId}
      `
      const days = yield* eventually(stats(), (days) => days.at(-1).delivered === 1)
      assert.strictEqual(days.at(-1).p50_ms, Math.round(2 ** 10.125))
    })
  )

  it.effect("count mail that a sender rule holds", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { address, domainId, key, stats } = yield* counted
      yield* inlet.call("POST", `/api/domains/${domainId}/sender-rules`, {
        key,
        body: { list: "allow", value: "friend.example" }
      })
      yield* Mail.send(inlet.smtpPort, { to: address })
      const days = yield* eventually(stats(), (days) => days.at(-1).accepted === 1)
      assert.deepInclude(days.at(-1), { accepted: 1, held: 1 })
    })
  )

  it.effect("stay when the events are gone, and go on behind them", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const { address, domainId, stats } = yield* counted
      yield* Mail.send(inlet.smtpPort, { to: address })
      yield* eventually(stats(), (days) => days.at(-1).accepted === 1)
      yield* sql`DELETE FROM inbound_emails WHERE domain_id = ${domainId}`
      yield* DayCounter.round
      yield* Mail.send(inlet.smtpPort, { to: address })
      yield* eventually(stats(), (days) => days.at(-1).accepted === 2)
    })
  )

  it.effect("refuse other numbers of days", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const { domainId, key } = yield* counted
      for (const days of ["0", "91", "x"]) {
        const { json, status } = yield* inlet.call("GET", `/api/domains/${domainId}/stats?days=${days}`, { key })
        assert.strictEqual(status, 400)
        assert.match(json.error, /^days: Expected/)
      }
    })
  )
})

const seldom = Layer.succeed(DayCounter.Interval, "1 hour")

layer(TestInlet.layer({ MAX_DOMAINS_PER_WORKSPACE: "0" }).pipe(Layer.provide(seldom)), {
  excludeTestServices: true
})("A count of all domains", (it) => {
  it.effect("reaches each of more domains than one statement counts, and the rest of one with very many events", () =>
    Effect.gen(function* () {
      const inlet = yield* TestInlet
      const sql = yield* SqlClient.SqlClient
      const { key, name, workspaceId } = yield* ManyDomains.workspaceWith(45)
      yield* sql`UPDATE domains SET status = 'mx_pending', verified_at = now() WHERE workspace_id = ${workspaceId}::uuid`
      const recipients = Array.from({ length: 45 }, (_, index) => `a@${index + 1}.${name}`)
      yield* Mail.send(inlet.smtpPort, { to: recipients })
      yield* eventually(inlet.call("GET", "/api/events", { key }), ({ json }) => json.events.length === 45)
      // Copies of one event, because only their number counts.
      const [busy] = yield* sql<{ readonly domainId: string }>`
        INSERT INTO events (id, domain_id, inbound_email_id, position, recipient, sender, received_at, payload)
        SELECT gen_random_uuid(), domain_id, inbound_email_id, 1 + n, recipient, sender, received_at, payload
        FROM events, generate_series(1, 4100) AS n WHERE recipient = ${`a@7.${name}`}
        RETURNING domain_id
      `
      yield* sql`UPDATE event_positions SET position = 4101 WHERE domain_id = ${busy?.domainId}`
      yield* DayCounter.round
      const counted = yield* sql<{ readonly accepted: number }>`
        SELECT accepted FROM domain_days JOIN domains ON domains.id = domain_id
        WHERE workspace_id = ${workspaceId}::uuid ORDER BY accepted
      `
      assert.deepStrictEqual(
        counted.map(({ accepted }) => accepted),
        [...Array(44).fill(1), 4_101]
      )
    })
  )
})

describe("A quantile of latencies", () => {
  it("is the middle of the bucket that it falls into", () => {
    const latencies = [
      { bucket: 0, deliveries: 98 },
      { bucket: 40, deliveries: 2 }
    ]
    assert.strictEqual(quantile(latencies, 0.5), 1)
    assert.strictEqual(quantile(latencies, 0.99), Math.round(2 ** 10.125))
    assert.isNull(quantile([], 0.5))
  })
})
