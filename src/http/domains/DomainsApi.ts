import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Failing, Health } from "../../delivery/WebhookHealth.ts"
import { WebhookTestResult } from "../../delivery/WebhookTrial.ts"
import { DnsState, MxRecords } from "../../domains/DnsRecords.ts"
import { mostHosts } from "../../health/DnsLook.ts"
import { DomainHealth } from "../../health/HealthCheck.ts"
import { Conflict, Invalid, NotFound, TooManyRequests } from "../../model/ApiError.ts"
import { Domain, DomainId, DomainName, DomainStatus } from "../../model/Domain.ts"
import { RefusalReason } from "../../model/Refusal.ts"
import { SpamAction } from "../../model/Spam.ts"
import { mostRowsOfDay } from "../../refusals/RefusalRows.ts"
import { Refusal } from "../../refusals/Refusals.ts"
import { DayStatistics, keptDays } from "../../statistics/DomainStatistics.ts"
import * as AddressQuery from "../requests/AddressQuery.ts"
import { Authorization } from "../requests/Authorization.ts"
import * as Idempotency from "../requests/Idempotency.ts"
import { KnownParameters } from "../requests/KnownParameters.ts"
import * as LimitedKeys from "../requests/LimitedKeys.ts"
import * as PageQuery from "../requests/PageQuery.ts"
import * as ReadKeys from "../requests/ReadKeys.ts"
import * as TimeQuery from "../requests/TimeQuery.ts"
import * as WireFields from "../requests/WireFields.ts"
import * as DomainPage from "./DomainPage.ts"

const one = { id: DomainId }

const DomainDetail = Schema.Struct({
  ...Domain.fields,
  webhook_failing: Schema.NullOr(Failing).annotate({
    description: "set while the last attempts of the webhook failed, also before it is paused"
  })
}).annotate({ identifier: "DomainDetail" })

const InstantInbox = <Existing extends boolean>(existing: Existing, status: number) =>
  Schema.Struct({
    address: Schema.String.annotate({ description: "inbox@<slug>.inbox.<platform domain>. Every local part works" }),
    domain_id: DomainId,
    domain: DomainName,
    existing: Schema.Literal(existing)
  }).pipe(HttpApiSchema.status(status))

export class DomainsApi extends HttpApiGroup.make("domains")
  .add(
    HttpApiEndpoint.post("instantInbox", "/api/instant-inbox", {
      headers: Idempotency.headers,
      success: [InstantInbox(false, 201), InstantInbox(true, 200)]
    })
      .middleware(Idempotency.Idempotency)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Create an instant inbox",
          description: "An instant inbox needs no DNS. 201 for a new inbox, 200 if the workspace already has one."
        })
      ),
    HttpApiEndpoint.post("create", "/api/domains", {
      payload: Schema.Struct({
        domain: Schema.String.annotate({
          description: "a domain whose DNS records you can publish, such as example.com"
        })
      }),
      headers: Idempotency.headers,
      success: Domain.pipe(HttpApiSchema.status(201)),
      error: [Invalid.http, Conflict.http]
    })
      .middleware(Idempotency.Idempotency)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Add your own domain",
          description:
            "Publish the TXT record from the answer, then call verify. A domain that the workspace has bought and deleted comes back as `purchased` until the end of its term: its records are published and verified for you. 409 for a domain that the workspace has, while a paid order of the workspace for the name is in progress, and beyond the domains of a workspace."
        })
      ),
    HttpApiEndpoint.get("list", "/api/domains", {
      query: DomainPage.query,
      success: DomainPage.answer,
      error: Invalid.http
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(LimitedKeys.filtered)
      .annotateMerge(OpenApi.annotations({ summary: "List the domains of the workspace, newest first" })),
    HttpApiEndpoint.get("get", "/api/domains/:id", {
      params: one,
      success: DomainDetail,
      error: NotFound.http
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(LimitedKeys.filtered)
      .annotateMerge(OpenApi.annotations({ summary: "Get one domain" })),
    HttpApiEndpoint.patch("update", "/api/domains/:id", {
      params: one,
      payload: Schema.Struct({
        spam: SpamAction.annotate({
          message: "Expected tag or hold",
          description: "`tag` delivers spam and viruses with their verdict, `hold` waits for `…/release`"
        })
      }),
      success: Domain,
      error: NotFound.http
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Set what becomes of spam and viruses",
        description:
          "Counts for mail that comes from now on, at a busy domain within a second. Nothing is held unless the operator has set up a mail scanner. Mail that the scanner could not scan is never held."
      })
    ),
    HttpApiEndpoint.delete("remove", "/api/domains/:id", {
      params: one,
      success: HttpApiSchema.NoContent,
      error: NotFound.http
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Remove a domain, and erase its mail",
        description:
          "Inlet refuses its mail from then on, and deletes its messages, events and attempts. A purchased domain stays registered: POST /api/domains attaches it again until the end of its term."
      })
    ),
    HttpApiEndpoint.post("verify", "/api/domains/:id/verify", {
      params: one,
      success: Domain,
      error: [NotFound.http, Conflict.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Verify a domain",
        description:
          "Looks up the TXT record. 200 with status mx_pending if it matches, 409 if it is missing or differs. A domain beyond this step answers 200 with its current status."
      })
    ),
    HttpApiEndpoint.get("mx", "/api/domains/:id/mx", {
      params: one,
      success: MxRecords,
      error: NotFound.http
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(LimitedKeys.open)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get the MX record to publish",
          description: "`observed` has the current MX records, and `configured` whether they include Inlet's mail host."
        })
      ),
    HttpApiEndpoint.get("dns", "/api/domains/:id/dns", {
      params: one,
      success: DnsState,
      error: NotFound.http
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(LimitedKeys.open)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Compare the records to publish with DNS",
          description: "Asks DNS for the TXT record of an own domain and for the MX records."
        })
      ),
    HttpApiEndpoint.get("health", "/api/domains/:id/health", {
      params: one,
      success: DomainHealth,
      error: NotFound.http
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(LimitedKeys.filtered)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Check whether mail arrives and is delivered",
          description: `Looks at the state of the domain, its DNS records, the mail server of this service, the webhook, the quota and today's refusals. Each check has a sentence, and a remedy if something is wrong. Asks DNS for the first ${mostHosts} MX hosts. Connects to no mail server but its own. Answers of DNS and of the mail server are a few seconds old.`
        })
      ),
    HttpApiEndpoint.get("stats", "/api/domains/:id/stats", {
      params: one,
      query: {
        days: Schema.optionalKey(PageQuery.between(1, keptDays, "number of days up to today, 30 by default"))
      },
      success: Schema.Struct({ days: Schema.Array(DayStatistics) }),
      error: [Invalid.http, NotFound.http]
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get daily figures",
          description: `Mail and deliveries by UTC day, oldest first, counted once a minute and kept for ${keptDays} days. Days before the domain was added are left out. An attempt counts once its request can no longer be running.`
        })
      ),
    HttpApiEndpoint.get("refusals", "/api/domains/:id/refusals", {
      params: one,
      query: {
        limit: PageQuery.Limit,
        cursor: PageQuery.Cursor,
        reason: Schema.optionalKey(
          RefusalReason.annotate({
            description: "refused for this reason",
            message: `Expected one of ${RefusalReason.literals.join(", ")}`
          })
        ),
        from: Schema.optionalKey(AddressQuery.Address),
        recipient: Schema.optionalKey(AddressQuery.Recipient),
        since: TimeQuery.time("last refused at this time or later"),
        until: TimeQuery.time("first refused at this time or earlier")
      },
      success: Schema.Struct({ refusals: Schema.Array(Refusal), next_cursor: PageQuery.NextCursor }),
      error: [Invalid.http, NotFound.http]
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(LimitedKeys.filtered)
      .annotateMerge(
        OpenApi.annotations({
          summary: "List refused mail, newest first",
          description: `Each recipient or message that Inlet refused with 4xx or 5xx, with its reason and what to do, a few seconds after it. Equal ones within an hour are one entry with a count. Beyond ${mostRowsOfDay.toLocaleString("en")} entries on a UTC day, Inlet keeps one count for each hour and reason. Mail that the sender never sent here is not listed.`
        })
      ),
    HttpApiEndpoint.get("webhookHealth", "/api/domains/:id/webhook/health", {
      params: one,
      success: Health,
      error: NotFound.http
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(OpenApi.annotations({ summary: "Get the health of the webhook" })),
    HttpApiEndpoint.post("webhookTest", "/api/domains/:id/webhook/test", {
      params: one,
      success: WebhookTestResult,
      error: [NotFound.http, Conflict.http, TooManyRequests.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Send a test to the webhook",
        description:
          "Posts a signed sample event at once and returns the answer. Nothing is stored or retried. 409 without a webhook. Counts as a webhook change: 429 beyond 10 a minute or 100 a day."
      })
    ),
    HttpApiEndpoint.patch("delivery", "/api/domains/:id/delivery", {
      params: one,
      payload: Schema.Struct({
        webhookUrl: Schema.optionalKey(
          Schema.NullOr(Schema.String).annotate({ description: `${WireFields.urlDescription}. Or null` })
        ),
        pull: Schema.optionalKey(
          Schema.Boolean.annotate({
            description: "`true` makes mail wait for `…/deliveries/lease`, `false` holds it"
          })
        ),
        ...WireFields.fields
      }).check(
        Schema.makeFilter(({ pull, webhookUrl }) =>
          (pull === undefined) === (webhookUrl === undefined)
            ? { path: ["webhookUrl"], issue: "Expected either webhookUrl or pull, not both and not neither" }
            : undefined
        ),
        WireFields.areBesideUrl
      ),
      success: Schema.Struct({
        id: DomainId,
        domain: DomainName,
        status: DomainStatus,
        webhookUrl: Schema.NullOr(Schema.String),
        pull: Schema.Boolean,
        format: Schema.String,
        basicAuth: Schema.Boolean,
        signingKey: WireFields.madeKey
      }),
      error: [Invalid.http, NotFound.http, Conflict.http, TooManyRequests.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Set the webhook or pull delivery",
        description:
          '409 before the domain is verified. In production the URL must be https. null removes the webhook, and Inlet holds mail until a replay. Inlet holds the first 512 deliveries at once and the rest usually within a minute. It posts none of them meanwhile. If you set a URL before they are held, they go there. A new URL, or setting a paused URL again, makes waiting mail due at once. Beyond 512 deliveries the rest follows in steps while the webhook answers. A new format or other credentials count as a new URL. Setting the current ones of an active webhook changes nothing. A URL without user name and password forgets those before it. To resume a paused webhook with its credentials, use `PATCH /api/domains/{id}/webhooks/{webhookId} {"action": "webhook"}`, for the catch-all with the domain\'s id. `pull` requires that no webhook is set (409 otherwise), and makes mail wait for a lease. `false` holds mail. Setting a webhook ends `pull` and sends waiting mail there. 429 beyond 10 changes a minute or 100 a day.'
      })
    )
  )
  .middleware(KnownParameters)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Domains", description: "The domains of a workspace" })) {}
