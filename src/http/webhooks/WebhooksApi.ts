import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Health } from "../../delivery/WebhookHealth.ts"
import { WebhookTestResult } from "../../delivery/WebhookTrial.ts"
import { Conflict, Invalid, NotFound, TooManyRequests } from "../../model/ApiError.ts"
import { DomainId } from "../../model/Domain.ts"
import {
  mostWebhooks,
  Pattern,
  patternMeaning,
  Webhook,
  WebhookAction,
  WebhookId,
  WebhookKinds
} from "../../model/Webhook.ts"
import * as AddressQuery from "../requests/AddressQuery.ts"
import { Authorization } from "../requests/Authorization.ts"
import { KnownParameters } from "../requests/KnownParameters.ts"
import * as LimitedKeys from "../requests/LimitedKeys.ts"
import { Note } from "../requests/Note.ts"
import * as ReadKeys from "../requests/ReadKeys.ts"
import { Secret } from "../requests/Secret.ts"
import * as WireFields from "../requests/WireFields.ts"

const domain = { id: DomainId }
const one = { id: DomainId, webhookId: WebhookId }

const url = Schema.optionalKey(
  Schema.NullOr(Schema.String).annotate({ description: `${WireFields.urlDescription}. For the action \`webhook\`` })
)
const secret = Schema.optionalKey(
  Schema.Literals(["own", "workspace"]).annotate({
    description:
      "`own` makes a secret for this webhook, which the answer shows once. `workspace`, the default, signs with the secret of the workspace"
  })
)
const action = Schema.optionalKey(
  WebhookAction.annotate({
    description: "`webhook`, `pull`, `hold` or `reject`. By default `webhook` with a `webhookUrl`, and `hold` without"
  })
)

const pattern = Schema.String.annotate({ description: patternMeaning }).pipe(Schema.decodeTo(Pattern))

const kinds = Schema.optionalKey(WebhookKinds)

/** The change of an action and a URL that contradict each other. */
const isConsistent = Schema.makeFilter(
  ({ action, webhookUrl }: { readonly action?: WebhookAction; readonly webhookUrl?: string | null }) => {
    if (typeof webhookUrl === "string" && action !== undefined && action !== "webhook") {
      return { path: ["webhookUrl"], issue: `Expected none beside the action ${action}` }
    }
    if (webhookUrl === null && action === "webhook") {
      return { path: ["webhookUrl"], issue: "Expected a URL for the action webhook" }
    }
    return undefined
  }
)

const Changed = Schema.Struct({
  webhook: Webhook,
  webhook_signing_secret: Schema.optionalKey(Secret("of this webhook, where it was just made")),
  signingKey: WireFields.madeKey
})

const Match = Schema.Struct({
  recipient: Schema.String,
  webhook: Webhook.annotate({ description: "the webhook that takes the recipient" }),
  others: Schema.Array(
    Schema.Struct({ webhook_id: WebhookId, pattern: Schema.String, reason: Schema.String })
  ).annotate({ description: "the other webhooks of the domain, with why they do not take it" })
})

export class WebhooksApi extends HttpApiGroup.make("webhooks")
  .add(
    HttpApiEndpoint.get("list", "/api/domains/:id/webhooks", {
      params: domain,
      success: Schema.Struct({ webhooks: Schema.Array(Webhook) }),
      error: NotFound.http
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(LimitedKeys.filtered)
      .annotateMerge(
        OpenApi.annotations({
          summary: "List the webhooks of a domain",
          description: "In the order in which they count: most literal characters first, the catch-all `*` last."
        })
      ),
    HttpApiEndpoint.post("create", "/api/domains/:id/webhooks", {
      params: domain,
      payload: Schema.Struct({
        pattern,
        action,
        webhookUrl: url,
        ...WireFields.fields,
        description: Note,
        kinds,
        secret
      }).check(isConsistent, WireFields.areBesideUrl),
      success: Changed.pipe(HttpApiSchema.status(201)),
      error: [Invalid.http, NotFound.http, Conflict.http, TooManyRequests.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Create a webhook",
        description: `Takes the mail whose local part matches \`pattern\`. One event goes to one webhook: to the exact name first, then to the pattern with the most literal characters, then to the catch-all. A name also takes addresses with a tag. 409 if an address could match this and another pattern equally well, before the domain is verified, and beyond ${mostWebhooks} webhooks. 429 beyond 10 changes a minute or 100 a day.`
      })
    ),
    HttpApiEndpoint.get("match", "/api/domains/:id/webhooks/match", {
      params: domain,
      query: { recipient: AddressQuery.Address },
      success: Match,
      error: [Invalid.http, NotFound.http]
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(LimitedKeys.filtered)
      .annotateMerge(OpenApi.annotations({ summary: "Find the webhook of an address, and why others do not take it" })),
    HttpApiEndpoint.get("get", "/api/domains/:id/webhooks/:webhookId", {
      params: one,
      success: Webhook,
      error: NotFound.http
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(LimitedKeys.filtered)
      .annotateMerge(OpenApi.annotations({ summary: "Get a webhook" })),
    HttpApiEndpoint.patch("update", "/api/domains/:id/webhooks/:webhookId", {
      params: one,
      payload: Schema.Struct({
        pattern: Schema.optionalKey(pattern),
        action,
        webhookUrl: url,
        ...WireFields.fields,
        description: Note,
        kinds,
        secret
      }).check(isConsistent, WireFields.areBesideUrl),
      success: Changed,
      error: [Invalid.http, NotFound.http, Conflict.http, TooManyRequests.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Change a webhook",
        description:
          "Changes what is given. A URL without user name and password forgets those before it. Undelivered mail of this webhook stays with it: it is due at a new URL or in a new format, waits for a lease (`pull`), or is held (`hold`, `reject`). Inlet holds the first 512 deliveries at once and the rest usually within a minute. It posts none of them meanwhile. A new pattern counts for mail from now on. 409 for another pattern of the catch-all. 429 beyond 10 changes a minute or 100 a day."
      })
    ),
    HttpApiEndpoint.delete("remove", "/api/domains/:id/webhooks/:webhookId", {
      params: one,
      success: HttpApiSchema.NoContent,
      error: [NotFound.http, Conflict.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Remove a webhook",
        description:
          "Its undelivered mail is held. Inlet holds the first 512 deliveries at once and the rest usually within a minute. It posts none of them meanwhile. A replay sends it to the catch-all, or to the webhook named in `?webhook=`. 409 for the catch-all, and while a replay job sends mail to it."
      })
    ),
    HttpApiEndpoint.get("health", "/api/domains/:id/webhooks/:webhookId/health", {
      params: one,
      success: Health,
      error: NotFound.http
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get the health of a webhook",
          description:
            "Figures of its attempts in 24 hours, among the last 1,000 of the domain, and the number of its deliveries by status."
        })
      ),
    HttpApiEndpoint.post("rotateSecret", "/api/domains/:id/webhooks/:webhookId/rotate-secret", {
      params: one,
      success: Schema.Struct({ webhook_signing_secret: Secret("the new secret of this webhook") }),
      error: [NotFound.http, Conflict.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Replace the secret of a webhook",
        description:
          "The old secret also signs for 24 hours. 409 for a webhook that signs with the secret of the workspace."
      })
    ),
    HttpApiEndpoint.post("test", "/api/domains/:id/webhooks/:webhookId/test", {
      params: one,
      success: WebhookTestResult,
      error: [NotFound.http, Conflict.http, TooManyRequests.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Send a test to a webhook",
        description:
          "Posts a signed sample event at once and returns the answer. Nothing is stored or retried. 409 without a URL. Counts as a webhook change: 429 beyond 10 a minute or 100 a day."
      })
    )
  )
  .middleware(KnownParameters)
  .middleware(Authorization)
  .annotateMerge(
    OpenApi.annotations({
      title: "Webhooks",
      description: "Where the mail of a domain goes, by the part of the address before the @"
    })
  ) {}
