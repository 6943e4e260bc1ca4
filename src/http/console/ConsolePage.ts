import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as CachedText from "../answers/CachedText.ts"
import * as PageFrame from "../pages/PageFrame.ts"
import * as ConsoleBundle from "./ConsoleBundle.ts"

const page = PageFrame.render({
  title: "Console · Inlet",
  description: "The inbox, deliveries, webhooks and domains of a workspace.",
  assets: ["inlet.css", "console.css", "console.js"],
  hasFoot: false,
  body: '<div id="console"><noscript><p class="problem">The console needs JavaScript. The API does not: see /docs.</p></noscript></div>'
})

const unbuilt = HttpServerResponse.text(
  "The console could not be built. Run npm ci, which installs esbuild, and restart the service",
  {
    status: 503,
    headers: PageFrame.headers
  }
)

/** Serves the console at `/console` and below, and its code, which is bundled at the first request. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const assets = yield* Effect.cached(
      Effect.map(ConsoleBundle.load, ({ script, styles }) => ({
        script: CachedText.make(script, "text/javascript; charset=utf-8", PageFrame.headers),
        styles: CachedText.make(styles, "text/css; charset=utf-8", PageFrame.headers)
      }))
    )
    const asset = (name: "script" | "styles") =>
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        return (yield* assets)[name](request)
      }).pipe(
        Effect.catchTag("BundleFailed", ({ cause }) =>
          Effect.as(Effect.logError("The console could not be bundled", cause), unbuilt)
        )
      )
    const html = CachedText.make(page, "text/html; charset=utf-8", PageFrame.headers)
    const shell = Effect.map(HttpServerRequest.HttpServerRequest, html)
    return Layer.mergeAll(
      HttpRouter.add("GET", "/console/*", shell),
      HttpRouter.add("GET", "/assets/console.js", asset("script")),
      HttpRouter.add("GET", "/assets/console.css", asset("styles"))
    )
  })
)
