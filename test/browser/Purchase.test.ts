import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Needs from "../Needs.ts"
import { customer } from "../purchase/Shop.ts"
import { TestInlet } from "../TestInlet.ts"
import { Browser, focusIsSeen, overflow, step, textOf } from "./Browser.ts"

describe("A browser", Needs.options(Needs.chromium), () => {
  layer(Layer.merge(TestInlet.layer({ SERVICE_PUBLIC_URL: "https://inlet.example.com" }), Browser.layer), {
    excludeTestServices: true
  })("The checkout pages", (it) => {
    /** The page at both widths, light and dark, with all details open. */
    const look = (path: string, heading: string, expected: ReadonlyArray<string>, complains: RegExp = /^$/) =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const browser = yield* Browser
        for (const colorScheme of ["light", "dark"] as const) {
          for (const width of [1280, 390]) {
            yield* browser.visit({ colorScheme, viewport: { width, height: 844 } }, ({ complaints, page, requests }) =>
              Effect.gen(function* () {
                yield* step(() => page.goto(`${inlet.url}${path}`))
                yield* step(() => page.getByRole("heading", { name: heading, level: 1 }).waitFor())
                for (const summary of yield* step(() => page.locator("summary").all()))
                  yield* step(() => summary.click())
                const text = yield* textOf(page.getByRole("main"))
                for (const words of expected) assert.include(text, words)
                assert.strictEqual(yield* overflow(page), 0)
                assert.deepStrictEqual(
                  complaints.filter((complaint) => !complains.test(complaint)),
                  []
                )
                assert.isTrue(requests.every((url) => url.startsWith(`${inlet.url}/`)))
              })
            )
          }
        }
      })

    const longName = `${"long-name".repeat(7)}.com`

    it.effect("show after a payment the name, the next step and what to do on failure", () =>
      Effect.gen(function* () {
        const { buy } = yield* customer
        const { json } = yield* buy(longName)
        yield* look(`/purchase/success?order=${json.order_id}`, `${longName} is registered.`, [
          "Payment received. You can close this page.",
          "1 year",
          json.order_id,
          "If nothing happens",
          `https://inlet.example.com/api/domains/orders/${json.order_id}`,
          "https://inlet.example.com/api/domains/$DOMAIN_ID/delivery"
        ])
      })
    )

    it.effect("show after a cancellation that nothing was charged and how to start again", () =>
      look("/purchase/cancel", "Nothing was charged.", [
        "nothing to undo",
        "Your payment link works for a day",
        "https://inlet.example.com/api/domains/purchase"
      ])
    )

    it.effect("link to the start page and the docs on an unknown URL", () =>
      look("/pricing", "Page not found.", ["The start page", "The API reference", "llms.txt"], /status of 404/)
    )

    it.effect("copy the order number on Enter and always show the focus", () =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const browser = yield* Browser
        const { buy } = yield* customer
        const { json } = yield* buy("copied.com")
        yield* browser.visit({ permissions: ["clipboard-read", "clipboard-write"] }, ({ page }) =>
          Effect.gen(function* () {
            yield* step(() => page.goto(`${inlet.url}/purchase/success?order=${json.order_id}`))
            const seen: Array<string> = []
            for (let stop = 0; stop < 10 && seen.at(-1) !== "Copy"; stop++) {
              yield* step(() => page.keyboard.press("Tab"))
              seen.push(yield* focusIsSeen(page))
            }
            yield* step(() => page.keyboard.press("Enter"))
            yield* step(() => page.getByText("Copied").first().waitFor())
            const copied = yield* step(() => page.evaluate<string>("navigator.clipboard.readText()"))
            assert.strictEqual(copied, json.order_id)
            assert.strictEqual(yield* textOf(page.getByRole("status")), "Copied")
          })
        )
      })
    )
  })
})
