import { assert, describe, layer } from "@effect/vitest"
import axe from "axe-core"
import { Effect, Layer } from "effect"
import * as Needs from "../Needs.ts"
import { TestInlet } from "../TestInlet.ts"
import { Browser, overflow, step } from "./Browser.ts"

const pages = [
  "/",
  "/docs",
  "/docs/events",
  "/docs/schemas",
  "/docs/schemas/InboundEvent",
  "/docs/webhook",
  "/docs?q=replay",
  "/no-such-page"
]

describe("A browser", Needs.options(Needs.chromium), () => {
  layer(Layer.merge(TestInlet.layer(), Browser.layer), { excludeTestServices: true })("The pages", (it) => {
    for (const width of [1_280, 390]) {
      it.effect.each(pages)(`%s passes axe and does not scroll sideways at ${width} px`, (path) =>
        Effect.gen(function* () {
          const inlet = yield* TestInlet
          const browser = yield* Browser
          // The checks run as a page script, which the page's policy forbids.
          yield* browser.visit({ viewport: { width, height: 844 }, bypassCSP: true }, ({ page }) =>
            Effect.gen(function* () {
              yield* step(() => page.goto(`${inlet.url}${path}`))
              yield* step(() => page.addScriptTag({ content: axe.source }))
              const violations = yield* step(() =>
                page.evaluate<ReadonlyArray<string>>(
                  "axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ': ' + target)))"
                )
              )
              assert.deepStrictEqual(violations, [])
              assert.isAtMost(yield* overflow(page), 0)
            })
          )
        })
      )
    }
  })
})
