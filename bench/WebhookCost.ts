import { Effect } from "effect"
import * as InletProcess from "../test/InletProcess.ts"
import * as StatementPlans from "../test/StatementPlans.ts"
import * as Installation from "./Installation.ts"
import * as ListCost from "./ListCost.ts"
import * as ProcessUsage from "./ProcessUsage.ts"
import { percentile } from "./Statistics.ts"
import * as SteadyLoad from "./SteadyLoad.ts"
import * as Table from "./Table.ts"

/** Two kinds of domains, 100 each: with the catch-all alone, and with as many webhooks as a domain can have. */
const domainsOfKind = 100
const most = 100
const workspaces = 10

/** Messages before those that count. */
const warming = 200

/** Mail to all domains of a kind, and to all patterns in turn. The same addresses for both kinds. */
const recipients = (isMany: boolean) => (number: number) => {
  const pattern = Math.floor(number / domainsOfKind + number) % most
  const name = pattern === 0 ? "someone" : pattern % 2 === 0 ? `name-${pattern}` : `agent-${pattern}-${number}`
  return `${name}@customer${(number % domainsOfKind) + (isMany ? domainsOfKind : 0)}.example`
}

/** Names and globs for the second half of the domains. */
const addWebhooks = ({ domains, sql }: Installation.Installation, url: string) =>
  Effect.andThen(
    sql`
      INSERT INTO webhooks (id, domain_id, pattern, action, url)
      SELECT gen_random_uuid(), domain_id,
        CASE WHEN number % 2 = 0 THEN 'name-' || number ELSE 'agent-' || number || '-*' END, 'webhook', ${url}
      FROM unnest(${domains.slice(domainsOfKind)}::uuid[]) AS domain_id, generate_series(1, ${most - 1}::int) AS number
    `,
    sql`ANALYZE webhooks`
  )

/** The statements of a mail in which webhooks count. */
const kinds = [
  ["RCPT", /FROM demo_sessions/],
  ["claim of unread mail", /RETURNING inbound_emails\.\*/],
  ["all others", /./]
] as const

/** The count of the days, which runs by itself. */
const atOtherTimes = /domain_days_counted/

interface Figures {
  readonly cpu: Array<number>
  readonly toWebhook: Array<number>
  statements: ReadonlyArray<readonly [name: string, pages: number, milliseconds: number]>
}

/** The table: what a mail costs without and with 10,000 webhooks. */
export const measure = Effect.fnUntraced(function* (messages: number, rounds: number) {
  const sender = yield* SteadyLoad.make
  const own = yield* Installation.make("inlet_webhook_cost", sender.url, (2 * domainsOfKind) / workspaces)
  const settings = { RETENTION_DAYS: "0", ...own.settings }
  let runs = 0
  const send = (port: number, isMany: boolean, count = messages) =>
    sender.run({
      port,
      recipient: recipients(isMany),
      run: `w${++runs}`,
      messages: count,
      pace: { concurrency: 20 }
    })

  const round = Effect.fnUntraced(function* (inlet: InletProcess.InletProcess, isMany: boolean, figures: Figures) {
    const before = yield* ProcessUsage.cpuSeconds([inlet.pid])
    const { toWebhook } = yield* send(inlet.smtpPort, isMany)
    // The last outcomes are written.
    yield* Effect.sleep("1 second")
    figures.cpu.push((((yield* ProcessUsage.cpuSeconds([inlet.pid])) - before) * 1_000) / messages)
    figures.toWebhook.push(...toWebhook)
  })

  /** Once through `auto_explain`, which costs time itself. */
  const explain = (of: ReadonlyArray<readonly [isMany: boolean, figures: Figures]>) =>
    Effect.gen(function* () {
      const plans = yield* StatementPlans.before(own.url, ListCost.explaining)
      const inlet = yield* InletProcess.start({ ...settings, DATABASE_URL: plans.url })
      for (const [isMany, figures] of of) {
        yield* send(inlet.smtpPort, isMany, warming)
        yield* plans.taken
        yield* send(inlet.smtpPort, isMany)
        yield* Effect.sleep("1 second")
        const left = new Set((yield* plans.taken).filter(({ statement }) => !atOtherTimes.test(statement)))
        figures.statements = kinds.map(([name, words]) => {
          const found = [...left].filter(({ statement }) => words.test(statement))
          for (const one of found) left.delete(one)
          const pages = found.reduce((sum, one) => sum + ListCost.pagesOf(one), 0)
          const milliseconds = found.reduce((sum, one) => sum + one.milliseconds, 0)
          return [name, pages / messages, milliseconds / messages]
        })
      }
    }).pipe(Effect.scoped)

  const none = (): Figures => ({ cpu: [], toWebhook: [], statements: [] })
  const [alone, few, many] = [none(), none(), none()]
  const inlet = yield* InletProcess.start(settings)
  yield* send(inlet.smtpPort, false, warming)
  for (let number = 0; number < rounds; number++) yield* round(inlet, false, alone)
  yield* explain([[false, alone]])
  yield* addWebhooks(own, sender.url)
  yield* send(inlet.smtpPort, true, warming)
  for (let number = 0; number < rounds; number++) {
    yield* round(inlet, false, few)
    yield* round(inlet, true, many)
  }
  yield* explain([
    [false, few],
    [true, many]
  ])

  const all = [alone, few, many]
  const row = (name: string, of: (figures: Figures) => string) => [name, ...all.map(of)]
  const statement = (index: number) => (figures: Figures) => {
    const [, pages = 0, milliseconds = 0] = figures.statements[index] ?? []
    return `${pages.toFixed(1)} / ${milliseconds.toFixed(2)}`
  }
  return Table.render(
    ["a mail to one of 100 domains", "with one webhook each", "the same, beside 10,000", "with 100 webhooks each"],
    [
      row("CPU of Inlet, ms", ({ cpu }) => percentile(cpu, 0.5).toFixed(2)),
      ...kinds.map(([name], index) => row(`${name}: pages / ms of PostgreSQL`, statement(index))),
      row(
        "DATA → webhook, p50 / p99 ms",
        ({ toWebhook }) => `${percentile(toWebhook, 0.5).toFixed(1)} / ${percentile(toWebhook, 0.99).toFixed(1)}`
      ),
      row("mails", ({ toWebhook }) => `${toWebhook.length}`)
    ]
  )
}, Effect.scoped)
