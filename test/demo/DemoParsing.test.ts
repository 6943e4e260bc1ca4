import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../Eventually.ts"
import * as Mail from "../Mail.ts"
import { TestInlet } from "../TestInlet.ts"

/** Takes a parser thread some 100 ms. */
const html = "<div>".repeat(990) + "</q>".repeat(50_000)

/** A request for the page of a slow mail in a new demo inbox. */
const slowPage = Effect.gen(function* () {
  const inlet = yield* TestInlet
  const opened = yield* inlet.call("POST", "/api/demo/inbox")
  const headers = { cookie: (opened.headers["set-cookie"] ?? "").split(";")[0] ?? "" }
  yield* Mail.send(inlet.smtpPort, { to: opened.json.address, html })
  const { json } = yield* eventually(
    inlet.call("GET", "/api/demo/events", { headers }),
    ({ json }) => json.events.length === 1
  )
  return { ask: inlet.call("GET", `/api/demo/events/${json.events[0].event_id}/html`, { headers }) }
})

layer(TestInlet.layer(), { excludeTestServices: true })("All demo inboxes together", (it) => {
  it.effect("have 8 requests for the parser, where a workspace has 8 of its own", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* slowPage, yield* slowPage]
      const answers = yield* Effect.all(
        Array.from({ length: 16 }, (_, number) => (number % 2 === 0 ? one.ask : other.ask)),
        { concurrency: "unbounded" }
      )
      const refused = answers.filter(({ status }) => status !== 200)
      assert.isAbove(refused.length, 0)
      for (const { json, status } of refused) {
        assert.strictEqual(status, 503)
        assert.match(json.error, /^Too many requests for content, HTML and attachments are waiting/)
      }
    })
  )
})
