import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { PrometheusMetrics } from "effect/observability"
import * as Settings from "../Settings.ts"
import { ConsoleSessions } from "../workspaces/ConsoleSessions.ts"
import { AllowedMethods } from "./AllowedMethods.ts"
import { AdminAuthorization } from "./admin/AdminAuthorization.ts"
import * as AdminHandlers from "./admin/AdminHandlers.ts"
import { AnswerRoom } from "./answers/AnswerRoom.ts"
import { Api } from "./api/Api.ts"
import * as LlmsText from "./api/LlmsText.ts"
import * as Reference from "./api/Reference.ts"
import * as ConsoleHandlers from "./console/ConsoleHandlers.ts"
import * as ConsolePage from "./console/ConsolePage.ts"
import * as DeliveriesHandlers from "./deliveries/DeliveriesHandlers.ts"
import { DemoAuthorization } from "./demo/DemoAuthorization.ts"
import * as DemoHandlers from "./demo/DemoHandlers.ts"
import * as DomainsHandlers from "./domains/DomainsHandlers.ts"
import * as Edge from "./Edge.ts"
import * as EventsHandlers from "./events/EventsHandlers.ts"
import * as IngestHandlers from "./ingest/IngestHandlers.ts"
import * as Listener from "./Listener.ts"
import * as OperationsHandlers from "./operations/OperationsHandlers.ts"
import * as Pages from "./Pages.ts"
import * as PaymentCallbackHandlers from "./purchase/PaymentCallbackHandlers.ts"
import * as PurchaseHandlers from "./purchase/PurchaseHandlers.ts"
import * as ReplaysHandlers from "./replays/ReplaysHandlers.ts"
import { Authorization } from "./requests/Authorization.ts"
import { DatabaseErrors } from "./requests/DatabaseErrors.ts"
import { Idempotency } from "./requests/Idempotency.ts"
import { KnownParameters } from "./requests/KnownParameters.ts"
import { LimitedCursors } from "./requests/LimitedCursors.ts"
import { MessageMemory } from "./requests/MessageMemory.ts"
import { OpenRequests } from "./requests/OpenRequests.ts"
import { Operator } from "./requests/Operator.ts"
import * as RequestPath from "./requests/RequestPath.ts"
import { ValidationErrors } from "./requests/ValidationErrors.ts"
import * as SimulateHandlers from "./simulate/SimulateHandlers.ts"
import * as ChallengeRoute from "./system/ChallengeRoute.ts"
import * as SystemHandlers from "./system/SystemHandlers.ts"
import * as TraceHandlers from "./trace/TraceHandlers.ts"
import * as SenderRulesHandlers from "./trust/SenderRulesHandlers.ts"
import * as WebhooksHandlers from "./webhooks/WebhooksHandlers.ts"
import * as WorkspacesHandlers from "./workspaces/WorkspacesHandlers.ts"

const handlers = Layer.mergeAll(
  WorkspacesHandlers.layer,
  DomainsHandlers.layer,
  EventsHandlers.layer,
  ReplaysHandlers.layer,
  WebhooksHandlers.layer,
  SenderRulesHandlers.layer,
  TraceHandlers.layer,
  DeliveriesHandlers.layer,
  SimulateHandlers.layer,
  IngestHandlers.layer,
  PurchaseHandlers.layer,
  PaymentCallbackHandlers.layer,
  DemoHandlers.layer,
  ConsoleHandlers.layer,
  OperationsHandlers.layer,
  AdminHandlers.layer,
  SystemHandlers.layer
)

/** All routes: those of the API, and others that are counted and limited together with them. */
const routes = <E, R>(others: Layer.Layer<never, E, R>) =>
  Layer.mergeAll(
    HttpApiBuilder.layer(Api),
    Reference.layer,
    PrometheusMetrics.layerHttp({ path: "/metrics" }),
    LlmsText.layer,
    Pages.layer,
    ConsolePage.layer,
    ChallengeRoute.layer,
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
      DatabaseErrors.layer,
      KnownParameters.layer,
      Idempotency.layer,
      MessageMemory.layer
    ]),
    Layer.provide(Operator.layer),
    Layer.provide(ConsoleSessions.layer),
    Layer.provide([OpenRequests.layer, AnswerRoom.layer, LimitedCursors.layer])
  )

const listener = Layer.unwrap(Effect.map(Settings.http, ({ host, port }) => Listener.layer({ host, port })))

/** Serves the API and these routes. */
export const layerWith = <E, R>(others: Layer.Layer<never, E, R>) =>
  HttpRouter.serve(routes(others), { disableLogger: true, routerConfig: RequestPath.matching }).pipe(
    Layer.provide(listener)
  )
