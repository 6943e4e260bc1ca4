import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Forbidden, Invalid, NotFound, TooManyRequests, Unauthorized, Unavailable } from "../../model/ApiError.ts"
import { ConsoleSession, SessionId } from "../../model/ConsoleSession.ts"
import { WorkspaceId, WorkspaceName } from "../../model/Workspace.ts"
import { Authorization } from "../requests/Authorization.ts"
import { KnownParameters } from "../requests/KnownParameters.ts"

/** The state of the page for a caller with or without a session. */
const State = Schema.Struct({
  workspace: Schema.NullOr(
    Schema.Struct({
      workspace_id: WorkspaceId,
      name: WorkspaceName,
      scope: Schema.Literals(["full", "read"])
    })
  ).annotate({ description: "the workspace of the cookie `inlet_console`, or null" }),
  operator: Schema.Boolean.annotate({ description: "true with the cookie `inlet_operator`" }),
  workspace_creation: Schema.Literals(["open", "admin"]),
  production: Schema.Boolean,
  public_url: Schema.String,
  smtp: Schema.NullOr(Schema.String).annotate({
    description: "host and port for mail from this machine. Null if senders find it by MX"
  }),
  version: Schema.String
})

export class ConsoleApi extends HttpApiGroup.make("console")
  .add(
    HttpApiEndpoint.get("sessions", "/api/console/sessions", {
      success: Schema.Struct({ sessions: Schema.Array(ConsoleSession) })
    }).annotateMerge(OpenApi.annotations({ summary: "List the console sessions of the workspace, newest first" })),
    HttpApiEndpoint.delete("revoke", "/api/console/sessions/:sessionId", {
      params: { sessionId: SessionId },
      success: HttpApiSchema.NoContent,
      error: NotFound.http
    }).annotateMerge(
      OpenApi.annotations({ summary: "Revoke a console session", description: "It ends at once, also its streams." })
    ),
    HttpApiEndpoint.post("link", "/api/console/links", {
      success: Schema.Struct({
        url: Schema.String.annotate({ description: "opens the console once, within a minute" }),
        expires_at: Schema.DateTimeUtcFromString
      }).pipe(HttpApiSchema.status(201))
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Create a link that signs in to the console",
        description: "The token is in the fragment of the URL, which browsers do not send."
      })
    )
  )
  .middleware(KnownParameters)
  .middleware(Authorization)
  .add(
    HttpApiEndpoint.get("state", "/api/console/state", { success: State, error: Unavailable.http })
      .middleware(KnownParameters)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get the state of the console",
          description: "Requires no key. Says which cookies of the console the request has."
        })
      ),
    HttpApiEndpoint.post("signIn", "/api/console/session", {
      payload: Schema.Struct({
        key: Schema.optionalKey(Schema.String.annotate({ description: "an API key, or the operator's token" })),
        link: Schema.optionalKey(Schema.String.annotate({ description: "the token of a link" }))
      }).check(
        Schema.makeFilter(({ key, link }) =>
          (key === undefined) === (link === undefined)
            ? { path: ["key"], issue: "Expected it, or link, and not both" }
            : undefined
        )
      ),
      success: Schema.Struct({ operator: Schema.Boolean }).pipe(HttpApiSchema.status(201)),
      error: [Invalid.http, Unauthorized.http, Forbidden.http, TooManyRequests.http, Unavailable.http]
    })
      .middleware(KnownParameters)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Sign in to the console",
          description:
            "Sets the cookie `inlet_console`, or `inlet_operator` for the operator's token: HttpOnly, SameSite=Strict, Secure with https, ended after 12 hours without a request. Only the page at `/console` may call it."
        })
      ),
    HttpApiEndpoint.delete("signOut", "/api/console/session", {
      success: HttpApiSchema.NoContent,
      error: [Forbidden.http, Unavailable.http]
    })
      .middleware(KnownParameters)
      .annotateMerge(
        OpenApi.annotations({ summary: "Sign out of the console", description: "Ends the sessions of both cookies." })
      )
  )
  .annotateMerge(OpenApi.annotations({ title: "Console", description: "Sessions of the page at `/console`" })) {}
