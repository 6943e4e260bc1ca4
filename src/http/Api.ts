import { HttpApi, OpenApi } from "effect/http-api"
import { version } from "../Version.ts"
import { AdminApi } from "./AdminApi.ts"
import { DeliveriesApi } from "./DeliveriesApi.ts"
import { DemoApi } from "./DemoApi.ts"
import { DomainsApi } from "./DomainsApi.ts"
import { EventsApi } from "./EventsApi.ts"
import { PaymentCallbackApi } from "./PaymentCallbackApi.ts"
import { PurchaseApi } from "./PurchaseApi.ts"
import { SimulateApi } from "./SimulateApi.ts"
import { SystemApi } from "./SystemApi.ts"
import { ValidationErrors } from "./ValidationErrors.ts"
import { WorkspacesApi } from "./WorkspacesApi.ts"

/** The whole HTTP interface: handlers, OpenAPI, the typed client and docs/api.md come from it. */
export class Api extends HttpApi.make("inlet")
  .add(WorkspacesApi)
  .add(DomainsApi)
  .add(EventsApi)
  .add(DeliveriesApi)
  .add(SimulateApi)
  .add(PurchaseApi)
  .add(PaymentCallbackApi)
  .add(DemoApi)
  .add(AdminApi)
  .add(SystemApi)
  .middleware(ValidationErrors)
  .annotateMerge(
    OpenApi.annotations({
      title: "Inlet",
      version,
      description:
        'Inbound email for agents: mail in over SMTP, signed JSON webhooks out. Every error answers `{"error": "<message>"}`.',
      license: { name: "MIT" }
    })
  ) {}
