import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Inbox } from "../../src/client/Inbox.ts"
import { ApiError, Inlet, NoAnswer, NoMail } from "../../src/client.ts"
import * as Ports from "../Ports.ts"
import { failure } from "./Failure.ts"
import * as ScriptedService from "./ScriptedService.ts"

const apiKey = "ak_live_2f6b0c6d4f3f4e7c9a51"

const told = { body: { domains: [] } }

const clientOf = Effect.fnUntraced(function* (...answers: Parameters<typeof ScriptedService.serve>) {
  const service = yield* ScriptedService.serve(...answers)
  return { ...service, inlet: new Inlet({ url: service.url, apiKey }) }
})

const refusal = (status: number, retryAfter: string) => ({
  status,
  headers: { "retry-after": retryAfter },
  body: { error: "Too much; ask again" }
})

const apiError = Effect.fnUntraced(function* (call: () => Promise<unknown>) {
  const error = yield* failure(call)
  if (!(error instanceof ApiError)) return yield* Effect.die(error)
  return error
})

/** A clock that advances by 1 h at each reading. */
const hourlyLeaps = Effect.acquireRelease(
  Effect.sync(() => {
    const { now } = Date
    let leaps = 0
    Date.now = () => now() + 3_600_000 * leaps++
    return now
  }),
  (now) =>
    Effect.sync(() => {
      Date.now = now
    })
)

describe("A request of the client", () => {
  it.live("is retried after 429 and 503 until its timeout", () =>
    Effect.gen(function* () {
      const { inlet, requests } = yield* clientOf(refusal(429, "0"), refusal(503, "0"), told)
      assert.deepStrictEqual(yield* Effect.promise(() => inlet.domains.list()), [])
      assert.deepStrictEqual(
        requests.map(({ headers, method, url }) => [method, url, headers.authorization]),
        Array.from({ length: 3 }, () => ["GET", "/api/domains", `Bearer ${apiKey}`])
      )
    }).pipe(Effect.scoped)
  )

  it.live("is retried after 429 alone if it would have another effect when done twice", () =>
    Effect.gen(function* () {
      for (const call of [
        (inlet: Inlet) => inlet.simulate("d", { sample: "code" }),
        (inlet: Inlet) => inlet.webhooks.rotateSecret("d", "w"),
        (inlet: Inlet) => inlet.replay("d", "e"),
        (inlet: Inlet) => inlet.replays.start("d", { status: "dead" })
      ]) {
        const { inlet, requests } = yield* clientOf(refusal(429, "0"), refusal(503, "0"), { body: {} })
        assert.strictEqual((yield* apiError(() => call(inlet))).status, 503)
        assert.lengthOf(requests, 2)
      }
    }).pipe(Effect.scoped)
  )

  it.live("waits no longer for a lease than its timeout, also when it is retried", () =>
    Effect.gen(function* () {
      const { inlet, requests } = yield* clientOf(refusal(429, "2"), { body: { deliveries: [] } })
      const leased = Effect.promise(() => inlet.deliveries.lease("d", { limit: 3, wait: 20 }, { timeout: 6_000 }))
      assert.deepStrictEqual(yield* leased, [])
      const [first, second] = requests.map(({ body }) => JSON.parse(body))
      assert.deepStrictEqual(first, { limit: 3, wait: 6 })
      // What the pause of 2 s left, on a busy machine less.
      assert.isTrue(second.wait >= 1 && second.wait <= 4, `${second.wait}`)
    }).pipe(Effect.scoped)
  )

  it.live("keeps its timeout when the system clock is set", () =>
    Effect.gen(function* () {
      const { inlet, requests } = yield* clientOf(refusal(503, "0"), refusal(503, "0"), told)
      yield* hourlyLeaps
      assert.deepStrictEqual(yield* Effect.promise(() => inlet.domains.list({ timeout: 5_000 })), [])
      assert.lengthOf(requests, 3)
    }).pipe(Effect.scoped)
  )

  it.live("fails at once if Retry-After exceeds its timeout", () =>
    Effect.gen(function* () {
      const { inlet, requests } = yield* clientOf(refusal(429, "20"), told)
      const error = yield* apiError(() => inlet.domains.get("1", { timeout: 5_000 }))
      const { message, requestId, retryAfter, status } = error
      assert.deepStrictEqual(
        { status, retryAfter, requestId, message },
        {
          status: 429,
          retryAfter: 20,
          requestId: "request-1",
          message: "Too much; ask again (429 to GET /api/domains/1, request request-1)"
        }
      )
      assert.lengthOf(requests, 1)
    }).pipe(Effect.scoped)
  )

  it.live("is not retried after other statuses", () =>
    Effect.gen(function* () {
      for (const status of [400, 401, 404, 409, 500]) {
        const { inlet, requests } = yield* clientOf(refusal(status, "0"))
        assert.strictEqual((yield* apiError(() => inlet.instantInbox())).status, status)
        assert.lengthOf(requests, 1)
      }
    }).pipe(Effect.scoped)
  )

  it.live("rejects with the reason of its signal, during the request and during a backoff", () =>
    Effect.gen(function* () {
      for (const answer of [{ isSilent: true }, refusal(503, "5")]) {
        const { inlet } = yield* clientOf(answer)
        const signal = AbortSignal.timeout(100)
        const error = yield* failure(() => inlet.domains.list({ signal }))
        assert.strictEqual(error, signal.reason)
      }
      const { inlet, requests } = yield* clientOf(told)
      const reason = new Error("not any more")
      assert.strictEqual(yield* failure(() => inlet.domains.list({ signal: AbortSignal.abort(reason) })), reason)
      assert.lengthOf(requests, 0)
    }).pipe(Effect.scoped)
  )

  it.live("reports a refused connection, a timeout and a malformed answer", () =>
    Effect.gen(function* () {
      const silent = yield* clientOf({ isSilent: true })
      const late = yield* failure(() => silent.inlet.domains.list({ timeout: 200 }))
      assert.instanceOf(late, NoAnswer)
      assert.strictEqual(late.message, `No answer within 0.2 s (GET /api/domains at ${silent.url})`)

      const page = yield* clientOf({ body: "<!doctype html><title>Another service</title>" })
      const other = yield* failure(() => page.inlet.domains.list())
      assert.instanceOf(other, NoAnswer)
      assert.match(other.message, /^The answer is not JSON; is this the URL of Inlet\?/)

      const nobody = `127.0.0.1:${yield* Ports.free}`
      const gone = yield* failure(() => new Inlet({ url: `http://${nobody}`, apiKey }).domains.list())
      assert.instanceOf(gone, NoAnswer)
      assert.match(gone.message, /^connect ECONNREFUSED .*; does the service run there\?/)

      const moved = yield* clientOf({ status: 308, headers: { location: "https://inlet.example/" }, body: "" })
      const { message, status } = yield* apiError(() => moved.inlet.instantInbox())
      assert.deepStrictEqual(
        [status, message],
        [308, "The service is at https://inlet.example/ (308 to POST /api/instant-inbox, request request-1)"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("names an empty id and a wrong timeout, and takes Infinity as one", () =>
    Effect.gen(function* () {
      const { inlet, requests, url } = yield* clientOf({ body: { domains: [] } })
      for (const call of [
        () => inlet.domains.get(""),
        () => inlet.events.get("d", ""),
        () => inlet.replays.get("d", ""),
        () => inlet.webhooks.remove("d", "")
      ]) {
        const error = yield* failure(call)
        assert.instanceOf(error, TypeError)
        assert.match(`${error}`, /An id is empty or missing \([A-Z]+ \/api\/domains\//)
      }
      for (const timeout of [Number.NaN, -1]) {
        const error = yield* failure(() => inlet.domains.list({ timeout }))
        assert.instanceOf(error, TypeError)
        assert.match(`${error}`, /timeout: Expected milliseconds/)
        assert.throws(() => new Inlet({ url, apiKey, timeout }), TypeError, /timeout: Expected milliseconds/)
      }
      assert.deepStrictEqual(requests, [])
      const domains = yield* Effect.promise(() => inlet.domains.list({ timeout: Number.POSITIVE_INFINITY }))
      assert.deepStrictEqual(domains, [])
    }).pipe(Effect.scoped)
  )

  it.live("refuses a negative timeout of a wait before it asks the service", () =>
    Effect.gen(function* () {
      const page = { events: [], next_cursor: null, cursor_now: "now" }
      const { inlet, requests } = yield* clientOf({ body: page })
      const inbox = new Inbox(inlet.events, { domain: "a.example", domainId: "d", after: "now", timeout: 100 })
      for (const call of [
        () => inlet.events.wait("d", {}, { timeout: -5 }),
        () => inlet.deliveries.lease("d", {}, { timeout: -5 }),
        () => inlet.domains.pages({}, { timeout: -5 }).next(),
        () => inlet.inbox({ timeout: -5 }),
        () => inbox.code({ timeout: -20_000 }),
        () => inbox.link("verify", { timeout: -5 }),
        () => inbox.mail({ timeout: Number.NaN }),
        () => inbox.none(-5)
      ]) {
        const error = yield* failure(call)
        assert.instanceOf(error, TypeError, `${call}`)
        assert.match(`${error}`, /(timeout|milliseconds): Expected milliseconds, such as 20000/)
      }
      assert.deepStrictEqual(requests, [])
      const late = new Inbox(inlet.events, { domain: "a.example", domainId: "d", after: "now", timeout: () => -5 })
      assert.instanceOf(yield* failure(() => late.code()), NoMail)
    }).pipe(Effect.scoped)
  )

  it.live("keeps the key out of errors and out of the printed client", () =>
    Effect.gen(function* () {
      const { inlet, url } = yield* clientOf({ status: 401, body: { error: `Bearer ${apiKey} is not known` } })
      const refused = yield* apiError(() => inlet.domains.list())
      assert.match(refused.message, /^Bearer … is not known/)
      const unreachable = new Inlet({ url: `http://127.0.0.1:${yield* Ports.free}`, apiKey })
      const gone = yield* failure(() => unreachable.domains.list())
      const said = [refused, gone, inlet, inlet.events].map((one) => inspect(one, { depth: 9, showHidden: true }))
      for (const text of [...said, JSON.stringify(inlet)]) assert.notInclude(text, apiKey)

      const made = (place: { readonly url?: string; readonly apiKey?: string }) =>
        failure(() => new Inlet({ url, apiKey, ...place }))
      for (const wrong of [
        { apiKey: `${apiKey}\n` },
        { apiKey: `${apiKey}ü` },
        { url: `http://user:${apiKey}@localhost` },
        { url: `no url ${apiKey}` }
      ]) {
        const error = yield* made(wrong)
        assert.instanceOf(error, TypeError)
        assert.match(error.message, /^(url|apiKey): Expected the /)
        assert.notInclude(inspect(error), apiKey)
      }
      assert.instanceOf(yield* failure(() => new Inlet({ url, apiKey: undefined })), TypeError)
    }).pipe(Effect.scoped)
  )
})

describe("A wait of the client", () => {
  const page = (cursor_now: string, more: object = {}) => ({
    body: { events: [], next_cursor: null, cursor_now, ...more }
  })

  it.live("checks existing mail first, and resumes after the last match", () =>
    Effect.gen(function* () {
      const event = { event_id: "e" }
      const { inlet, requests } = yield* clientOf(
        page("now-1", { next_cursor: "part-2" }),
        page("now-2"),
        page("now-3"),
        page("now-4", { events: [event] })
      )
      const found = yield* Effect.promise(() =>
        inlet.events.wait("d", { subject: "Hi & you", after: "start", view: "brief" }, { timeout: 90_500 })
      )
      assert.deepStrictEqual([found.events.length, found.cursor_now], [1, "now-4"])
      assert.deepStrictEqual(
        requests.map(({ url }) => url),
        [
          "/api/domains/d/events?subject=Hi+%26+you&after=start&view=brief&trust=passed",
          "/api/domains/d/events?subject=Hi+%26+you&after=start&view=brief&trust=passed&cursor=part-2",
          "/api/domains/d/events?subject=Hi+%26+you&after=now-1&view=brief&trust=passed&wait=60",
          "/api/domains/d/events?subject=Hi+%26+you&after=now-3&view=brief&trust=passed&wait=60"
        ]
      )
    }).pipe(Effect.scoped)
  )

  it.live("has the timeout of the call, for lists and simulated mail too", () =>
    Effect.gen(function* () {
      const { inlet, requests } = yield* clientOf(page("now"))
      for (const wait of [0, 45]) {
        yield* Effect.promise(() => inlet.events.list("d", { wait }))
        yield* Effect.promise(() => inlet.simulate("d", { sample: "code" }, { wait }))
      }
      yield* Effect.promise(() => inlet.events.list("d", { wait: 45 }, { timeout: 3_000 }))
      assert.deepStrictEqual(
        requests.map(({ url }) => new URL(url, "http://inlet").searchParams.get("wait")),
        [null, null, "45", "45", "3"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("asks the service to wait no longer than its remaining time, and times out with an empty result", () =>
    Effect.gen(function* () {
      const { inlet, requests } = yield* clientOf(page("now-1"), refusal(503, "1"), {
        ...page("now-2"),
        delay: 5_500
      })
      const { events } = yield* Effect.promise(() => inlet.events.wait("d", {}, { timeout: 6_300 }))
      assert.deepStrictEqual(events, [])
      const [first, ...waits] = requests.map(({ url }) => new URL(url, "http://inlet").searchParams.get("wait"))
      assert.isNull(first)
      assert.isAtLeast(waits.length, 2)
      assert.isAtMost(Number(waits[0]), 7)
      // One second passes before the next request.
      assert.isBelow(Number(waits[1]), Number(waits[0]))
    }).pipe(Effect.scoped)
  )
})
