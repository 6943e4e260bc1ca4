import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Needs from "../Needs.ts"
import { TestInlet } from "../TestInlet.ts"
import { Browser, overflow, step, textOf } from "./Browser.ts"

describe("A browser", Needs.options(Needs.chromium), () => {
  layer(Layer.merge(TestInlet.layer({ SERVICE_PUBLIC_URL: "https://inlet.example.com" }), Browser.layer), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })("The pages that a checkout comes back to", (it) => {
    const look = (path: string, heading: string, expected: ReadonlyArray<string>) =>
      Effect.gen(function* () {
        const inlet = yield* TestInlet
        const browser = yield* Browser
        for (const colorScheme of ["light", "dark"] as const) {
          for (const width of [1280, 390]) {
            yield* browser.visit({ colorScheme, viewport: { width, height: 844 } }, ({ complaints, page, requests }) =>
              Effect.gen(function* () {
                yield* step(() => page.goto(`${inlet.url}${path}`))
                yield* step(() => page.getByRole("heading", { name: heading, level: 1 }).waitFor())
                const text = yield* textOf(page.getByRole("main"))
                for (const words of expected) assert.include(text, words)
                assert.strictEqual(yield* overflow(page), 0)
                assert.deepStrictEqual(complaints, [])
                assert.isTrue(requests.every((url) => url.startsWith(`${inlet.url}/`)))
              })
            )
          }
        }
      })

    it.effect("say after a payment that the order goes on by itself, and what to do then", () =>
      look("/purchase/success", "Your domain is being registered.", [
        "the rest happens in the background",
        "https://inlet.example.com/api/domains/orders/$ORDER_ID",
        "https://inlet.example.com/api/domains/$DOMAIN_ID/delivery"
      ])
    )

    it.effect("say after a cancellation that nothing was charged, and how to start again", () =>
      look("/purchase/cancel", "Nothing was charged.", [
        "nothing to undo",
        "checkout_url still works",
        "https://inlet.example.com/api/domains/purchase"
      ])
    )
  })
})
