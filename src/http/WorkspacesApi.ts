import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { TooManyRequests } from "../model/ApiError.ts"
import { WorkspaceId, WorkspaceName } from "../model/Workspace.ts"
import { Authorization } from "./Authorization.ts"
import { KnownParameters } from "./KnownParameters.ts"

const Secret = (what: string) => Schema.String.annotate({ description: `${what}; shown this once` })

const mostOf = (what: string) => Schema.NullOr(Schema.Int).annotate({ description: `${what}; null for no limit` })

export class WorkspacesApi extends HttpApiGroup.make("workspaces")
  .add(
    HttpApiEndpoint.post("create", "/api/workspaces", {
      payload: Schema.Struct({
        name: Schema.String.annotate({ description: "1 to 100 characters, for you alone" }).pipe(
          Schema.decodeTo(WorkspaceName)
        )
      }),
      success: Schema.Struct({
        workspace_id: WorkspaceId,
        api_key: Secret("begins with ak_live_"),
        webhook_signing_secret: Secret("begins with whsec_; signs every webhook of the workspace")
      }).pipe(HttpApiSchema.status(201)),
      error: TooManyRequests.http
    })
      .middleware(KnownParameters)
      .annotateMerge(
        OpenApi.annotations({ summary: "Create a workspace", description: "Needs no key: it gives you one." })
      ),
    HttpApiEndpoint.get("get", "/api/workspace", {
      success: Schema.Struct({
        workspace_id: WorkspaceId,
        name: WorkspaceName,
        created_at: Schema.DateTimeUtcFromString,
        limits: Schema.Struct({
          domains: mostOf("own domains, the instant inbox not counted"),
          emails_per_day: mostOf("messages accepted in a UTC day; the next is refused for the day with 452"),
          message_bytes: Schema.Int.annotate({ description: "the largest message" }),
          retention_days: mostOf("days that messages, events and attempts are kept"),
          waits_and_streams: mostOf("open at the same time"),
          requests_at_once: mostOf("other requests under way at the same time"),
          requests_per_second: mostOf("requests in a second over time; a burst may be larger")
        }),
        used: Schema.Struct({
          domains: Schema.Int.annotate({ description: "own domains, and those that are being bought" }),
          emails_today: Schema.Int
        }),
        day_ends_at: Schema.DateTimeUtcFromString.annotate({
          description: "when `emails_today` begins at 0 again: midnight UTC"
        })
      })
    })
      .middleware(KnownParameters)
      .middleware(Authorization)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get the workspace of the key",
          description: "Who the key belongs to, the limits of its workspace, and what is used of them."
        })
      ),
    HttpApiEndpoint.post("rotateKey", "/api/workspaces/rotate-key", {
      success: Schema.Struct({ api_key: Secret("the new key") })
    })
      .middleware(KnownParameters)
      .middleware(Authorization)
      .annotateMerge(
        OpenApi.annotations({ summary: "Replace the API key", description: "The old key stops working at once." })
      ),
    HttpApiEndpoint.post("rotateSecret", "/api/workspaces/rotate-secret", {
      success: Schema.Struct({ webhook_signing_secret: Secret("the new secret") })
    })
      .middleware(KnownParameters)
      .middleware(Authorization)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Replace the signing secret",
          description:
            "X-Service-Signature is made with the new secret from now on. For 24 hours requests also carry X-Service-Signature-Previous, made with the old one, and the Standard Webhooks header carries both."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ title: "Workspaces", description: "Tenants, their keys and their secrets" })) {}
