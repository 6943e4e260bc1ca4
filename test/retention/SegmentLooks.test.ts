import { assert, layer } from "@effect/vitest"
import { ConfigProvider, DateTime, Effect, Layer, Logger, References, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentTransformer, type Transformer } from "effect/sql/Statement"
import { RawStore } from "../../src/providers/storage/RawStore.ts"
import * as Segments from "../../src/providers/storage/Segments.ts"
import * as OldSegments from "../../src/retention/OldSegments.ts"
import * as WithoutRow from "../../src/retention/WithoutRow.ts"
import * as StatementPlans from "../StatementPlans.ts"
import * as TestDatabase from "../TestDatabase.ts"

interface Scanned extends StatementPlans.Step {
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  readonly "Rows Removed by Filter"?: number
}

let made = 0

/** A segment of this age, in minutes, with rows that came evenly from its opening on. */
const segmentOf = Effect.fnUntraced(function* (age: number, rows: number, from = 0, to = 59) {
  const sql = yield* SqlClient.SqlClient
  const openedAt = DateTime.subtract(yield* DateTime.now, { minutes: age })
  const id = Segments.idAt(DateTime.toEpochMillis(openedAt), new Uint8Array(10).fill(++made))
  yield* sql`
    INSERT INTO inbound_emails (
      id, domain_id, received_at, sha256, mail_from, helo, remote_address, recipients, state, trace_bytes, segment,
      raw_at, raw_bytes
    )
    SELECT gen_random_uuid(), gen_random_uuid(),
      ${DateTime.toDateUtc(openedAt)}::timestamptz
        + interval '1 minute' * (${from}::float8 + (${to}::float8 - ${from}::float8) * number / ${rows}::int),
      '', '', '', '', '{}', 'read', 0, ${id}::uuid, 0, 0
    FROM generate_series(1, ${rows}::int) AS number
  `
  return { id, openedAt }
})

/** Looks at these segments of ten records. Returns what it removed, logged and asked, and how many rows it read. */
const look = Effect.fnUntraced(function* (
  work: Effect.Effect<Effect.Effect<unknown>, unknown, SqlClient.SqlClient | RawStore>,
  segments: ReadonlyArray<Segments.Segment>,
  RETENTION_DAYS: string
) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ANALYZE inbound_emails`
  const removed: Array<string> = []
  const asked: Array<readonly [string, ReadonlyArray<unknown>]> = []
  const told: Array<unknown> = []
  const overhear: Transformer = (self) => {
    const [text, values] = self.compile()
    if (text.includes("FROM inbound_emails")) asked.push([text, values])
    return Effect.succeed(self)
  }
  yield* Effect.flatten(work).pipe(
    Effect.provideService(CurrentTransformer, overhear),
    Effect.provide([
      Layer.mock(RawStore, {
        olderThan: () => Stream.empty,
        segments: {
          ...Segments.none,
          openedBefore: (time) =>
            Effect.succeed(segments.filter(({ openedAt }) => DateTime.isLessThan(openedAt, time))),
          records: () => Effect.succeed(10),
          remove: (id) => Effect.sync(() => void removed.push(id))
        }
      }),
      ConfigProvider.layer(ConfigProvider.fromEnv({ env: { RETENTION_DAYS } })),
      Logger.layer([
        Logger.make(({ fiber }) => void told.push(fiber.getRef(References.CurrentLogAnnotations).records_of_a_day))
      ])
    ])
  )
  let read = 0
  for (const [text, values] of asked) {
    const [explained] = yield* sql.unsafe<{ readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: Scanned }> }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
      values
    )
    for (const { Plan } of explained?.["QUERY PLAN"] ?? []) {
      // PostgreSQL's documented form of every step.
      for (const step of StatementPlans.steps(Plan) as ReadonlyArray<Scanned>) {
        assert.notStrictEqual(step["Node Type"], "Seq Scan")
        if (step["Relation Name"] !== "inbound_emails") continue
        read += (step["Actual Rows"] + (step["Rows Removed by Filter"] ?? 0)) * step["Actual Loops"]
      }
    }
  }
  return { removed, told, asked: asked.length, read }
})

layer(TestDatabase.layer, { excludeTestServices: true })("The look at the segments of the log", (it) => {
  it.effect("finds a row of a segment without a pass through the rows of other segments before it", () =>
    Effect.gen(function* () {
      const others = yield* segmentOf(72 * 60, 6_000)
      const half = yield* segmentOf(72 * 60 - 30, 6_000)
      const late = yield* segmentOf(71 * 60, 1, 30, 50)
      const gone = {
        id: Segments.idAt(DateTime.toEpochMillis(half.openedAt), new Uint8Array(10)),
        openedAt: half.openedAt
      }
      const busy = yield* look(OldSegments.make, [others, half], "0")
      assert.deepStrictEqual(busy.removed, [])
      assert.isBelow(busy.read, 1_000)
      const { removed } = yield* look(OldSegments.make, [others, half, late, gone], "0")
      assert.deepStrictEqual(removed, [gone.id])
    })
  )

  const withoutRow = WithoutRow.make((refs) => Effect.succeed(refs.length))

  it.effect("counts the rows of all segments of an hour at once, and by the index of time", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`DELETE FROM inbound_emails`
      yield* segmentOf(72 * 60, 20_000)
      const [{ at } = { at: 0 }] = yield* sql<{ readonly at: number }>`SELECT extract(minute FROM now())::int AS at`
      // Minutes ago, so that four were opened in one hour and one in the next.
      const segments = [
        yield* segmentOf(5 * 60 + at - 1, 7),
        yield* segmentOf(5 * 60 + at - 2, 10),
        yield* segmentOf(5 * 60 + at - 3, 12),
        { ...(yield* segmentOf(5 * 60 + at - 4, 1)), id: Segments.idAt(0, new Uint8Array(10)) },
        yield* segmentOf(4 * 60 + at - 1, 9)
      ]
      const { asked, told } = yield* look(withoutRow, segments, "14")
      assert.deepStrictEqual(told, [3 + 0 + 0 + 10 + 1])
      assert.strictEqual(asked, 2)
    })
  )

  it.effect("counts no record as lost whose row may have expired", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const segments = [yield* segmentOf(25 * 60, 0), yield* segmentOf(24 * 60 - 30, 0), yield* segmentOf(22 * 60, 0)]
      yield* sql`DELETE FROM inbound_emails`
      assert.deepStrictEqual((yield* look(withoutRow, segments, "1")).told, [10])
      assert.deepStrictEqual((yield* look(withoutRow, segments, "14")).told, [30])
      assert.deepStrictEqual((yield* look(withoutRow, segments, "0")).told, [30])
    })
  )
})
