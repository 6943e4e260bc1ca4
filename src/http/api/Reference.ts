import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import * as Settings from "../../Settings.ts"
import * as PageFrame from "../pages/PageFrame.ts"
import * as CachedText from "./CachedText.ts"
import * as OpenApiDocument from "./OpenApiDocument.ts"
import * as ReferencePage from "./ReferencePage.ts"

/** The description of the API: for programs at `/openapi.json`, for people at `/docs`. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { publicUrl } = yield* Settings.http
    const document = OpenApiDocument.make(publicUrl)
    const json = CachedText.make(JSON.stringify(document), "application/json")
    const page = ReferencePage.render(document, publicUrl.replace(/\/$/, ""))
    const html = CachedText.make(page, "text/html; charset=utf-8", PageFrame.headers)
    return Layer.merge(
      HttpRouter.add("GET", "/openapi.json", Effect.map(HttpServerRequest.HttpServerRequest, json)),
      HttpRouter.add("GET", "/docs", Effect.map(HttpServerRequest.HttpServerRequest, html))
    )
  })
)
