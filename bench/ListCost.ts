import { Agent, get } from "node:http"
import { Effect } from "effect"
import * as Patience from "../src/database/Patience.ts"
import * as InletProcess from "../test/InletProcess.ts"
import * as StatementPlans from "../test/StatementPlans.ts"
import type { Installation } from "./Installation.ts"
import { percentile } from "./Statistics.ts"

const timedRequests = 40
const explainedRequests = 7

export interface Cost {
  readonly median: number
  readonly p95: number
  readonly pages: number
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** The milliseconds of a request, body included. */
const timed = (url: string, key: string) =>
  Effect.callback<number>((resume) => {
    const started = performance.now()
    get(url, { agent, headers: { authorization: `Bearer ${key}` } }, (response) => {
      response.on("data", () => {})
      response.on("end", () =>
        resume(
          response.statusCode === 200
            ? Effect.succeed(performance.now() - started)
            : Effect.die(new Error(`${url} answered ${response.statusCode}`))
        )
      )
    }).on("error", (error) => resume(Effect.die(error)))
  })

/** Every list with each filter, at its start and deep inside. */
const lists = Effect.fnUntraced(function* ({ large, sql }: Installation) {
  const at = Effect.fnUntraced(function* (share: number, status = "delivered") {
    const [row] = yield* sql<{
      readonly id: string
      readonly attempt: string
      readonly thread: string
      readonly receivedAt: Date
    }>`
      SELECT events.id, delivery_attempts.id AS attempt, events.thread_id AS thread, events.received_at
      FROM events JOIN deliveries ON deliveries.event_id = events.id
      JOIN delivery_attempts ON delivery_attempts.event_id = events.id
      WHERE events.domain_id = ${large} AND deliveries.status = ${status} AND events.position
        >= (SELECT position * ${share}::float8 FROM event_positions WHERE domain_id = ${large})
      ORDER BY events.position LIMIT 1
    `
    return row ?? (yield* Effect.die(new Error("no event is stored there")))
  })
  const deep = yield* at(0.1)
  const middle = yield* at(0.5)
  const recent = yield* at(0.9)
  const dead = yield* at(0.5, "dead")
  const recipient = "recipient=user3@customer0.example"
  const sender = "from=sender7@shop0.example"
  const time = ({ receivedAt }: { readonly receivedAt: Date }) => receivedAt.toISOString()
  const events = {
    newest: "",
    "deep cursor": `cursor=${deep.id}`,
    after: `after=${recent.id}`,
    recipient: recipient,
    "recipient, deep cursor": `${recipient}&cursor=${middle.id}`,
    sender: sender,
    "sender, deep cursor": `${sender}&cursor=${middle.id}`,
    since: `since=${time(recent)}`,
    until: `until=${time(deep)}`,
    "since and until": `since=${time(deep)}&until=${time(middle)}`,
    "recipient and until": `${recipient}&until=${time(middle)}`,
    delivered: "delivery=delivered",
    "delivered, deep cursor": `delivery=delivered&cursor=${deep.id}`,
    dead: "delivery=dead",
    "dead, deep cursor": `delivery=dead&cursor=${dead.id}`,
    "dead of a recipient": `delivery=dead&${recipient}`,
    "dead from a sender": `delivery=dead&${sender}`,
    "dead until": `delivery=dead&until=${time(middle)}`,
    pending: "delivery=pending",
    "pending of a recipient": `delivery=pending&${recipient}`,
    held: "delivery=held",
    "with a code": "has=code",
    "with a code, deep cursor": `has=code&cursor=${deep.id}`,
    "with a code, until": `has=code&until=${time(middle)}`,
    "with a code, of a recipient": `has=code&${recipient}`,
    "with a code, from a sender": `has=code&${sender}`,
    "with a code, for nobody": `has=code&recipient=nobody@customer0.example`,
    "with a code, dead": "has=code&delivery=dead",
    "with a code, dead of a recipient": `has=code&delivery=dead&${recipient}`,
    "with a code, pending": "has=code&delivery=pending",
    "with a link": "has=link",
    "with an attachment": "has=attachment",
    "from a domain, by DMARC": "fromDomain=shop0.example",
    "from a domain that wrote nothing": "fromDomain=nobody.example",
    "subject of all": "subject=MAIL",
    "subject of none": "subject=needle",
    "subject of none, deep cursor": `subject=needle&cursor=${middle.id}`,
    "tag of none": "tag=needle",
    thread: `thread=${recent.thread}`,
    "thread of none": "thread=00000000-0000-8000-8000-000000000000",
    bounces: "sender=bounce",
    "newer than an hour": "newerThan=1h",
    "with an attachment, of a recipient, dead": `has=attachment&delivery=dead&${recipient}`
  }
  const traces = {
    newest: "",
    "of a recipient": "to=user3@customer0.example",
    "from a sender": "from=sender7@shop0.example",
    "from a domain": "from=shop0.example",
    "from a domain, of a recipient": "from=shop0.example&to=user3@customer0.example",
    "of a Message-ID that is not there": "message_id=nowhere@shop0.example",
    "subject of none": "subject=needle",
    "from a sender, until": `from=sender7@shop0.example&until=${time(middle)}`,
    "from nobody, until": `from=nobody@shop0.example&until=${time(middle)}`,
    until: `until=${time(deep)}`,
    "since and until": `since=${time(deep)}&until=${time(middle)}`
  }
  const of = `/api/domains/${large}`
  return {
    ...Object.fromEntries(
      Object.entries(events).map(([name, query]) => [`events: ${name}`, `${of}/events?limit=20&${query}`])
    ),
    ...Object.fromEntries(
      Object.entries(traces).map(([name, query]) => [`trace: ${name}`, `/api/trace?limit=20&${query}`])
    ),
    "one event": `${of}/events/${deep.id}`,
    "attempts: newest": `${of}/delivery-attempts?limit=20`,
    "attempts: deep cursor": `${of}/delivery-attempts?limit=20&cursor=${deep.attempt}`,
    "attempts: of an event": `${of}/delivery-attempts?limit=20&event_id=${dead.id}`,
    domains: "/api/domains",
    wallet: "/api/domains/wallet"
  }
})

/** The pages that a statement read. */
export const pagesOf = ({ plan }: StatementPlans.Executed) =>
  (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0)

/** Settings with which plans have the pages they read. */
export const explaining = {
  "auto_explain.log_analyze": "on",
  "auto_explain.log_buffers": "on",
  "auto_explain.log_timing": "off"
}

/** The cost of each list: milliseconds for the client, and pages read by its statements. */
export const measure = Effect.fnUntraced(function* (own: Installation) {
  const plans = yield* StatementPlans.before(own.url, explaining)
  const explained = yield* InletProcess.start({ ...own.settings, ROLES: "http", DATABASE_URL: plans.url })
  const costs = new Map<string, Cost>()
  for (const [name, path] of Object.entries(yield* Patience.forMuch(lists(own)))) {
    // The first runs are slower, and from the sixth on PostgreSQL may cache a plan.
    for (let warm = 0; warm < 8; warm++) yield* timed(own.api.url + path, own.key)
    const times: Array<number> = []
    for (let request = 0; request < timedRequests; request++) times.push(yield* timed(own.api.url + path, own.key))
    const pages: Array<number> = []
    for (let request = 0; request < explainedRequests; request++) {
      yield* plans.taken
      yield* timed(explained.url + path, own.key)
      const executed = yield* plans.taken
      pages.push(executed.map(pagesOf).reduce((sum, own) => sum + own, 0))
    }
    costs.set(name, { median: percentile(times, 0.5), p95: percentile(times, 0.95), pages: percentile(pages, 0.5) })
  }
  return costs
}, Effect.scoped)
