import { Clock, Effect } from "effect"
import * as Patience from "../src/database/Patience.ts"
import * as Uuid7 from "../src/model/Uuid7.ts"
import type { Installation } from "./Installation.ts"

// Partitions by day, which Inlet does not have, on the tables of an installation with its processes running.

/** The tables of mail in the order in which they can be dropped, and their columns with an id of the partition's day. */
const tables = {
  delivery_attempts: ["event_id"],
  deliveries: ["event_id"],
  events: ["id", "inbound_email_id"],
  inbound_emails: ["id"]
}
const all = Object.entries(tables)
const millisPerDay = 86_400_000

/** The smallest id of a day, counted from today. */
const bound = (day: number) =>
  Effect.map(Clock.currentTimeMillis, (now) => Uuid7.lowestAt(now - (now % millisPerDay) + day * millisPerDay))

/** Makes the existing tables the first partition, up to tomorrow. Returns milliseconds in total and under the lock. */
export const move = Effect.fnUntraced(function* ({ sql }: Installation) {
  const run = (text: string) => sql.unsafe(text)
  const end = yield* bound(2)
  const began = performance.now()
  for (const [table, [key]] of all) {
    yield* run(`ALTER TABLE ${table} ADD CONSTRAINT ${table}_day CHECK (${key} < '${end}') NOT VALID`)
    yield* run(`ALTER TABLE ${table} VALIDATE CONSTRAINT ${table}_day`)
  }
  // PostgreSQL attaches no partition with a constraint that is not valid.
  yield* run("ALTER TABLE deliveries VALIDATE CONSTRAINT deliveries_hold_reason")
  for (const [table, [key]] of all) {
    yield* run(`
      CREATE TABLE ${table}_all (
        LIKE ${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE INCLUDING COMPRESSION
      ) PARTITION BY RANGE (${key})
    `)
    yield* run(`ALTER TABLE ${table}_all DROP CONSTRAINT ${table}_day`)
  }
  yield* run("ALTER TABLE delivery_attempts_all ADD UNIQUE (event_id, attempt)")
  let locked = 0
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* run("SET LOCAL lock_timeout = '500ms'")
      yield* run(`LOCK TABLE ${Object.keys(tables).join(", ")}, received_once IN ACCESS EXCLUSIVE MODE`)
      locked = performance.now()
      for (const [table] of all) {
        yield* run(`ALTER TABLE ${table} RENAME TO ${table}_first`)
        yield* run(`ALTER TABLE ${table}_all RENAME TO ${table}`)
        yield* run(`ALTER TABLE ${table} ATTACH PARTITION ${table}_first FOR VALUES FROM (MINVALUE) TO ('${end}')`)
      }
      // It would make each detached day a check of all its mail.
      yield* run("ALTER TABLE received_once DROP CONSTRAINT received_once_inbound_email_id_fkey")
    })
  )
  return { total: performance.now() - began, locked: performance.now() - locked }
}, Patience.forMuch)

/** Adds a day with copies of some events, from the second day after today on. */
export const addDay = Effect.fnUntraced(function* ({ sql }: Installation, day: number, events: number) {
  const run = (text: string) => sql.unsafe(text)
  const [start, end] = [yield* bound(2 + day), yield* bound(3 + day)]
  const millis = Uuid7.timeOf(start)
  /** An id of that day, the same for the same id. */
  const moved = (column: string) => `(
    lpad(to_hex(${millis} + ('x' || lpad(substr(replace(${column}::text, '-', ''), 5, 8), 16, '0'))::bit(64)::bigint
      % ${millisPerDay}), 12, '0') || substr(replace(${column}::text, '-', ''), 13)
  )::uuid`
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* run(`
        CREATE TEMP TABLE picked ON COMMIT DROP AS SELECT id, inbound_email_id FROM events_first LIMIT ${events}
      `)
      for (const [table, keys] of [...all].reverse()) {
        const leaf = `${table}_${day}`
        yield* run(`CREATE TABLE ${leaf} (LIKE ${table}_first INCLUDING ALL)`)
        yield* run(`ALTER TABLE ${leaf} DROP CONSTRAINT ${table}_day`)
        const columns = yield* sql<{ readonly name: string }>`
          SELECT quote_ident(attname) AS name FROM pg_attribute
          WHERE attrelid = ${leaf}::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum
        `
        const source = table === "inbound_emails" ? "inbound_email_id" : "id"
        yield* run(`
          INSERT INTO ${leaf}
          SELECT ${columns.map(({ name }) => (keys.includes(name) ? moved(`own.${name}`) : `own.${name}`)).join(", ")}
          FROM ${table}_first AS own WHERE ${keys[0]} IN (SELECT ${source} FROM picked)
        `)
      }
      const refers = (table: string, column: string, other: string) =>
        run(`ALTER TABLE ${table}_${day} ADD FOREIGN KEY (${column}) REFERENCES ${other}_${day} ON DELETE CASCADE`)
      yield* refers("events", "inbound_email_id", "inbound_emails")
      yield* refers("deliveries", "event_id", "events")
      yield* refers("delivery_attempts", "event_id", "events")
    })
  )
  for (const [table] of all) {
    yield* run(`ALTER TABLE ${table} ATTACH PARTITION ${table}_${day} FOR VALUES FROM ('${start}') TO ('${end}')`)
  }
  yield* run("CHECKPOINT")
}, Patience.forMuch)

/** Removes a day. Returns milliseconds in total and under the lock. */
export const dropDay = Effect.fnUntraced(function* ({ sql }: Installation, day: number) {
  const run = (text: string) => sql.unsafe(text)
  const began = performance.now()
  let locked = 0
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* run("SET LOCAL lock_timeout = '500ms'")
      yield* run(`LOCK TABLE ${Object.keys(tables).join(", ")} IN ACCESS EXCLUSIVE MODE`)
      locked = performance.now()
      for (const [table] of all) yield* run(`ALTER TABLE ${table} DETACH PARTITION ${table}_${day}`)
    })
  )
  const attached = performance.now() - locked
  yield* run(`DROP TABLE ${all.map(([table]) => `${table}_${day}`).join(", ")}`)
  return { total: performance.now() - began, locked: attached }
}, Patience.forMuch)
