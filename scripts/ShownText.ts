import { Effect } from "effect"
import { type Browser, chromium } from "playwright-core"

/** Chromium as a mail reader: it runs no scripts and loads nothing. */
export const launch = (executablePath: string) =>
  Effect.acquireRelease(
    Effect.promise(() => chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] })),
    (browser) => Effect.promise(() => browser.close())
  )

/** A function that returns `innerText` of the body of HTML. */
export const reader = (browser: Browser) =>
  Effect.gen(function* () {
    const context = yield* Effect.acquireRelease(
      Effect.promise(() =>
        browser.newContext({ javaScriptEnabled: false, offline: true, viewport: { width: 1_280, height: 720 } })
      ),
      (context) => Effect.promise(() => context.close())
    )
    const page = yield* Effect.promise(() => context.newPage())
    yield* Effect.promise(() => page.route("**/*", (route) => route.abort()))
    return (html: string) =>
      Effect.promise(() => page.setContent(html, { waitUntil: "domcontentloaded" })).pipe(
        Effect.andThen(Effect.promise(() => page.evaluate<string>("document.body?.innerText ?? ''")))
      )
  })
