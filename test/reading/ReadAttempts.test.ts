import { createHash } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Clock, Context, Effect, Fiber, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { EventFeed } from "../../src/delivery/EventFeed.ts"
import { Handover } from "../../src/delivery/Handover.ts"
import { MailScanner } from "../../src/providers/scanner/MailScanner.ts"
import { RawStore } from "../../src/providers/storage/RawStore.ts"
import { RawStoreError } from "../../src/providers/storage/RawStoreError.ts"
import * as Segments from "../../src/providers/storage/Segments.ts"
import { Reader } from "../../src/reading/Reader.ts"
import { eventually } from "../Eventually.ts"
import { TestInlet } from "../TestInlet.ts"

const message = Buffer.from(
  "Return-Path: <>\r\nReceived: from a by b\r\nFrom: ada@sender.example\r\nSubject: read\r\n\r\nbody\r\n"
)

type Get = RawStore["Service"]["get"]

const always: Get = () => Effect.succeed(Uint8Array.from(message))

/** The reader of a process of its own on this raw store, with a clock that the test sets. */
const readerOn = Effect.fnUntraced(function* (get: Get) {
  const clock = yield* TestClock.make()
  const built = yield* Layer.build(
    Layer.fresh(Reader.layer).pipe(
      Layer.provide([
        Layer.mock(RawStore, { get, segments: Segments.none }),
        EventFeed.layer,
        Handover.layerNone,
        MailScanner.layerNone,
        Layer.succeed(Clock.Clock, clock)
      ])
    )
  )
  const readLeftOver = Context.get(built, Reader)
    .claimLeftOver([])
    .pipe(
      Effect.flatMap((claimed) =>
        Effect.all(
          claimed.map(({ read }) => read),
          { concurrency: "unbounded", discard: true }
        )
      ),
      Effect.provideService(Clock.Clock, clock)
    )
  return { clock, readLeftOver }
})

/** Mail of a domain of its own that no process has read. */
const unread = Effect.fnUntraced(function* ({
  bytes = message.byteLength,
  count = 1,
  recipients = 1
}: {
  readonly bytes?: number
  readonly count?: number
  readonly recipients?: number
} = {}) {
  const inlet = yield* TestInlet
  const sql = yield* SqlClient.SqlClient
  const { domain, domainId } = yield* inlet.inbox()
  const addresses = Array.from({ length: recipients }, (_, at) => `${at}@${domain}`)
  yield* sql`
    INSERT INTO inbound_emails (
      id, domain_id, received_at, sha256, mail_from, helo, remote_address, recipients, state, read_attempts,
      trace_bytes, segment, raw_at, raw_bytes
    )
    SELECT gen_random_uuid(), ${domainId}, now(), ${createHash("sha256").update(message).digest()}, '',
      'client.example', '203.0.113.9', ${addresses}::text[], 'received', 0, 0, gen_random_uuid(), 0, ${bytes}::int
    FROM generate_series(1, ${count}::int)
  `
  return domainId
})

const rowsOf = Effect.fnUntraced(function* (domainId: string) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{
    readonly state: string
    readonly readAttempts: number
    readonly readRecipients: number
    readonly leasedFor: number | null
  }>`
    SELECT state, read_attempts, read_recipients, extract(epoch FROM leased_until - now())::float8 AS leased_for
    FROM inbound_emails WHERE domain_id = ${domainId}
  `
})

const parses = Effect.fnUntraced(function* (domainId: string) {
  const sql = yield* SqlClient.SqlClient
  const events = yield* sql<{ readonly parse: string }>`
    SELECT payload::json->>'parse' AS parse FROM events WHERE domain_id = ${domainId}
  `
  return events.map(({ parse }) => parse)
})

const setLeases = Effect.fnUntraced(function* (domainId: string, seconds: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    UPDATE inbound_emails SET leased_until = now() + make_interval(secs => ${seconds})
    WHERE domain_id = ${domainId} AND state = 'received'
  `
})

/** The SQLSTATEs of a server without free connections, and of one without room on its disk. */
const crowded = "53300"
const fullDisk = "53100"

/** Refuses writes to these tables until the scope closes. */
const refusing = Effect.fnUntraced(function* (tables: ReadonlyArray<string>, code: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    CREATE OR REPLACE FUNCTION refuse_writes() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '${sql.literal(code)}'; END
    $$
  `
  for (const table of tables) {
    yield* Effect.acquireRelease(
      sql`CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON ${sql(table)} EXECUTE FUNCTION refuse_writes()`,
      () => Effect.orDie(sql`DROP TRIGGER refuse ON ${sql(table)}`)
    )
  }
})

type World = Effect.Success<ReturnType<typeof readerOn>>

/** Claims the mail, and fails to write its events for longer than the reader tries. */
const failToWrite = Effect.fnUntraced(function* (
  { clock, readLeftOver }: World,
  domainId: string,
  refused: ReadonlyArray<string>,
  code = crowded
) {
  yield* Effect.scoped(
    Effect.gen(function* () {
      // The claim comes before the outage.
      yield* refusing(["events"], code)
      const reading = yield* Effect.forkScoped(readLeftOver)
      yield* eventually(rowsOf(domainId), ([row]) => (row?.leasedFor ?? 0) > 0)
      yield* refusing(refused, code)
      yield* eventually(
        Effect.andThen(
          clock.adjust("2 seconds"),
          Effect.sync(() => Option.fromUndefinedOr(reading.pollUnsafe()))
        ),
        Option.isSome
      )
      yield* Fiber.join(reading)
    })
  )
  yield* setLeases(domainId, -1)
})

// Without a worker, which would read the mail.
layer(TestInlet.layer({ ROLES: "http", SENDER_CHECKS: "false" }), { excludeTestServices: true })(
  "Read attempts",
  (it) => {
    it.effect("are not counted if a stop ends them, also while the mail waits to be loaded", () =>
      Effect.gen(function* () {
        const domainId = yield* unread({ bytes: 32 * 1_024 * 1_024, count: 4 })
        yield* Effect.scoped(
          Effect.gen(function* () {
            const { clock, readLeftOver } = yield* readerOn(() => Effect.never)
            yield* Effect.forkScoped(readLeftOver)
            yield* eventually(rowsOf(domainId), (rows) => rows.every(({ readAttempts }) => readAttempts === 1))
            // Two are being loaded, and two wait. The process extends the leases of all.
            yield* setLeases(domainId, 30)
            yield* eventually(
              Effect.andThen(clock.adjust("5 seconds"), rowsOf(domainId)),
              (rows) => rows.every(({ leasedFor }) => (leasedFor ?? 0) > 45),
              "5 seconds"
            )
          })
        )
        for (const row of yield* rowsOf(domainId)) {
          assert.deepInclude(row, { state: "received", readAttempts: 0, leasedFor: null })
        }
        yield* (yield* readerOn(always)).readLeftOver
        assert.deepStrictEqual(yield* parses(domainId), ["full", "full", "full", "full"])
      })
    )

    it.effect("are not counted if the database is away for longer than the reader tries", () =>
      Effect.gen(function* () {
        const domainId = yield* unread()
        const world = yield* readerOn(always)
        for (let outages = 0; outages < 3; outages++) {
          yield* failToWrite(world, domainId, ["inbound_emails"])
        }
        yield* world.readLeftOver
        assert.deepStrictEqual(yield* parses(domainId), ["full"])
      })
    )

    it.effect("are given back within 20 s of the end of an outage", () =>
      Effect.gen(function* () {
        const domainId = yield* unread()
        const world = yield* readerOn(always)
        yield* failToWrite(world, domainId, ["inbound_emails"])
        assert.deepInclude((yield* rowsOf(domainId))[0], { state: "received", readAttempts: 1, readRecipients: 0 })
        yield* world.clock.adjust("20 seconds")
        yield* eventually(rowsOf(domainId), ([row]) => row?.readAttempts === 0)
        yield* world.readLeftOver
      })
    )

    it.effect("are counted if the database takes other writes than the events of the mail", () =>
      Effect.gen(function* () {
        const domainId = yield* unread()
        const world = yield* readerOn(always)
        yield* failToWrite(world, domainId, [])
        yield* failToWrite(world, domainId, [])
        yield* world.readLeftOver
        assert.deepStrictEqual(yield* parses(domainId), ["headers"])
      })
    )

    it.effect("are not counted if the disk of the database is full, which may take other writes", () =>
      Effect.gen(function* () {
        const domainId = yield* unread()
        const world = yield* readerOn(always)
        for (let outages = 0; outages < 3; outages++) yield* failToWrite(world, domainId, [], fullDisk)
        yield* world.readLeftOver
        assert.deepStrictEqual(yield* parses(domainId), ["full"])
      })
    )

    it.effect("are not counted if the mail could not be loaded again for its further recipients", () =>
      Effect.gen(function* () {
        const domainId = yield* unread({ recipients: 40 })
        let loads = 0
        const { readLeftOver } = yield* readerOn((...args) =>
          ++loads === 2 ? Effect.fail(new RawStoreError({ cause: "away" })) : always(...args)
        )
        yield* readLeftOver
        const [row] = yield* rowsOf(domainId)
        assert.deepInclude(row, { state: "received", readAttempts: 0 })
        assert.isAbove(row?.readRecipients ?? 0, 0)
        yield* setLeases(domainId, -1)
        yield* readLeftOver
        assert.deepStrictEqual(
          yield* parses(domainId),
          Array.from({ length: 40 }, () => "full")
        )
      })
    )
  }
)
