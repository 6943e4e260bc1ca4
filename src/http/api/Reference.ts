import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import * as Settings from "../../Settings.ts"
import * as CachedText from "../answers/CachedText.ts"
import * as PageFrame from "../pages/PageFrame.ts"
import * as OpenApiDocument from "./OpenApiDocument.ts"
import * as ReferencePages from "./ReferencePages.ts"

/** Serves the API documentation: `/openapi.json`, and `/docs` with the pages below it. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { publicUrl } = yield* Settings.http
    const document = OpenApiDocument.make(publicUrl)
    const json = CachedText.make(JSON.stringify(document), "application/json")
    const { pages, search } = ReferencePages.make(document, publicUrl)

    const served = [...pages].map(([path, page]) => {
      const html = CachedText.make(page, "text/html; charset=utf-8", PageFrame.headers)
      return HttpRouter.add(
        "GET",
        path,
        Effect.gen(function* () {
          const { q } = yield* HttpServerRequest.ParsedSearchParams
          const query = [q ?? ""].flat()[0]?.trim().slice(0, 100) ?? ""
          return path === "/docs" && query !== ""
            ? PageFrame.answer(search(query))
            : html(yield* HttpServerRequest.HttpServerRequest)
        })
      )
    })
    return Layer.mergeAll(
      HttpRouter.add("GET", "/openapi.json", Effect.map(HttpServerRequest.HttpServerRequest, json)),
      ...served
    )
  })
)
