import { assert } from "@effect/vitest"
import { Context, Effect, Layer, type Scope } from "effect"
import { type BrowserContextOptions, chromium, type Locator, type Page } from "playwright-core"
import * as Needs from "../Needs.ts"

/** A window with its console and network activity. */
export interface Window {
  readonly page: Page
  /** Errors and warnings of the console, and uncaught exceptions. */
  readonly complaints: ReadonlyArray<string>
  /** The URL of every request, answered or not. */
  readonly requests: ReadonlyArray<string>
}

/** A real Chromium. */
export class Browser extends Context.Service<
  Browser,
  {
    /** Runs the steps in a window with its own cookies. */
    visit<A, E, R>(
      options: BrowserContextOptions,
      steps: (window: Window) => Effect.Effect<A, E, R>
    ): Effect.Effect<void, E, Exclude<R, Scope.Scope>>
  }
>()("inlet/test/Browser") {
  static readonly layer = Layer.effect(
    Browser,
    Effect.gen(function* () {
      yield* Needs.demand(Needs.chromium)
      const browser = yield* Effect.acquireRelease(
        Effect.promise(() =>
          chromium.launch({
            executablePath: Needs.pathOfChromium,
            headless: true,
            args: [
              "--no-sandbox",
              "--disable-gpu",
              "--disable-quic",
              "--no-first-run",
              "--disable-background-networking",
              "--disable-component-update",
              "--disable-sync"
            ]
          })
        ),
        (browser) => Effect.promise(() => browser.close())
      )

      const open = Effect.fnUntraced(function* (options: BrowserContextOptions) {
        const context = yield* Effect.acquireRelease(
          Effect.promise(() => browser.newContext(options)),
          (context) => Effect.promise(() => context.close())
        )
        const complaints: Array<string> = []
        const requests: Array<string> = []
        context.on("request", (request) => requests.push(request.url()))
        context.on("weberror", (error) => complaints.push(String(error.error())))
        context.on("console", (message) => {
          if (message.type() === "error" || message.type() === "warning") complaints.push(message.text())
        })
        const page = yield* Effect.promise(() => context.newPage())
        page.setDefaultTimeout(30_000)
        return { page, complaints, requests }
      })

      return Browser.of({
        visit: (options, steps) =>
          Effect.scoped(
            Effect.asVoid(
              Effect.flatMap(open(options), (window) => Effect.tapCause(steps(window), () => tellText(window.page)))
            )
          )
      })
    })
  )
}

/** Logs the text of the page of a failed test, if the page still answers. */
const tellText = (page: Page) =>
  Effect.promise(() => page.locator("body").ariaSnapshot({ timeout: 2_000 })).pipe(
    Effect.flatMap((text) => Effect.logError(`${page.url()} showed:\n${text}`)),
    Effect.catchCause(() => Effect.void)
  )

/** The actions and observations of a person in the page. */
export const step = <A>(act: () => Promise<A>): Effect.Effect<A> => Effect.promise(act)

/** The horizontal scroll range of the page in pixels. */
export const overflow = (page: Page): Effect.Effect<number> =>
  step(() => page.evaluate<number>("document.documentElement.scrollWidth - innerWidth"))

/** The same below the window. */
export const below = (page: Page): Effect.Effect<number> =>
  step(() => page.evaluate<number>("document.documentElement.scrollHeight - innerHeight"))

/** The text of an element. */
export const textOf = (place: Locator): Effect.Effect<string> =>
  step(() => place.textContent()).pipe(Effect.map(String))

/** The text of the focused element. Fails if its focus is not visible. */
export const focusIsSeen = (page: Page): Effect.Effect<string> =>
  Effect.gen(function* () {
    const [outline = "none", words = ""] = yield* step(() =>
      page.evaluate<ReadonlyArray<string>>(
        "[getComputedStyle(document.activeElement).outlineStyle, document.activeElement.id || document.activeElement.textContent]"
      )
    )
    assert.notStrictEqual(outline, "none", words.slice(0, 80))
    return words
  })
