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
        description: "Its mail is refused with 550 and its deliveries pause."
      })
    ),
    HttpApiEndpoint.post("enable", "/admin/domains/:domain/enable", {
      params: named,
      success: Changed,
      error: [Invalid.http, NotFound.http]
    }).annotateMerge(OpenApi.annotations({ summary: "Enable a domain: back to the state before" })),
    HttpApiEndpoint.delete("remove", "/admin/domains/:domain", {
      params: named,
      success: Changed,
      error: [Invalid.http, NotFound.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Take a domain from its holder",
        description:
          "Its mail is refused from then on, and its messages, events and attempts go with it. Whoever proves the name next holds it. 404 where nobody holds it."
      })
    )
  )
  .middleware(KnownParameters)
  .middleware(AdminAuthorization)
  .annotateMerge(
    OpenApi.annotations({
      title: "Operator",
      description: "With `Authorization: Bearer <ADMIN_TOKEN>`; 404 without it"
    })
  ) {}
