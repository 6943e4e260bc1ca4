import { Effect } from "effect"
import * as MailHistory from "../test/MailHistory.ts"
import * as Installation from "./Installation.ts"
import { percentile } from "./Statistics.ts"
import * as SteadyLoad from "./SteadyLoad.ts"

const expiredLeft = ({ sql }: Installation.Installation) =>
  Effect.map(
    sql`SELECT 1 FROM inbound_emails WHERE received_at < now() - interval '14 days' LIMIT 1`,
    (rows) => rows.length > 0
  )

/** Sends the same mail to two processes, while one of them removes many rows. */
export const measure = Effect.fnUntraced(function* (size: number) {
  const sender = yield* SteadyLoad.make
  const own = yield* Installation.make("inlet_growth_sweep", sender.url)
  yield* Effect.gen(function* () {
    yield* MailHistory.seed({ domains: own.domains, messages: size, from: 20, to: 14.1 })
    yield* MailHistory.seed({ domains: own.domains, messages: 10_000, from: 13.9, to: 0.01 })
  }).pipe(Effect.provideContext(own.world))
  const load = { recipient: "user3@customer0.example", messages: 500, pace: { everyMillis: 20 } }

  const quiet = yield* Installation.process(own, {})
  yield* sender.run({ ...load, port: quiet.port, run: "quiet-warm" })
  const without = [
    yield* sender.run({ ...load, port: quiet.port, run: "quiet-1" }),
    yield* sender.run({ ...load, port: quiet.port, run: "quiet-2" })
  ]
  yield* quiet.stop

  const started = performance.now()
  const sweeping = yield* Installation.process(own, { RETENTION_DAYS: "14" })
  yield* sender.run({ ...load, port: sweeping.port, run: "sweeping-warm" })
  const during: Array<SteadyLoad.Times> = []
  while (yield* expiredLeft(own)) {
    during.push(yield* sender.run({ ...load, port: sweeping.port, run: `sweeping-${during.length}` }))
  }
  const seconds = (performance.now() - started) / 1_000
  yield* sweeping.stop
  const row = (name: string, runs: ReadonlyArray<SteadyLoad.Times>) => {
    const toReply = runs.flatMap((times) => times.toReply)
    const toWebhook = runs.flatMap((times) => times.toWebhook)
    const of = (values: ReadonlyArray<number>) =>
      `${percentile(values, 0.5).toFixed(1)} / ${percentile(values, 0.99).toFixed(1)}`
    return `| ${name} | ${toReply.length} | ${of(toReply)} | ${of(toWebhook)} |`
  }
  return [
    `${size.toLocaleString("en")} expired events were removed in ${seconds.toFixed(0)} s, beside 50 mails a second:`,
    "",
    "| | mails | DATA → 250, p50 / p99 ms | DATA → webhook, p50 / p99 ms |",
    "|---|---|---|---|",
    row("without a sweep", without),
    row("while it sweeps", during)
  ]
}, Effect.scoped)
