import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest } from "effect/http"
import * as Settings from "../../Settings.ts"
import * as CachedText from "../answers/CachedText.ts"
import * as PageFrame from "../pages/PageFrame.ts"
import * as RequestPath from "../requests/RequestPath.ts"
import * as OpenApiDocument from "./OpenApiDocument.ts"
import * as ReferencePages from "./ReferencePages.ts"

/** Serves the API documentation: `/openapi.json`, and `/docs` with the pages below it. The first request makes it. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { publicUrl } = yield* Settings.http
    const made = yield* Effect.cached(Effect.sync(() => make(publicUrl)))

    const json = Effect.gen(function* () {
      return (yield* made).json(yield* HttpServerRequest.HttpServerRequest)
    })
    const page = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { pages, search } = yield* made
      const path = RequestPath.of(request.url)
      const { q } = yield* HttpServerRequest.ParsedSearchParams
      const query = [q ?? ""].flat()[0]?.trim().slice(0, 100) ?? ""
      if (path === "/docs" && query !== "") return PageFrame.answer(search(query))
      const answer = pages.get(path)
      if (answer !== undefined) return answer(request)
      return yield* new HttpServerError.HttpServerError({ reason: new HttpServerError.RouteNotFound({ request }) })
    })

    return Layer.mergeAll(HttpRouter.add("GET", "/openapi.json", json), HttpRouter.add("GET", "/docs/*", page))
  })
)

const make = (url: string) => {
  const document = OpenApiDocument.make(url)
  const { pages, search } = ReferencePages.make(document, url)
  return {
    json: CachedText.make(JSON.stringify(document), "application/json"),
    pages: new Map<string, ReturnType<typeof CachedText.make>>(
      [...pages].map(([path, html]) => [path, CachedText.make(html, "text/html; charset=utf-8", PageFrame.headers)])
    ),
    search
  }
}
