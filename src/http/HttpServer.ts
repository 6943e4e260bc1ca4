import { createServer } from "node:http"
import { NodeHttpServer } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiBuilder, HttpApiScalar } from "effect/http-api"
import { PrometheusMetrics } from "effect/observability"
import * as Settings from "../Settings.ts"
import { AdminAuthorization } from "./AdminAuthorization.ts"
import * as AdminHandlers from "./AdminHandlers.ts"
import { Api } from "./Api.ts"
import { Authorization } from "./Authorization.ts"
import * as DomainsHandlers from "./DomainsHandlers.ts"
import * as Edge from "./Edge.ts"
import * as EventsHandlers from "./EventsHandlers.ts"
import * as LlmsText from "./LlmsText.ts"
import { OpenRequests } from "./OpenRequests.ts"
import * as SystemHandlers from "./SystemHandlers.ts"
import { ValidationErrors } from "./ValidationErrors.ts"
import * as WorkspacesHandlers from "./WorkspacesHandlers.ts"

const handlers = Layer.mergeAll(
  WorkspacesHandlers.layer,
  DomainsHandlers.layer,
  EventsHandlers.layer,
  AdminHandlers.layer,
  SystemHandlers.layer
)

export const routes = Layer.mergeAll(
  HttpApiBuilder.layer(Api, { openapiPath: "/openapi.json" }),
  // The page carries its script: nothing is loaded from another host.
  HttpApiScalar.layer(Api, { path: "/docs", scalar: { withDefaultFonts: false } }),
  PrometheusMetrics.layerHttp({ path: "/metrics" }),
  LlmsText.layer,
  Edge.layer
).pipe(
  Layer.provide(handlers),
  Layer.provide([Authorization.layer, AdminAuthorization.layer, ValidationErrors.layer, OpenRequests.layer])
)

const listener = Layer.unwrap(
  Effect.gen(function* () {
    const { host, port } = yield* Settings.http
    return NodeHttpServer.layer(() => createServer({ headersTimeout: 20_000, requestTimeout: 60_000 }), {
      host,
      port,
      gracefulShutdownTimeout: "20 seconds"
    })
  })
)

/** Serves the API. */
export const layer = HttpRouter.serve(routes, { disableLogger: true }).pipe(Layer.provide(listener))
