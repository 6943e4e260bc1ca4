import { DateTime, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import * as Columns from "../database/Columns.ts"
import * as ClientNetwork from "../model/ClientNetwork.ts"
import * as Uuid7 from "../model/Uuid7.ts"
import type { Noted } from "./RefusalBuffer.ts"

/** Rows of a UTC day. Beyond them names are not told apart, and beyond twice as many neither are clients. */
export const mostRowsOfDay = 5_000

/** Rows of a client on a UTC day, beyond which its names are not told apart. */
const mostOfClient = 200

interface Row extends Noted {
  readonly name: string
}

const date = (millis: number) => DateTime.toDateUtc(DateTime.makeUnsafe(millis))

const merged = (rows: ReadonlyArray<Row>): ReadonlyArray<Row> => {
  const all = new Map<string, Row>()
  for (const row of rows) {
    const key = [row.hour, row.client, row.reason, row.name].join(" ")
    const known = all.get(key)
    if (known === undefined) all.set(key, { ...row })
    else {
      known.count += row.count
      known.lastAt = Math.max(known.lastAt, row.lastAt)
    }
  }
  return [...all.values()]
}

/** Makes a function that writes refusals without a domain into the operator's ledger, which is bounded by day. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  const newId = Uuid7.make((bytes) => Effect.runSync(random.randomBytes(bytes)))

  const rowsToday = Effect.map(
    sql<{ readonly rows: number }>`
      SELECT count(*)::int AS rows FROM (
        SELECT 1 FROM unknown_refusals WHERE hour >= date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
        LIMIT ${2 * mostRowsOfDay + 1}
      ) AS today
    `,
    ([found]) => found?.rows ?? 0
  )

  const rowsOfClients = (clients: ReadonlyArray<string>) =>
    Effect.map(
      sql<{ readonly client: string; readonly rows: number }>`
        SELECT asked.client, (
          SELECT count(*)::int FROM unknown_refusals
          WHERE unknown_refusals.client = asked.client
            AND hour >= date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
        ) AS rows FROM unnest(${clients}::text[]) AS asked (client)
      `,
      (found) => new Map(found.map(({ client, rows }) => [client, rows]))
    )

  const upsert = (rows: ReadonlyArray<Row>) => {
    const column = Columns.of(rows)
    return sql`
      INSERT INTO unknown_refusals AS before (
        id, hour, reason, name, client, first_at, last_at, count, code, reply, helo
      )
      SELECT * FROM unnest(
        ${column("uuid", ({ firstAt }) => newId(firstAt))},
        ${column("timestamptz", ({ hour }) => date(hour))},
        ${column("text", ({ reason }) => reason)},
        ${column("text", ({ name }) => name)},
        ${column("text", ({ client }) => client)},
        ${column("timestamptz", ({ firstAt }) => date(firstAt))},
        ${column("timestamptz", ({ lastAt }) => date(lastAt))},
        ${column("int8", ({ count }) => BigInt(count))},
        ${column("int4", ({ code }) => code)},
        ${column("text", ({ reply }) => reply)},
        ${column("text", ({ helo }) => helo)}
      ) AS input (id, hour, reason, name, client, first_at, last_at, count, code, reply, helo)
      -- A fixed order prevents deadlocks between processes.
      ORDER BY hour, client, reason, name
      ON CONFLICT (hour, client, reason, name) DO UPDATE SET
        count = before.count + excluded.count, last_at = greatest(before.last_at, excluded.last_at),
        code = excluded.code, reply = excluded.reply, helo = excluded.helo
    `
  }

  return Effect.fnUntraced(function* (unknown: ReadonlyArray<Noted>) {
    if (unknown.length === 0) return
    const rows = merged(
      unknown.map((noted) => ({
        ...noted,
        name: noted.domain !== null && "name" in noted.domain ? noted.domain.name : "",
        client: ClientNetwork.ofAnything(noted.client)
      }))
    )
    let today = yield* rowsToday
    const ofClients = yield* rowsOfClients([...new Set(rows.map(({ client }) => client))])
    const bounded = rows.map((row): Row => {
      const own = ofClients.get(row.client) ?? 0
      if (today >= 2 * mostRowsOfDay) return { ...row, name: "", client: "", helo: "" }
      if (row.name !== "" && (today >= mostRowsOfDay || own >= mostOfClient)) return { ...row, name: "" }
      // Rows that exist count as new ones here, so the bound is met a little early.
      today++
      ofClients.set(row.client, own + 1)
      return row
    })
    yield* upsert(merged(bounded))
  })
})
