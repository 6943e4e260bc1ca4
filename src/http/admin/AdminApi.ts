import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Conflict, Invalid, NotFound, Unavailable } from "../../model/ApiError.ts"
import { Domain } from "../../model/Domain.ts"
import { WorkspaceId } from "../../model/Workspace.ts"
import { ListedDomain } from "../../operator/AllDomains.ts"
import { ListedWorkspace } from "../../operator/AllWorkspaces.ts"
import { Status } from "../../operator/ServiceStatus.ts"
import { UnknownRefusal } from "../../refusals/UnknownRefusals.ts"
import { mostRowsOfDay } from "../../refusals/UnknownRows.ts"
import * as DomainPage from "../domains/DomainPage.ts"
import { KnownParameters } from "../requests/KnownParameters.ts"
import * as LedgerPage from "../requests/LedgerPage.ts"
import * as PageQuery from "../requests/PageQuery.ts"
import { text } from "../requests/TextQuery.ts"
import * as TraceQuery from "../trace/TraceQuery.ts"
import { AdminAuthorization } from "./AdminAuthorization.ts"

const Changed = Schema.Struct({ domains: Schema.Array(Domain) })
const named = { domain: Schema.String }

export class AdminApi extends HttpApiGroup.make("admin")
  .add(
    HttpApiEndpoint.get("list", "/admin/domains", {
      query: DomainPage.query,
      success: Schema.Struct({ domains: Schema.Array(ListedDomain), next_cursor: PageQuery.NextCursor }),
      error: Invalid.http
    }).annotateMerge(OpenApi.annotations({ summary: "List every domain, newest first" })),
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
  .add(
    HttpApiEndpoint.get("workspaces", "/admin/workspaces", {
      query: {
        search: text(200, "contained in the name in any case, or the id"),
        limit: PageQuery.Limit,
        cursor: Schema.optionalKey(Schema.String.annotate({ description: "`next_cursor` of the previous page" }))
      },
      success: Schema.Struct({ workspaces: Schema.Array(ListedWorkspace), next_cursor: PageQuery.NextCursor }),
      error: Invalid.http
    }).annotateMerge(OpenApi.annotations({ summary: "List every workspace, newest first" })),
    HttpApiEndpoint.delete("removeWorkspace", "/admin/workspaces/:workspaceId", {
      params: { workspaceId: WorkspaceId },
      success: HttpApiSchema.NoContent,
      error: [NotFound.http, Conflict.http, Unavailable.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Remove a workspace",
        description:
          "Its keys and domains stop working at once. Inlet deletes its mail in the background. 409 while it has an open order. 503 if it has more domains than one request removes: repeat it."
      })
    ),
    HttpApiEndpoint.get("refusals", "/admin/refusals", {
      query: {
        limit: PageQuery.Limit,
        cursor: PageQuery.Cursor,
        domain: Schema.optionalKey(Schema.String.annotate({ description: "only refusals of mail for this name" }))
      },
      success: Schema.Struct({ refusals: Schema.Array(UnknownRefusal), next_cursor: PageQuery.NextCursor }),
      error: Invalid.http
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List refusals that belong to no domain, newest first",
        description: `Mail for names that no workspace has, and connections, TLS and SMTP commands that failed before a recipient was named. Those of a client, reason and name within an hour are one entry with a count. Beyond ${mostRowsOfDay.toLocaleString("en")} entries on a UTC day, names are no longer told apart. GET /api/domains/{id}/refusals has those of a domain.`
      })
    ),
    HttpApiEndpoint.get("trace", "/admin/trace", {
      query: TraceQuery.query,
      success: TraceQuery.page,
      error: Invalid.http
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Find out what became of mail in any workspace",
        description: "As GET /api/trace, over all domains and demo inboxes."
      })
    ),
    HttpApiEndpoint.get("operationalEvents", "/admin/operational-events", {
      query: LedgerPage.query,
      success: LedgerPage.answer,
      error: Invalid.http
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List every operational event, newest first",
        description: "Those of all workspaces, and those of the service itself, such as a certificate that ends soon."
      })
    ),
    HttpApiEndpoint.get("status", "/admin/status", { success: Status }).annotateMerge(
      OpenApi.annotations({
        summary: "Get the status of the service",
        description:
          "Queues, database, disks, mail scanner, failing webhooks and settings. Of this process: memory and uptime."
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
