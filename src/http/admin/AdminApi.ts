import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Invalid, NotFound } from "../../model/ApiError.ts"
import { Domain } from "../../model/Domain.ts"
import { KnownParameters } from "../requests/KnownParameters.ts"
import { AdminAuthorization } from "./AdminAuthorization.ts"

const Changed = Schema.Struct({ domains: Schema.Array(Domain) })
const named = { domain: Schema.String }

export class AdminApi extends HttpApiGroup.make("admin")
  .add(
    HttpApiEndpoint.get("list", "/admin/domains", { success: Changed }).annotateMerge(
      OpenApi.annotations({ summary: "List every domain, newest first" })
    ),
    HttpApiEndpoint.post("disable", "/admin/domains/:domain/disable", {
      params: named,
      success: Changed,
      error: [Invalid.http, NotFound.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Disable a domain",
        description: "Inlet refuses its mail with 550 and pauses its deliveries."
      })
    ),
    HttpApiEndpoint.post("enable", "/admin/domains/:domain/enable", {
      params: named,
      success: Changed,
      error: [Invalid.http, NotFound.http]
    }).annotateMerge(OpenApi.annotations({ summary: "Enable a domain" })),
    HttpApiEndpoint.delete("remove", "/admin/domains/:domain", {
      params: named,
      success: Changed,
      error: [Invalid.http, NotFound.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Remove a domain from its workspace",
        description:
          "Inlet refuses its mail from then on, and deletes its messages, events and attempts. Another workspace can then verify the domain. 404 if no workspace holds it."
      })
    )
  )
  .middleware(KnownParameters)
  .middleware(AdminAuthorization)
  .annotateMerge(
    OpenApi.annotations({
      title: "Operator",
      description: "For operators, with `Authorization: Bearer <ADMIN_TOKEN>`. Without it these routes answer 404"
    })
  ) {}
