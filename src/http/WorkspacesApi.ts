import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { TooManyRequests } from "../model/ApiError.ts"
import { WorkspaceId, WorkspaceName } from "../model/Workspace.ts"
import { Authorization } from "./Authorization.ts"

const Secret = (what: string) => Schema.String.annotate({ description: `${what}; shown this once` })

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
    }).annotateMerge(
      OpenApi.annotations({ summary: "Create a workspace", description: "Needs no key: it gives you one." })
    ),
    HttpApiEndpoint.post("rotateKey", "/api/workspaces/rotate-key", {
      success: Schema.Struct({ api_key: Secret("the new key") })
    })
      .middleware(Authorization)
      .annotateMerge(
        OpenApi.annotations({ summary: "Replace the API key", description: "The old key stops working at once." })
      ),
    HttpApiEndpoint.post("rotateSecret", "/api/workspaces/rotate-secret", {
      success: Schema.Struct({ webhook_signing_secret: Secret("the new secret") })
    })
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
