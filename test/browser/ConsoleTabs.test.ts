import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Needs from "../Needs.ts"
import { TestInlet } from "../TestInlet.ts"
import { Browser, step } from "./Browser.ts"
import * as Console from "./Console.ts"

describe("A browser", Needs.options(Needs.chromium), () => {
  layer(Layer.merge(TestInlet.layer(), Browser.layer), { excludeTestServices: true })(
    "Two tabs of the console",
    (it) => {
      it.effect("act on the workspace that they show, not on the one that another tab switched to", () =>
        Effect.gen(function* () {
          const inlet = yield* TestInlet
          const browser = yield* Browser
          yield* browser.visit({}, ({ page }) =>
            Effect.gen(function* () {
              const [first, second] = [yield* inlet.workspace, yield* inlet.workspace]
              yield* Console.enter(page, inlet.url, first.key, "/console/keys")
              yield* step(() => page.getByRole("button", { name: "Replace the key" }).waitFor())
              const tab = yield* step(() => page.context().newPage())
              yield* Console.enter(tab, inlet.url, second.key, "/console/domains")

              yield* step(() => page.getByRole("button", { name: "Replace the key" }).click())
              yield* step(() => page.getByRole("button", { name: "Replace", exact: true }).click())
              yield* step(() => page.getByText("You are signed in to another workspace").first().waitFor())
              assert.strictEqual((yield* inlet.call("GET", "/api/domains", { key: second.key })).status, 200)

              // The page that switched goes on, and the other one after it was loaded again.
              yield* step(() => tab.getByPlaceholder("mail.example.com").fill("second.example.com"))
              yield* step(() => tab.getByRole("button", { name: "Add", exact: true }).click())
              yield* step(() => tab.getByRole("heading", { name: "second.example.com" }).waitFor())
              yield* step(() => page.goto(`${inlet.url}/console/domains`))
              yield* step(() => page.getByRole("link", { name: "second.example.com" }).first().waitFor())
            })
          )
        })
      )
    }
  )
})
