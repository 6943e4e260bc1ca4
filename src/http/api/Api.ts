import { HttpApi, OpenApi } from "effect/http-api"
import { version } from "../../Version.ts"
import { AdminApi } from "../admin/AdminApi.ts"
import { ConsoleApi } from "../console/ConsoleApi.ts"
import { DeliveriesApi } from "../deliveries/DeliveriesApi.ts"
import { DemoApi } from "../demo/DemoApi.ts"
import { DomainsApi } from "../domains/DomainsApi.ts"
import { EventsApi } from "../events/EventsApi.ts"
import { IngestApi } from "../ingest/IngestApi.ts"
import { OperationsApi } from "../operations/OperationsApi.ts"
import { PaymentCallbackApi } from "../purchase/PaymentCallbackApi.ts"
import { PurchaseApi } from "../purchase/PurchaseApi.ts"
import { ReplaysApi } from "../replays/ReplaysApi.ts"
import * as GroupApi from "../requests/GroupApi.ts"
import { ValidationErrors } from "../requests/ValidationErrors.ts"
import { SimulateApi } from "../simulate/SimulateApi.ts"
import { SystemApi } from "../system/SystemApi.ts"
import { TraceApi } from "../trace/TraceApi.ts"
import { SenderRulesApi } from "../trust/SenderRulesApi.ts"
import { WebhooksApi } from "../webhooks/WebhooksApi.ts"
import { WorkspacesApi } from "../workspaces/WorkspacesApi.ts"

/** The whole HTTP interface, source of the handlers' types, OpenAPI, the client and docs/api.md. */
export class Api extends HttpApi.make("inlet")
  .add(WorkspacesApi)
  .add(DomainsApi)
  .add(WebhooksApi)
  .add(SenderRulesApi)
  .add(EventsApi)
  .add(ReplaysApi)
  .add(TraceApi)
  .add(DeliveriesApi)
  .add(SimulateApi)
  .add(IngestApi)
  .add(PurchaseApi)
  .add(PaymentCallbackApi)
  .add(DemoApi)
  .add(ConsoleApi)
  .add(OperationsApi)
  .add(AdminApi)
  .add(SystemApi)
  .middleware(ValidationErrors)
  .annotate(HttpApi.PayloadParseOptions, GroupApi.bodies)
  .annotateMerge(
    OpenApi.annotations({
      title: "Inlet",
      version,
      description:
        'Inbound email for agents: mail in over SMTP, signed JSON webhooks out. Every error answers `{"error": "<message>"}`.',
      license: { name: "MIT" }
    })
  ) {}
