import { Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import * as Readiness from "../health/Readiness.ts"
import * as Settings from "../Settings.ts"
import * as Listener from "./Listener.ts"
import * as RequestPath from "./requests/RequestPath.ts"

/** `METRICS_PORT` cannot be opened. */
export class MonitorListenError extends Schema.TaggedError<MonitorListenError>()("MonitorListenError", {
  cause: Schema.Defect()
}) {}

const ok = HttpServerResponse.jsonUnsafe({ status: "ok" })

const unavailable = ({ message }: { readonly message: string }) =>
  HttpServerResponse.jsonUnsafe({ error: message }, { status: 503, headers: { "retry-after": "5" } })

const routes = Layer.unwrap(
  Effect.map(Readiness.make("process"), (ready) =>
    Layer.mergeAll(
      PrometheusMetrics.layerHttp({ path: "/metrics" }),
      HttpRouter.add("GET", "/health", Effect.succeed(ok)),
      HttpRouter.add("GET", "/ready", Effect.match(ready, { onFailure: unavailable, onSuccess: () => ok }))
    )
  )
)

/**
 * Serves `/metrics`, `/health` and `/ready` of a process without the role `http` at `METRICS_PORT`. Other processes have
 * them beside the API.
 */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const roles = yield* Settings.roles
    const { host, metricsPort: port } = yield* Settings.http
    if (port === undefined || roles.includes("http")) return Layer.empty
    return HttpRouter.serve(routes, { disableLogger: true, routerConfig: RequestPath.matching }).pipe(
      Layer.provide(Listener.layer({ host, port })),
      Layer.catchTag("ServeError", ({ cause }) => Layer.effectDiscard(new MonitorListenError({ cause })))
    )
  })
)
