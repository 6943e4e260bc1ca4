import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Bugs from "../database/Bugs.ts"
import { DomainId } from "../model/Domain.ts"
import { RefusalReason } from "../model/Refusal.ts"
import { bucketsPerDoubling } from "./DayCounter.ts"

/** Days that a domain's figures are kept. */
export const keptDays = 90

const count = Schema.Int

export const DayStatistics = Schema.Struct({
  day: Schema.String.annotate({ description: "a UTC day, such as 2026-01-31" }),
  accepted: count.annotate({ description: "events of mail received that day" }),
  bytes: count.annotate({ description: "bytes of that mail" }),
  held: count.annotate({
    description:
      "of these events, those that a sender rule, the mail scanner or the loop guard held for a minute or longer"
  }),
  spam: count.annotate({ description: "those that the mail scanner called spam" }),
  virus: count.annotate({ description: "those in which it found a virus" }),
  unscanned: count.annotate({ description: "those that it could not scan" }),
  delivered: count.annotate({ description: "attempts of that day with a 2xx" }),
  failed: count.annotate({ description: "attempts of that day without one" }),
  dead: count.annotate({
    description: "deliveries that became dead letters that day, and were not replayed before they were counted"
  }),
  p50_ms: Schema.NullOr(count).annotate({ description: "median time from receipt to 2xx, to a fifth" }),
  p99_ms: Schema.NullOr(count),
  refused: Schema.Array(Schema.Struct({ reason: RefusalReason, count })).annotate({
    description: "refused recipients and messages of that day by reason, most first"
  })
}).annotate({ identifier: "DayStatistics" })
export type DayStatistics = typeof DayStatistics.Type

const Latency = Schema.Struct({ bucket: Schema.Int, deliveries: Schema.Int })

const Row = Schema.Struct({
  day: Schema.String,
  accepted: Schema.Int,
  bytes: Schema.FiniteFromString,
  held: Schema.Int,
  spam: Schema.Int,
  virus: Schema.Int,
  unscanned: Schema.Int,
  delivered: Schema.Int,
  failed: Schema.Int,
  dead: Schema.Int,
  latencies: Schema.NullOr(Schema.Array(Latency)),
  refused: Schema.NullOr(Schema.Array(Schema.Struct({ reason: RefusalReason, count: Schema.Int })))
})

/** Reads a domain's daily figures, which DayCounter writes, and RefusalNotes for refusals. */
export class DomainStatistics extends Context.Service<
  DomainStatistics,
  {
    /** One entry per UTC day of the domain up to today, oldest first. Days without mail have zeros. */
    of(domainId: DomainId, days: number): Effect.Effect<ReadonlyArray<DayStatistics>, SqlError>
  }
>()("inlet/statistics/DomainStatistics") {
  static readonly layer = Layer.effect(
    DomainStatistics,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const select = SqlSchema.findAll({
        Request: Schema.Struct({ id: DomainId, days: Schema.Int }),
        Result: Row,
        execute: ({ days, id }) => sql`
          SELECT to_char(calendar.day, 'YYYY-MM-DD') AS day, coalesce(accepted, 0) AS accepted,
            coalesce(bytes, 0)::text AS bytes, coalesce(held, 0) AS held, coalesce(spam, 0) AS spam, coalesce(virus, 0) AS virus,
            coalesce(unscanned, 0) AS unscanned, coalesce(delivered, 0) AS delivered, coalesce(failed, 0) AS failed,
            coalesce(dead, 0) AS dead, (
              SELECT json_agg(json_build_object('bucket', bucket, 'deliveries', deliveries) ORDER BY bucket)
              FROM domain_day_latencies WHERE domain_id = ${id} AND domain_day_latencies.day = calendar.day::date
            ) AS latencies, (
              SELECT json_agg(json_build_object('reason', reason, 'count', refused) ORDER BY refused DESC, reason)
              FROM domain_day_refusals WHERE domain_id = ${id} AND domain_day_refusals.day = calendar.day::date
            ) AS refused
          -- Without the casts the days are those of the session's time zone, which may skip a midnight.
          FROM generate_series(
            greatest((now() AT TIME ZONE 'UTC')::date - ${days}::int + 1, least(
              (now() AT TIME ZONE 'UTC')::date,
              (SELECT (created_at AT TIME ZONE 'UTC')::date FROM domains WHERE id = ${id}),
              (SELECT min(day) FROM domain_days WHERE domain_id = ${id})
            ))::timestamp,
            (now() AT TIME ZONE 'UTC')::date::timestamp, interval '1 day'
          ) AS calendar (day)
          LEFT JOIN domain_days ON domain_id = ${id} AND domain_days.day = calendar.day::date
          ORDER BY calendar.day
        `
      })

      const of = Effect.fn("DomainStatistics.of")(
        (id: DomainId, days: number) =>
          Effect.map(select({ id, days }), (rows) =>
            rows.map(({ latencies, refused, ...row }) => ({
              ...row,
              refused: refused ?? [],
              p50_ms: quantile(latencies ?? [], 0.5),
              p99_ms: quantile(latencies ?? [], 0.99)
            }))
          ),
        Bugs.die
      )

      return DomainStatistics.of({ of })
    })
  )
}

/** The middle of the bucket that the quantile falls into, in ms. Null without deliveries. */
export const quantile = (latencies: ReadonlyArray<typeof Latency.Type>, share: number): number | null => {
  const total = latencies.reduce((sum, { deliveries }) => sum + deliveries, 0)
  let left = Math.ceil(total * share)
  for (const { bucket, deliveries } of latencies) {
    left -= deliveries
    if (left <= 0) return Math.round(2 ** ((bucket + 0.5) / bucketsPerDoubling))
  }
  return null
}
