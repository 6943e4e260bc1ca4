import { describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Needs from "../Needs.ts"
import { TestInlet } from "../TestInlet.ts"
import { Browser, step } from "./Browser.ts"
import { enter } from "./Console.ts"

const token = "operator-token"

describe("A browser", Needs.options(Needs.chromium), () => {
  layer(Layer.merge(TestInlet.layer({ ADMIN_TOKEN: token }), Browser.layer), { excludeTestServices: true })(
    "A session of the console",
    (it) => {
      it.effect("says why it cannot be ended, and ends with another click", () =>
        Effect.gen(function* () {
          const inlet = yield* TestInlet
          const browser = yield* Browser
          yield* browser.visit({}, ({ page }) =>
            Effect.gen(function* () {
              yield* enter(page, inlet.url, (yield* inlet.workspace).key)
              const out = page.getByRole("button", { name: "Sign out" })
              yield* step(() => page.route("**/api/console/session", (route) => route.abort(), { times: 1 }))
              yield* step(() => out.click())
              const problem = page.locator(".side-foot").getByRole("alert")
              yield* step(() => problem.getByText("The service does not answer").waitFor())
              yield* step(() => out.click())
              yield* step(() => page.getByRole("heading", { name: "Sign in" }).waitFor())
            })
          )
        })
      )

      it.effect("of the operator asks to sign in again on every page of the operator when it has ended", () =>
        Effect.gen(function* () {
          const inlet = yield* TestInlet
          const browser = yield* Browser
          const sql = yield* SqlClient.SqlClient
          yield* browser.visit({}, ({ page }) =>
            Effect.gen(function* () {
              yield* enter(page, inlet.url, token, "/console/operator/workspaces")
              yield* step(() => page.getByRole("heading", { name: "Workspaces" }).waitFor())
              yield* sql`DELETE FROM console_sessions WHERE workspace_id IS NULL`
              yield* step(() => page.getByRole("link", { name: "All domains" }).click())
              yield* step(() => page.getByRole("status").getByText("Your session has ended").waitFor())
            })
          )
        })
      )
    }
  )
})
