import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Conflict, Forbidden, Invalid, NotFound, TooManyRequests } from "../../model/ApiError.ts"
import { DomainId } from "../../model/Domain.ts"
import { Pattern } from "../../model/Webhook.ts"
import { isVisible, WorkspaceId, WorkspaceName } from "../../model/Workspace.ts"
import { KeyId, KeyName, KeyScope, WorkspaceKey } from "../../model/WorkspaceKey.ts"
import { Authorization } from "../requests/Authorization.ts"
import { KnownParameters } from "../requests/KnownParameters.ts"
import * as LimitedKeys from "../requests/LimitedKeys.ts"
import * as ReadKeys from "../requests/ReadKeys.ts"
import { Secret } from "../requests/Secret.ts"

const mostOf = (what: string) => Schema.NullOr(Schema.Int).annotate({ description: `${what}, or null for no limit` })

const OpsWebhookUrl = Schema.NullOr(Schema.String).annotate({
  description: "receives operational events. Read keys see only the host"
})

export class WorkspacesApi extends HttpApiGroup.make("workspaces")
  .add(
    HttpApiEndpoint.post("create", "/api/workspaces", {
      payload: Schema.Struct({
        name: Schema.String.annotate({ description: "1 to 100 characters, visible only to you" }).pipe(
          Schema.decodeTo(WorkspaceName.check(isVisible))
        )
      }),
      success: Schema.Struct({
        workspace_id: WorkspaceId,
        api_key: Secret("begins with ak_live_"),
        webhook_signing_secret: Secret(
          "begins with whsec_; signs every webhook of the workspace that has no secret of its own"
        )
      }).pipe(HttpApiSchema.status(201)),
      error: [Forbidden.http, TooManyRequests.http]
    })
      .middleware(KnownParameters)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Create a workspace",
          description:
            "Requires no key and returns one. With `WORKSPACE_CREATION=admin` it requires the operator's token, else 403."
        })
      ),
    HttpApiEndpoint.get("get", "/api/workspace", {
      success: Schema.Struct({
        workspace_id: WorkspaceId,
        name: WorkspaceName,
        opsWebhookUrl: OpsWebhookUrl,
        created_at: Schema.DateTimeUtcFromString,
        key_scope: Schema.Literals(["full", "read"]).annotate({
          description: "the scope of the key: everything, or reading mail"
        }),
        key_limit: Schema.NullOr(
          Schema.Struct({ pattern: Schema.String, domain_id: Schema.NullOr(DomainId) })
        ).annotate({ description: "the mail that the key sees, or null for all of the workspace" }),
        limits: Schema.Struct({
          domains: mostOf("own domains, the instant inbox not counted"),
          emails_per_day: mostOf("messages accepted in a UTC day; the next is refused for the day with 452"),
          message_bytes: Schema.Int.annotate({ description: "maximum size of a message" }),
          retention_days: mostOf("days that messages, events and attempts are kept"),
          waits_and_streams: mostOf("open at the same time"),
          requests_at_once: mostOf("other requests under way at the same time"),
          requests_per_second: mostOf("requests in a second over time; a burst may be larger")
        }),
        used: Schema.optionalKey(
          Schema.Struct({
            domains: Schema.Int.annotate({ description: "domains, open purchases included" }),
            emails_today: Schema.Int.annotate({
              description: "messages of the day. Without a daily limit their events, counted once a minute"
            })
          })
        ).annotate({ description: "absent for a key with a limit" }),
        day_ends_at: Schema.DateTimeUtcFromString.annotate({
          description: "when `emails_today` restarts at 0: midnight UTC"
        })
      })
    })
      .middleware(KnownParameters)
      .middleware(Authorization)
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(LimitedKeys.filtered)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get the workspace of the key",
          description: "Returns the workspace of the key, its limits and its usage."
        })
      ),
    HttpApiEndpoint.patch("update", "/api/workspace", {
      payload: Schema.Struct({
        opsWebhookUrl: Schema.NullOr(Schema.String).annotate({
          description: "URL for operational events, https in production. Null removes it"
        })
      }),
      success: Schema.Struct({ workspace_id: WorkspaceId, opsWebhookUrl: OpsWebhookUrl }),
      error: [Invalid.http, TooManyRequests.http]
    })
      .middleware(KnownParameters)
      .middleware(Authorization)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Set the operational webhook",
          description:
            "Inlet posts operational events to it, signed like every other webhook, and retries them. Waiting events go to a new URL at once. Events from before are not sent. It counts as a webhook change."
        })
      ),
    HttpApiEndpoint.post("rotateKey", "/api/workspaces/rotate-key", {
      success: Schema.Struct({ api_key: Secret("the new key") })
    })
      .middleware(KnownParameters)
      .middleware(Authorization)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Replace the API key",
          description: "The old key stops working at once. Additional keys keep working."
        })
      ),
    HttpApiEndpoint.post("createKey", "/api/workspaces/keys", {
      payload: Schema.Struct({
        scope: KeyScope.annotate({
          description: "`read` reads mail and changes nothing, `ingest` hands mail over and does nothing else",
          message: 'Expected "read", a key that reads mail and changes nothing, or "ingest", one that hands mail over'
        }),
        name: Schema.optionalKey(
          Schema.String.annotate({ description: "1 to 100 characters, visible only to you" }).pipe(
            Schema.decodeTo(KeyName.check(isVisible))
          )
        ),
        pattern: Schema.optionalKey(
          Schema.NullOr(Pattern).annotate({
            description:
              "limits a read key to mail whose local part matches: a name (`agent-7`, which also takes `agent-7+tag`) or a glob (`agent-*`)"
          })
        ),
        domain_id: Schema.optionalKey(
          Schema.NullOr(DomainId).annotate({ description: "limits the key to mail of this domain" })
        )
      }),
      success: Schema.Struct({
        ...WorkspaceKey.fields,
        api_key: Secret("the key, which begins with ak_read_ or ak_ingest_")
      }).pipe(HttpApiSchema.status(201)),
      error: [Invalid.http, Conflict.http, NotFound.http]
    })
      .middleware(KnownParameters)
      .middleware(Authorization)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Create a read key or an ingest key",
          description:
            "With the scope `read` the key is for agents that only read mail. The key lists, waits for, streams and downloads the workspace's mail. It sees only the host of webhook URLs. All other routes answer 403. With `pattern` or `domain_id` it sees, waits for and leases only that mail, and routes about other mail answer 403. With the scope `ingest` the key is for a relay: it calls POST /api/domains/{id}/ingest and nothing else, and `domain_id` limits it to one domain. A workspace has up to 20 additional keys, then 409."
        })
      ),
    HttpApiEndpoint.get("listKeys", "/api/workspaces/keys", {
      success: Schema.Struct({ keys: Schema.Array(WorkspaceKey) })
    })
      .middleware(KnownParameters)
      .middleware(Authorization)
      .annotateMerge(
        OpenApi.annotations({
          summary: "List additional keys, newest first",
          description: "Does not return the keys themselves."
        })
      ),
    HttpApiEndpoint.delete("revokeKey", "/api/workspaces/keys/:keyId", {
      params: { keyId: KeyId },
      success: HttpApiSchema.NoContent,
      error: NotFound.http
    })
      .middleware(KnownParameters)
      .middleware(Authorization)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Revoke a key",
          description: "It stops working at once, also in open waits and streams."
        })
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
            "Inlet signs X-Service-Signature with the new secret from now on. For 24 hours requests also carry X-Service-Signature-Previous with the old secret, and the Standard Webhooks header carries both."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ title: "Workspaces", description: "Tenants, their keys and their secrets" })) {}
