import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { PrometheusMetrics } from "effect/observability"
import * as Settings from "../Settings.ts"
import { AdminAuthorization } from "./AdminAuthorization.ts"
import * as AdminHandlers from "./AdminHandlers.ts"
import { AllowedMethods } from "./AllowedMethods.ts"
import { AnswerRoom } from "./AnswerRoom.ts"
import { Api } from "./Api.ts"
import { Authorization } from "./Authorization.ts"
import * as Connections from "./Connections.ts"
import * as DeliveriesHandlers from "./DeliveriesHandlers.ts"
import { DemoAuthorization } from "./DemoAuthorization.ts"
import * as DemoHandlers from "./DemoHandlers.ts"
import * as DomainsHandlers from "./DomainsHandlers.ts"
import * as Edge from "./Edge.ts"
import * as EventsHandlers from "./EventsHandlers.ts"
import { Idempotency } from "./Idempotency.ts"
import { KnownParameters } from "./KnownParameters.ts"
import * as LlmsText from "./LlmsText.ts"
import { MessageMemory } from "./MessageMemory.ts"
import { OpenRequests } from "./OpenRequests.ts"
import * as Pages from "./Pages.ts"
import * as PaymentCallbackHandlers from "./PaymentCallbackHandlers.ts"
import * as PurchaseHandlers from "./PurchaseHandlers.ts"
import * as Reference from "./Reference.ts"
import * as SimulateHandlers from "./SimulateHandlers.ts"
import * as SystemHandlers from "./SystemHandlers.ts"
import { ValidationErrors } from "./ValidationErrors.ts"
import * as WorkspacesHandlers from "./WorkspacesHandlers.ts"

const handlers = Layer.mergeAll(
  WorkspacesHandlers.layer,
  DomainsHandlers.layer,
  EventsHandlers.layer,
  DeliveriesHandlers.layer,
  SimulateHandlers.layer,
  PurchaseHandlers.layer,
  PaymentCallbackHandlers.layer,
  DemoHandlers.layer,
  AdminHandlers.layer,
  SystemHandlers.layer
)

/** All routes: those of the API, and others beside them that are counted and bounded together with them. */
const routes = <E, R>(others: Layer.Layer<never, E, R>) =>
  Layer.mergeAll(
    HttpApiBuilder.layer(Api),
    Reference.layer,
    PrometheusMetrics.layerHttp({ path: "/metrics" }),
    LlmsText.layer,
    Pages.layer,
    others,
    Edge.layer
  ).pipe(
    Layer.provide(handlers),
    Layer.provide(AllowedMethods.layer),
    Layer.provide([
      Authorization.layer,
      DemoAuthorization.layer,
      AdminAuthorization.layer,
      ValidationErrors.layer,
      KnownParameters.layer,
      Idempotency.layer,
      MessageMemory.layer
    ]),
    Layer.provide([OpenRequests.layer, AnswerRoom.layer])
  )

/** How long a client may take, in milliseconds; one that takes longer is answered 408 and cut. */
export const Timeouts = Context.Reference("inlet/http/HttpServer/Timeouts", {
  defaultValue: () => ({
    /** For the header of a request, counted from the connection or the request before. */
    headersTimeout: 20_000,
    /** For the whole request. */
    requestTimeout: 60_000,
    /** How often late clients are looked for. */
    connectionsCheckingInterval: 2_000
  })
})

const listener = Layer.unwrap(
  Effect.gen(function* () {
    const { host, port } = yield* Settings.http
    const timeouts = yield* Timeouts
    const bounded = yield* Connections.make
    const makeServer = () => {
      const server = bounded(createServer(timeouts))
      const others = server.listenerCount("request")
      // The port is open before the routes are there. A request that early would never be answered.
      return server.on("request", (_request, response) => {
        if (server.listenerCount("request") > others + 1) return
        response.writeHead(503, { "content-type": "application/json", "retry-after": "1" })
        response.end(JSON.stringify({ error: "The service is starting; try again in a second" }))
      })
    }
    return NodeHttpServer.layer(makeServer, { host, port, gracefulShutdownTimeout: "20 seconds" })
  })
)

/** Serves the API, and these routes beside it. */
export const layerWith = <E, R>(others: Layer.Layer<never, E, R>) =>
  HttpRouter.serve(routes(others), { disableLogger: true }).pipe(Layer.provide(listener))
