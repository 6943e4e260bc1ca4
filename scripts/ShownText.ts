import { Effect } from "effect"
import { type Browser, chromium } from "playwright-core"
import { PNG } from "pngjs"

/** Chromium as a mail reader: it runs no scripts and loads nothing. */
export const launch = (executablePath: string) =>
  Effect.acquireRelease(
    Effect.promise(() => chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] })),
    (browser) => Effect.promise(() => browser.close())
  )

/** A page that runs no scripts and loads nothing from outside of its HTML. */
const newPage = (browser: Browser, viewport: { readonly width: number; readonly height: number }) =>
  Effect.gen(function* () {
    const context = yield* Effect.acquireRelease(
      Effect.promise(() => browser.newContext({ javaScriptEnabled: false, offline: true, viewport })),
      (context) => Effect.promise(() => context.close())
    )
    const page = yield* Effect.promise(() => context.newPage())
    yield* Effect.promise(() => page.route(/^(?!data:)/, (route) => route.abort()))
    return page
  })

/** A function that returns `innerText` of the body of HTML. */
export const reader = (browser: Browser) =>
  Effect.gen(function* () {
    const page = yield* newPage(browser, { width: 1_280, height: 720 })
    return (html: string) =>
      Effect.promise(() => page.setContent(html, { waitUntil: "domcontentloaded" })).pipe(
        Effect.andThen(Effect.promise(() => page.evaluate<string>("document.body?.innerText ?? ''")))
      )
  })

/** A function that returns a picture of a page, up to 2,000 px wide and 6,000 px high. */
export const photographer = (browser: Browser) =>
  Effect.gen(function* () {
    const page = yield* newPage(browser, { width: 800, height: 400 })
    return (html: string) =>
      Effect.promise(() => page.setContent(html, { waitUntil: "load" })).pipe(
        Effect.andThen(
          Effect.promise(() => page.screenshot({ fullPage: true, clip: { x: 0, y: 0, width: 2_000, height: 6_000 } }))
        ),
        Effect.map((png) => PNG.sync.read(png))
      )
  })

/** The size of a page among others in one picture, and how many fit into it. */
const frame = { width: 400, height: 160 }
const columns = 5
const rows = 12

/** The number of pages that fit into one picture. */
export const mostPages = columns * rows

const inFrame = (html: string, index: number) =>
  `<iframe style="position:absolute;border:0;left:${(index % columns) * frame.width}px;top:${Math.floor(index / columns) * frame.height}px" width=${frame.width} height=${frame.height} srcdoc="${html.replaceAll("&", "&amp;").replaceAll('"', "&quot;")}"></iframe>`

/** A function that returns small pictures of the tops of many pages, which do not affect each other. */
export const contactSheet = (browser: Browser) =>
  Effect.gen(function* () {
    const page = yield* newPage(browser, { width: columns * frame.width, height: rows * frame.height })
    return Effect.fnUntraced(function* (pages: ReadonlyArray<string>) {
      const html = `<!doctype html><body style="margin:0">${pages.map(inFrame).join("")}`
      yield* Effect.promise(() => page.setContent(html, { waitUntil: "load" }))
      const whole = PNG.sync.read(yield* Effect.promise(() => page.screenshot()))
      return pages.map((_, index) => {
        const one = new PNG(frame)
        const [left, top] = [(index % columns) * frame.width, Math.floor(index / columns) * frame.height]
        PNG.bitblt(whole, one, left, top, frame.width, frame.height, 0, 0)
        return one
      })
    })
  })
