import { Context, Duration, Effect, Fiber, Layer } from "effect"
import * as Columns from "../src/database/Columns.ts"
import { DomainId } from "../src/model/Domain.ts"
import { type InboundEmailId, rawRef } from "../src/model/InboundEmail.ts"
import * as Platform from "../src/process/Platform.ts"
import { RawStore } from "../src/providers/storage/RawStore.ts"
import * as RawStoreFile from "../src/providers/storage/RawStoreFile.ts"
import * as MailHistory from "../test/MailHistory.ts"
import * as Installation from "./Installation.ts"
import { percentile } from "./Statistics.ts"
import * as SteadyLoad from "./SteadyLoad.ts"

/** Bytes of each raw message. */
const bytes = 4_096

/** Writes raw messages for the rows of a domain into the log of the installation. */
const keepRaw = Effect.fnUntraced(
  function* ({ large, settings, sql }: Installation.Installation) {
    const raw = Context.get(yield* Layer.build(RawStoreFile.layer(`${settings.DATA_DIR}/raw`)), RawStore)
    const rows = yield* sql<{ readonly id: InboundEmailId }>`SELECT id FROM inbound_emails WHERE domain_id = ${large}`
    const domain = DomainId.make(large)
    const content = Buffer.alloc(bytes, "x")
    for (let at = 0; at < rows.length; at += 2_000) {
      const kept = yield* Effect.forEach(
        rows.slice(at, at + 2_000),
        ({ id }) => Effect.map(raw.put(rawRef(domain, id), [content]), (place) => ({ id, place })),
        { concurrency: 64 }
      )
      const column = Columns.of(kept)
      yield* sql`
      UPDATE inbound_emails SET segment = input.segment, raw_at = input.raw_at, raw_bytes = input.raw_bytes
      FROM unnest(
        ${column("uuid", ({ id }) => id)},
        ${column("uuid", ({ place }) => place?.segment ?? null)},
        ${column("int8", ({ place }) => (place === null ? null : BigInt(place.at)))},
        ${column("int4", ({ place }) => place?.bytes ?? null)}
      ) AS input (id, segment, raw_at, raw_bytes)
      WHERE inbound_emails.id = input.id
    `
    }
  },
  Effect.scoped,
  Effect.provide(Platform.layer)
)

/** Measures other clients' latency while a domain with much mail is removed, and the duration of the removal. */
export const measure = Effect.fnUntraced(function* (size: number) {
  const sender = yield* SteadyLoad.make
  const own = yield* Installation.make("inlet_growth_removal", sender.url)
  yield* MailHistory.seed({ domains: [own.large], messages: size, from: 13.9, to: 0.01 }).pipe(
    Effect.provideContext(own.world)
  )
  yield* keepRaw(own)

  const { call, port, stop } = yield* Installation.process(own, {})
  const lists: Array<number> = []
  const other = `/api/domains/${own.domains[5]}/events?limit=10`
  const list = Effect.timed(call("GET", other, { key: own.keys[1] ?? "" })).pipe(
    Effect.map(([took]) => lists.push(Duration.toMillis(took))),
    Effect.andThen(Effect.sleep("50 millis"))
  )
  const load = { port, recipient: "user3@customer5.example", messages: 500, pace: { everyMillis: 20 } }
  yield* sender.run({ ...load, run: "removal-warm" })
  const asking = yield* Effect.forkScoped(Effect.forever(list))
  const quiet = yield* sender.run({ ...load, run: "removal-quiet" })
  const without = lists.splice(0)

  const [answered, { status }] = yield* Effect.timed(call("DELETE", `/api/domains/${own.large}`, { key: own.key }))
  if (status !== 204) return yield* Effect.die(new Error(`The domain was not removed: ${status}`))
  const isEmpty = (table: string) =>
    Effect.map(own.sql`SELECT 1 FROM ${own.sql(table)} LIMIT 1`, (rows) => rows.length === 0)
  const began = performance.now()
  const seconds = Effect.sync(() => ((performance.now() - began) / 1_000).toFixed(0))
  const until = (table: string) =>
    Effect.andThen(Effect.repeat(Effect.delay(isEmpty(table), "100 millis"), { until: (yes) => yes }), seconds)
  const gone = yield* Effect.forkScoped(Effect.all([until("removed_domains"), until("raw_erasures")]))
  const busy: Array<SteadyLoad.Times> = []
  while (gone.pollUnsafe() === undefined) busy.push(yield* sender.run({ ...load, run: `removal-${busy.length}` }))
  const [ofRows, ofBytes] = yield* Fiber.join(gone)
  yield* Fiber.interrupt(asking)
  yield* stop

  const of = (values: ReadonlyArray<number>) =>
    `${percentile(values, 0.5).toFixed(1)} / ${percentile(values, 0.99).toFixed(1)}`
  const row = (name: string, api: ReadonlyArray<number>, runs: ReadonlyArray<SteadyLoad.Times>) =>
    `| ${name} | ${of(api)} | ${of(runs.flatMap(({ toReply }) => toReply))} | ${of(runs.flatMap(({ toWebhook }) => toWebhook))} |`
  return [
    `A domain with ${size.toLocaleString("en")} messages of ${bytes} bytes was removed: answered after ${Duration.toMillis(answered).toFixed(0)} ms, its rows gone after ${ofRows} s, its raw messages overwritten after ${ofBytes} s, beside 50 mails a second and 20 lists of another tenant:`,
    "",
    "| | list of events, p50 / p99 ms | DATA → 250, p50 / p99 ms | DATA → webhook, p50 / p99 ms |",
    "|---|---|---|---|",
    row("without a removal", without, [quiet]),
    row("while it is removed", lists, busy)
  ]
}, Effect.scoped)
