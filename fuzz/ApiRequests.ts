import { Clock, Effect, Schema } from "effect"
import type { InletProcess } from "../test/InletProcess.ts"
import type { Dice } from "./Dice.ts"
import type { Found } from "./Found.ts"

/** The parts of the OpenAPI document that requests are built from. */
const Document = Schema.Struct({
  paths: Schema.Record(Schema.String, Schema.Record(Schema.String, Schema.Unknown))
})

const Operation = Schema.Struct({
  parameters: Schema.optionalKey(Schema.Array(Schema.Struct({ name: Schema.String, in: Schema.String }))),
  requestBody: Schema.optionalKey(
    Schema.Struct({
      content: Schema.Record(
        Schema.String,
        Schema.Struct({
          schema: Schema.optionalKey(
            Schema.Struct({ properties: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)) })
          )
        })
      )
    })
  )
})

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

interface Route {
  readonly method: (typeof methods)[number]
  readonly path: string
  readonly query: ReadonlyArray<string>
  readonly headers: ReadonlyArray<string>
  readonly fields: ReadonlyArray<string>
}

const routesOf = Effect.fnUntraced(function* (inlet: InletProcess) {
  const { json } = yield* inlet.call("GET", "/openapi.json")
  const { paths } = yield* Schema.decodeUnknownEffect(Document)(json)
  return yield* Effect.forEach(Object.entries(paths), ([path, operations]) =>
    Effect.forEach(
      methods.filter((method) => operations[method.toLowerCase()] !== undefined),
      (method) =>
        Effect.map(Schema.decodeUnknownEffect(Operation)(operations[method.toLowerCase()]), (operation): Route => {
          const named = (place: string) =>
            (operation.parameters ?? []).flatMap((parameter) => (parameter.in === place ? [parameter.name] : []))
          const [body] = Object.values(operation.requestBody?.content ?? {})
          return {
            method,
            path,
            query: named("query"),
            headers: named("header"),
            fields: Object.keys(body?.schema?.properties ?? {})
          }
        })
    )
  )
})

const texts = [
  "",
  "0",
  "1",
  "-1",
  "100",
  "1e9",
  "99999999999999999999",
  "true",
  "null",
  "%00",
  "\u0000",
  "'",
  '"',
  "../..",
  "ü.example",
  "example.com",
  "http://127.0.0.1:9/hook",
  "javascript:1",
  "2026-01-01T00:00:00Z",
  "9999-99-99",
  "com,net",
  "pending",
  "a@a.example",
  "desc",
  "\ud800",
  "x".repeat(5_000)
]
const values: ReadonlyArray<unknown> = [...texts, null, true, 0, -1, 1.5, 1e308, [], {}, [null], { a: [] }, ["com"], 2]

/**
 * Sends requests to every documented route until the deadline. An answer of 500 or above, or a late one, is a
 * finding.
 */
export const run = Effect.fn("ApiRequests.run")(function* (
  dice: Dice,
  inlet: InletProcess,
  found: Found,
  until: number
) {
  const routes = (yield* Effect.orDie(routesOf(inlet))).flat()
  const nobody = "http://127.0.0.1:9/hook"
  let inbox = yield* inlet.inbox(nobody)
  const someEvent = Effect.fnUntraced(function* () {
    const { json } = yield* inlet.call("GET", `/api/domains/${inbox.domainId}/events?limit=1`, { key: inbox.key })
    const [event] = Array.isArray(json?.events) ? json.events : []
    return String(event?.event_id ?? "01981c9e-4f00-7000-8000-000000000009")
  })
  let eventId = yield* someEvent()
  let count = 0
  while ((yield* Clock.currentTimeMillis) < until) {
    const route = dice.oneOf(routes)
    const own: Readonly<Record<string, string>> = { id: inbox.domainId, eventId, index: "0" }
    const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name) =>
      encodeURIComponent((dice.chance(70) ? own[name] : undefined) ?? dice.oneOf(texts).toWellFormed())
    )
    const query = new URLSearchParams(
      Object.fromEntries(
        route.query.filter(() => dice.chance(40)).map((name) => [name, name === "wait" ? "0" : dice.oneOf(texts)])
      )
    )
    const body =
      dice.chance(80) && route.fields.length > 0
        ? Object.fromEntries(route.fields.filter(() => dice.chance(85)).map((name) => [name, dice.oneOf(values)]))
        : dice.oneOf(values)
    const key = dice.chance(90) ? inbox.key : dice.oneOf(["sk_x", "x", inbox.secret])
    const headers = Object.fromEntries(
      route.headers.filter(() => dice.chance(50)).map((name) => [name, dice.oneOf(["", "1", "x".repeat(300), eventId])])
    )
    const began = yield* Clock.currentTimeMillis
    const answer = yield* inlet
      .call(route.method, `${path}?${query}`, { key, headers, ...(route.method === "GET" ? {} : { body }) })
      .pipe(
        Effect.timeoutOption("5 seconds"),
        Effect.catchCause(() => Effect.succeedNone)
      )
    count++
    const request = JSON.stringify({ method: route.method, path: `${path}?${query}`, headers, body })
    const took = (yield* Clock.currentTimeMillis) - began
    const isStream = path.endsWith("/stream")
    if (answer._tag === "None" && !isStream) yield* found.add("api", `no answer after ${took} ms`, request)
    if (answer._tag === "Some" && answer.value.status >= 500 && answer.value.status !== 502) {
      yield* found.add("api", `${answer.value.status} ${JSON.stringify(answer.value.json)}`, request)
    }
    // Removing a domain or replacing a key would leave nothing to request.
    if (count % 50 === 0) {
      inbox = yield* inlet.inbox(nobody)
      eventId = yield* someEvent()
    }
  }
  return count
})
