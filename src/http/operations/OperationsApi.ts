import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Invalid } from "../../model/ApiError.ts"
import { Authorization } from "../requests/Authorization.ts"
import { KnownParameters } from "../requests/KnownParameters.ts"
import * as LedgerPage from "../requests/LedgerPage.ts"
import * as ReadKeys from "../requests/ReadKeys.ts"

export class OperationsApi extends HttpApiGroup.make("operations")
  .add(
    HttpApiEndpoint.get("list", "/api/operational-events", {
      query: LedgerPage.query,
      success: LedgerPage.answer,
      error: Invalid.http
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(
        OpenApi.annotations({
          summary: "List operational events, newest first",
          description:
            "Paused webhooks, dead letters, expired mail, quotas, lost MX records, new domains. Inlet records them with or without an operational webhook, which PATCH /api/workspace sets. A domain or workspace has at most one of a type in an hour, and one of each quota threshold in a UTC day."
        })
      )
  )
  .middleware(KnownParameters)
  .middleware(Authorization)
  .annotateMerge(
    OpenApi.annotations({ title: "Operational events", description: "News about the service itself, not about mail" })
  ) {}
