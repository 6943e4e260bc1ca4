import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { BrowserContextOptions } from "playwright-core"
import * as Needs from "../Needs.ts"
import { TestInlet } from "../TestInlet.ts"
import { Browser, step, textOf, type Window } from "./Browser.ts"
import * as Console from "./Console.ts"

const World = Layer.merge(TestInlet.layer(), Browser.layer)

/** A window of a visitor who is signed in. */
const visiting = <E, R>(
  steps: (
    place: Window & { readonly url: string; readonly domainId: string; readonly key: string }
  ) => Effect.Effect<void, E, R>,
  options: BrowserContextOptions = {}
) =>
  Effect.gen(function* () {
    const inlet = yield* TestInlet
    const browser = yield* Browser
    const { domainId, key } = yield* inlet.inbox()
    yield* browser.visit({ locale: "en-US", timezoneId: "America/New_York", ...options }, (window) =>
      Effect.andThen(Console.enter(window.page, inlet.url, key), steps({ ...window, url: inlet.url, domainId, key }))
    )
  })

/** Answers requests of the page at this path in place of the service. */
const answer = (page: Window["page"], path: string, json: object) =>
  step(() => page.route(`**${path}`, (route) => route.fulfill({ json })))

const refusal = {
  id: "r-1",
  reason: "too_large",
  from: "a@sender.example",
  recipient: "b@one.example",
  subject: null,
  remedy: "Send less",
  reply: "552 5.3.4 The message exceeds the size limit",
  count: 1,
  first_at: "2026-11-29T10:11:52.000Z",
  last_at: "2026-11-29T10:11:52.000Z"
}

const check = {
  check: "last_mail",
  status: "ok",
  message: "The last mail arrived at 2026-11-29T10:12:24Z",
  remedy: null
}

const dayOf = (accepted: number, index: number) => ({
  ...{ day: `2026-11-0${index + 1}`, accepted, bytes: 0, held: 0, spam: 0, virus: 0, unscanned: 0 },
  ...{ delivered: 0, dead: 0, failed: 0, refused: [] },
  ...(index === 6 ? { p50_ms: null, p99_ms: null } : { p50_ms: 50_000, p99_ms: 150_000 })
})

/** The widths of the bars in pixels, in the first row of pixels below the tops that has no other line. */
const barWidths = `(() => {
  const canvas = document.querySelector("canvas")
  const { width, height } = canvas
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height)
  for (let y = Math.round(height * 0.4); y < height * 0.6; y++) {
    const runs = []
    for (let x = 0, begin = -1; x <= width; x++) {
      const isDrawn = x < width && data[(y * width + x) * 4 + 3] > 0
      if (isDrawn && begin < 0) begin = x
      if (!isDrawn && begin >= 0) {
        runs.push(x - begin)
        begin = -1
      }
    }
    const bars = runs.filter((run) => run > 12)
    if (bars.length > 1) return bars
  }
  return []
})()`

/** The options of the filters that are wider than their control, which has an arrow of 20 px. */
const cutOptions = `[...document.querySelectorAll(".filter-fields select")].flatMap((select) => {
  const style = getComputedStyle(select)
  const pen = document.createElement("canvas").getContext("2d")
  pen.font = style.font
  const room = select.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - 20
  return [...select.options].map(({ text }) => text).filter((text) => pen.measureText(text).width > room)
})`

describe("A browser", Needs.options(Needs.chromium), () => {
  layer(World, { excludeTestServices: true })("The console", (it) => {
    it.effect("shows the times in texts of a trace and of the health as local ones", () =>
      visiting(({ complaints, domainId, page, url }) =>
        Effect.gen(function* () {
          const text = "Refused with 552 5.3.4, 2 times until 2026-11-29T10:12:24.629Z"
          const remedy = "Sent at 2026-99-99T99:99:99Z"
          const entry = {
            ...{ at: refusal.first_at, outcome: "refused", domain_id: domainId, domain: "one.example" },
            ...{ from: refusal.from, author: null, recipient: refusal.recipient, subject: null, message_id: null },
            ...{ bytes: null, event_id: null, inbound_email_id: null, refusal_id: refusal.id, reason: "too_large" },
            ...{ summary: text, remedy, steps: [{ step: "refused", at: refusal.first_at, ok: false, text, remedy }] }
          }
          yield* answer(page, "/api/trace?**", { entries: [entry], next_cursor: null, hint: null })
          yield* step(() => page.goto(`${url}/console/trace?to=${refusal.recipient}`))
          const told = yield* textOf(page.locator(".traced li"))
          assert.match(told, /2 times until Nov 29, 2026, 5:12:24\sAM Nov 29, 2026, 5:11:52\sAM$/)
          const times = page.locator(".traced li time")
          assert.strictEqual(yield* step(() => times.first().getAttribute("datetime")), "2026-11-29T10:12:24.629Z")
          yield* step(() => page.getByText("Sent at 2026-99-99T99:99:99Z", { exact: true }).waitFor())

          yield* answer(page, "/health", { summary: "Mail arrives", checks: [check], mx_hosts_left_out: 0 })
          yield* step(() => page.goto(`${url}/console/domains/${domainId}`))
          yield* step(() => page.getByText(/^The last mail arrived at Nov 29, 2026, 5:12:24\sAM$/).waitFor())
          assert.deepStrictEqual(complaints, [])
        })
      )
    )

    it.effect("shows when mail was refused first, by which it is ordered, and when last", () =>
      visiting(({ domainId, page, url }) =>
        Effect.gen(function* () {
          yield* step(() => page.clock.install({ time: "2026-11-29T10:20:00Z" }))
          const older = { ...refusal, count: 2, first_at: "2026-11-29T10:11:00Z", last_at: "2026-11-29T10:13:00Z" }
          const newer = { ...refusal, id: "r-2", first_at: "2026-11-29T10:12:00Z", last_at: "2026-11-29T10:12:00Z" }
          yield* answer(page, "/refusals?**", { refusals: [newer, older], next_cursor: null })
          yield* step(() => page.goto(`${url}/console/d/${domainId}/refused`))
          const items = page.getByRole("list", { name: "Refused mail" }).locator("li")
          yield* step(() => items.nth(1).waitFor())
          assert.match(yield* textOf(items.nth(0).locator("p").first()), / 8m ago$/)
          assert.match(yield* textOf(items.nth(1).locator("p").first()), / 9m ago, 2 times, last 7m ago$/)
        })
      )
    )

    it.effect("counts one mail and one attempt in the singular", () =>
      visiting(({ domainId, key, page, url }) =>
        Effect.gen(function* () {
          const inlet = yield* TestInlet
          yield* inlet.call("POST", `/api/domains/${domainId}/simulate`, { key, body: { sample: "code" } })
          yield* step(() => page.goto(`${url}/console/trace?from=no-reply@acme.example`))
          yield* step(() => page.locator("#announce", { hasText: /^1 mail found$/ }).waitFor({ state: "attached" }))
          const figures = { attempts: 1, failed: 0, pending: 0, held: 0, dead: 0, last_error: null }
          yield* answer(page, "/webhooks/*/health", figures)
          yield* step(() => page.goto(`${url}/console/d/${domainId}/webhook`))
          yield* step(() => page.getByText("catch-all, every other address").click())
          yield* step(() => page.getByText(/^1 attempt in 24 h, 0 failed/).waitFor())
        })
      )
    )

    it.effect("shows each tab of a mail and the options of the filters whole on a phone", () =>
      visiting(
        ({ domainId, key, page, url }) =>
          Effect.gen(function* () {
            const inlet = yield* TestInlet
            const body = { subject: "Plain", text: "No HTML here" }
            yield* inlet.call("POST", `/api/domains/${domainId}/simulate`, { key, body })
            yield* step(() => page.goto(`${url}/console/d/${domainId}/inbox?kind=person`))
            yield* step(() => page.getByRole("link", { name: "Plain" }).waitFor())
            assert.deepStrictEqual(yield* step(() => page.evaluate<ReadonlyArray<string>>(cutOptions)), [])
            yield* step(() => page.getByRole("link", { name: "Plain" }).click())
            yield* step(() => page.getByRole("tab", { name: "No HTML" }).waitFor())
            const tabs = yield* step(() => page.getByRole("tab").all())
            const boxes = yield* Effect.forEach(tabs, (tab) =>
              step(() => tab.boundingBox()).pipe(Effect.flatMap(Effect.fromNullishOr))
            )
            assert.lengthOf(boxes, 5)
            assert.lengthOf(new Set(boxes.map(({ height, y }) => `${y} ${height}`)), 1)
            assert.isAtMost(Math.max(...boxes.map(({ width, x }) => x + width)), 390 - 16)
          }),
        { viewport: { width: 390, height: 844 } }
      )
    )

    it.effect(
      "charts the newest day with a whole bar, and its values in the legend until a pointer is over another",
      () =>
        visiting(({ complaints, domainId, page, url }) =>
          Effect.gen(function* () {
            yield* answer(page, "/stats?**", { days: [0, 0, 0, 0, 0, 12, 12].map(dayOf) })
            yield* step(() => page.goto(`${url}/console/d/${domainId}/statistics?days=7`))
            const legends = page.locator(".u-legend")
            yield* step(() => legends.nth(1).waitFor())
            assert.match(yield* textOf(legends.nth(0)), /Day2026-11-07Accepted12Delivered0Dead0Refused0$/)
            // No delivery of the last day succeeded.
            assert.match(yield* textOf(legends.nth(1)), /Day2026-11-06p5050\.0 sp992\.5 min$/)

            const widths = yield* step(() => page.evaluate<ReadonlyArray<number>>(barWidths))
            assert.lengthOf(widths, 2)
            assert.closeTo(widths[1] ?? 0, widths[0] ?? 0, 2)

            yield* step(() =>
              page
                .locator(".u-over")
                .first()
                .hover({ position: { x: 5, y: 50 } })
            )
            yield* step(() => legends.filter({ hasText: /Day2026-11-01Accepted0/ }).waitFor())
            yield* step(() => page.mouse.move(0, 0))
            yield* step(() => legends.filter({ hasText: /Day2026-11-07Accepted12/ }).waitFor())
            assert.deepStrictEqual(complaints, [])
          })
        )
    )
  })
})
