import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as MxWatch from "../../src/operations/MxWatch.ts"
import * as OperationalDeliveries from "../../src/operations/OperationalDeliveries.ts"
import * as Recorder from "../../src/operations/Recorder.ts"
import * as FakeDns from "../../src/testing/FakeDns.ts"
import * as Public from "../../src/testing/TestInlet.ts"
import { eventually } from "../Eventually.ts"
import * as FullHour from "../FullHour.ts"
import { database, TestInlet } from "../TestInlet.ts"

/** The DNS of the service. */
export const dns = FakeDns.make()

/** The service with quick background work. It looks at MX records only when a test says so. */
export const layer = (settings: Readonly<Record<string, string>>) =>
  Layer.effect(TestInlet, Public.TestInlet).pipe(
    Layer.provideMerge(Public.TestInlet.layer({ settings, database, dns: dns.layer })),
    Layer.provide([
      Layer.succeed(Recorder.Intervals, { changes: "30 millis", counts: "30 millis" }),
      Layer.succeed(OperationalDeliveries.Interval, "30 millis"),
      Layer.succeed(MxWatch.Interval, "1 day")
    ])
  )

/** A new workspace with an instant inbox. Its events of an hour are those of the test. */
export const workspace = Effect.gen(function* () {
  yield* FullHour.away
  const inlet = yield* TestInlet
  const sql = yield* SqlClient.SqlClient
  const inbox = yield* inlet.inbox()
  const [row] = yield* sql<{ readonly id: string }>`
    SELECT workspace_id AS id FROM domains WHERE id = ${inbox.domainId}
  `
  const { key } = inbox
  const list = (query = "") =>
    Effect.map(inlet.call("GET", `/api/operational-events${query}`, { key }), ({ json }) => json)
  const set = (opsWebhookUrl: unknown) => inlet.call("PATCH", "/api/workspace", { key, body: { opsWebhookUrl } })
  /** Its events once there are so many. */
  const events = (count: number) =>
    Effect.map(
      eventually(list(), ({ operational_events: all }) => all.length >= count),
      (json) => json.operational_events
    )
  /** The delivery of its newest event, once it has this state. */
  const delivery = (status: string) =>
    Effect.map(
      eventually(list(), ({ operational_events: [newest] }) => newest?.delivery?.status === status),
      (json) => json.operational_events[0].delivery
    )
  return { ...inbox, workspaceId: row?.id ?? "", list, set, events, delivery }
})

/** Verifies a new domain of the workspace. */
export const verifiedDomain = Effect.fnUntraced(function* (key: string, name: string) {
  const inlet = yield* TestInlet
  const { json } = yield* inlet.call("POST", "/api/domains", { key, body: { domain: name } })
  yield* dns.answer(json.txt_name, { TXT: [json.txt_value] })
  yield* inlet.call("POST", `/api/domains/${json.id}/verify`, { key })
  return json.id as string
})

/** Changes the webhook of a domain as a pause and a resumption do. */
export const pause = (domainId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      UPDATE webhooks SET action = 'webhook', url = 'https://hooks.example/',
        failing_since = now() - interval '5 days', paused_at = now(), probe_at = now() + interval '1 hour'
      WHERE id = ${domainId}
    `
  )
export const resume = (domainId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      UPDATE webhooks SET failing_since = NULL, paused_at = NULL, probe_at = NULL
      WHERE id = ${domainId}
    `
  )

/** Moves all events of a workspace an hour back, so that the next of a kind is recorded. */
export const anHourLater = (workspaceId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`
      UPDATE operational_events SET period = period - interval '1 hour' WHERE workspace_id = ${workspaceId}
    `
  )
