import { Effect } from "effect"
import * as StatementPlans from "../test/StatementPlans.ts"
import * as Installation from "./Installation.ts"
import type * as SteadyLoad from "./SteadyLoad.ts"

const hotMessages = 1_000

/** The table and index pages read so far. A backend reports its own count when it ends. */
const pagesSoFar = Effect.fnUntraced(function* ({ sql }: Installation.Installation) {
  const [row] = yield* sql<{ readonly pages: number }>`
    SELECT sum(heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit + idx_blks_read, 0)
      + coalesce(toast_blks_hit + toast_blks_read, 0) + coalesce(tidx_blks_hit + tidx_blks_read, 0))::float8 AS pages
    FROM pg_statio_user_tables
  `
  return row?.pages ?? 0
})

/** The bytes of WAL that the server has written, for all databases. */
const logBytes = ({ sql }: Installation.Installation) =>
  Effect.map(
    sql<{ readonly bytes: number }>`SELECT (pg_current_wal_lsn() - '0/0')::float8 AS bytes`,
    ([row]) => row?.bytes ?? 0
  )

/** Measures one message: pages, WAL and time of PostgreSQL, and the messages per second. */
export const measure = Effect.fnUntraced(function* (own: Installation.Installation, sender: SteadyLoad.SteadyLoad) {
  const load = { recipient: "user3@customer0.example", pace: { concurrency: 20 } }
  const warm = yield* Installation.process(own, {})
  yield* sender.run({ ...load, port: warm.port, run: "warm", messages: 300 })
  yield* warm.stop

  const before = yield* pagesSoFar(own)
  const inlet = yield* Installation.process(own, {})
  yield* sender.run({ ...load, port: inlet.port, run: "warmer", messages: 300 })
  const logBefore = yield* logBytes(own)
  const started = performance.now()
  const { toWebhook } = yield* sender.run({ ...load, port: inlet.port, run: "hot", messages: hotMessages })
  const seconds = (performance.now() - started) / 1_000
  const log = (yield* logBytes(own)) - logBefore
  yield* inlet.stop
  const pages = (yield* pagesSoFar(own)) - before

  const plans = yield* StatementPlans.before(own.url)
  const explained = yield* Installation.process(own, { DATABASE_URL: plans.url })
  yield* sender.run({ ...load, port: explained.port, run: "explained-warm", messages: 300 })
  yield* plans.taken
  yield* sender.run({ ...load, port: explained.port, run: "explained", messages: hotMessages })
  const statements = yield* plans.taken
  yield* explained.stop
  return {
    perSecond: toWebhook.length / seconds,
    pages: pages / (hotMessages + 300),
    log: log / hotMessages,
    milliseconds: statements.reduce((sum, { milliseconds }) => sum + milliseconds, 0) / hotMessages
  }
}, Effect.scoped)
