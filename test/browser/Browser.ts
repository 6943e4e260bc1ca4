import { assert } from "@effect/vitest"
import { Context, Effect, Layer, type Scope } from "effect"
import { type BrowserContextOptions, chromium, type Locator, type Page } from "playwright-core"
import * as Needs from "../Needs.ts"

/** A window, and what goes on in it that a person does not see. */
export interface Window {
  readonly page: Page
  /** What the console showed as error or warning, and what nobody caught. */
  readonly complaints: ReadonlyArray<string>
  /** The URL of every request, answered or not. */
  readonly requests: ReadonlyArray<string>
}

/** A real chromium. */
export class Browser extends Context.Service<
  Browser,
  {
    /** Goes through the steps in a window of its own, cookies included. */
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
        page.setDefaultTimeout(15_000)
        return { page, complaints, requests }
      })

      return Browser.of({
        visit: (options, steps) => Effect.scoped(Effect.asVoid(Effect.flatMap(open(options), steps)))
      })
    })
  )
}

/** What a person does in the page, or sees there. */
export const step = <A>(act: () => Promise<A>): Effect.Effect<A> => Effect.promise(act)

/** How far the page can be scrolled sideways, in pixels. */
export const overflow = (page: Page): Effect.Effect<number> =>
  step(() => page.evaluate<number>("document.documentElement.scrollWidth - innerWidth"))

/** What is written there. */
export const textOf = (place: Locator): Effect.Effect<string> =>
  step(() => place.textContent()).pipe(Effect.map(String))

/** The words of what has the focus; fails where a person can't see that it has. */
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
