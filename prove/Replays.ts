import { createServer } from "node:http"
import { Array, Clock, Console, Context, Duration, Effect, Fiber, Layer, Redacted, Ref } from "effect"
import { SqlClient } from "effect/sql"
import { percentile } from "../bench/Statistics.ts"
import * as Database from "../src/database/Database.ts"
import { DomainId } from "../src/model/Domain.ts"
import * as Platform from "../src/process/Platform.ts"
import * as Deliveries from "../test/delivery/Deliveries.ts"
import { eventually } from "../test/Eventually.ts"
import * as InletProcess from "../test/InletProcess.ts"
import * as Mail from "../test/Mail.ts"
import * as Ports from "../test/Ports.ts"

/** A webhook that counts the requests of each event, and notes when a mail with a subject arrived. */
const receiver = Effect.gen(function* () {
  const port = yield* Ports.free
  const requests = new Map<string, number>()
  const arrivals = new Map<string, number>()
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const id = `${request.headers["x-service-event-id"]}`
      requests.set(id, (requests.get(id) ?? 0) + 1)
      if (request.url === "/neighbour")
        arrivals.set(JSON.parse(Buffer.concat(chunks).toString()).subject, performance.now())
      response.end()
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(port, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => server.closeAllConnections())
  )
  return { url: `http://127.0.0.1:${port}`, requests, arrivals }
})

interface Options {
  readonly deliveries: number
  readonly kills: number
  /** The killed worker is the only one. Nobody delivers until it runs again. */
  readonly alone: boolean
}

/**
 * Replays dead deliveries by one call while a worker is killed again and again. Beside a second worker, measures another
 * domain's time from the `250` to the webhook.
 */
export const run = Effect.fnUntraced(function* ({ alone, deliveries, kills }: Options) {
  const settings = yield* InletProcess.emptyInstallation
  const heard = yield* receiver
  const own = yield* InletProcess.start({ ...settings, ROLES: alone ? "http,smtp" : "http,smtp,worker" })
  const inbox = yield* own.inbox(`${heard.url}/replayed`)
  const neighbour = yield* own.inbox(`${heard.url}/neighbour`)
  const world = yield* Layer.build(
    Database.layerPostgres(Redacted.make(settings.DATABASE_URL ?? "")).pipe(Layer.provide(Platform.layer))
  )
  const sql = Context.get(world, SqlClient.SqlClient)
  const id = DomainId.make(inbox.domainId)
  yield* sql`UPDATE webhooks SET url = NULL, action = 'hold' WHERE id = ${id}`
  yield* Effect.provideContext(Deliveries.backlog(id, deliveries), world)
  yield* sql`UPDATE deliveries SET status = 'dead', attempts = 11 WHERE domain_id = ${id}`
  yield* sql`UPDATE webhooks SET action = 'webhook', url = ${`${heard.url}/replayed`} WHERE id = ${id}`
  yield* sql`ANALYZE`

  const latencies: Array<number> = []
  const isOver = yield* Ref.make(false)
  const send = Effect.fnUntraced(function* (number: number) {
    const subject = `neighbour ${number}`
    yield* Mail.send(own.smtpPort, { to: neighbour.address, subject })
    const accepted = performance.now()
    yield* eventually(
      Effect.sync(() => heard.arrivals.get(subject)),
      (at) => at !== undefined,
      "120 seconds"
    )
    latencies.push(Math.max(0, (heard.arrivals.get(subject) ?? 0) - accepted))
  })
  const sendAll = (count: number) =>
    Effect.forEach(Array.range(1, count), (number) => Effect.andThen(send(number + sent), Effect.sleep("50 millis")))
  let sent = 0
  if (!alone) yield* sendAll(100)
  sent += 100
  const quiet = latencies.splice(0)

  const call = (method: "GET" | "POST", rest = "", body?: unknown) =>
    own.call(method, `/api/domains/${id}/replays${rest}`, { key: inbox.key, ...(body === undefined ? {} : { body }) })
  const began = yield* Clock.currentTimeMillis
  const [counting, started] = yield* Effect.timed(call("POST", "", { status: "dead" }))
  yield* Console.error(`started after ${Duration.toMillis(counting).toFixed(0)} ms: ${started.text}`)
  const worker = InletProcess.start({ ...settings, ROLES: "worker" })
  const killing = yield* Effect.forkScoped(
    Effect.forEach(
      Array.range(1, kills),
      () =>
        Effect.scoped(
          Effect.gen(function* () {
            const other = yield* worker
            yield* Effect.sleep("12 seconds")
            yield* other.signal("SIGKILL")
            yield* other.ending
          })
        ),
      { discard: true }
    ).pipe(Effect.andThen(alone ? worker : Effect.void))
  )
  const sending = yield* Effect.forkScoped(
    Effect.gen(function* () {
      while (!alone && !(yield* Ref.get(isOver))) {
        yield* sendAll(1)
        sent++
      }
    })
  )
  const progress = call("GET", `/${started.json.id}`)
  const { json } = yield* Effect.repeat(
    Effect.tap(Effect.delay(progress, "5 seconds"), ({ json }) =>
      Console.error(`${json.queued} queued, ${json.delivered} delivered`)
    ),
    { until: ({ json }) => json.state !== "running" }
  )
  const took = (yield* Clock.currentTimeMillis) - began
  yield* Ref.set(isOver, true)
  yield* Fiber.join(sending)
  yield* Fiber.join(killing)
  const [left] = yield* sql<{ readonly count: number }>`
    SELECT count(*)::int AS count FROM deliveries WHERE domain_id = ${id} AND status <> 'delivered'
  `
  const ids = yield* sql<{ readonly id: string }>`SELECT id FROM events WHERE domain_id = ${id}`
  const repeated = ids.reduce((sum, { id }) => sum + Math.max(0, (heard.requests.get(id) ?? 0) - 1), 0)
  return {
    job: json,
    seconds: Math.round(took / 1_000),
    kills,
    missing: ids.filter(({ id }) => !heard.requests.has(id)).length,
    undelivered: left?.count,
    repeated,
    neighbour: alone
      ? undefined
      : {
          quiet: { mails: quiet.length, p50: percentile(quiet, 0.5), p99: percentile(quiet, 0.99) },
          beside: { mails: latencies.length, p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) }
        }
  }
})
