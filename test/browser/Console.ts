import { Effect } from "effect"
import type { Page } from "playwright-core"
import { step } from "./Browser.ts"

/** Signs a window in with a key, on the page of a path. */
export const enter = Effect.fnUntraced(function* (page: Page, url: string, key: string, path = "/console") {
  yield* step(() => page.goto(`${url}/console/sign-in`))
  yield* step(() => page.getByLabel("API key, read key").fill(key))
  yield* step(() => page.getByRole("button", { name: "Sign in" }).click())
  yield* step(() => page.waitForURL((now) => !now.pathname.endsWith("/sign-in")))
  if (path !== "/console") yield* step(() => page.goto(`${url}${path}`))
})
