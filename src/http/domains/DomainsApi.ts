import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { MxRecords } from "../../domains/DnsRecords.ts"
import { Conflict, Invalid, NotFound, TooManyRequests } from "../../model/ApiError.ts"
import { Domain, DomainId, DomainName, DomainStatus } from "../../model/Domain.ts"
import { Authorization } from "../requests/Authorization.ts"
import * as Idempotency from "../requests/Idempotency.ts"
import { KnownParameters } from "../requests/KnownParameters.ts"
import * as ReadKeys from "../requests/ReadKeys.ts"

const one = { id: DomainId }

const InstantInbox = <Existing extends boolean>(existing: Existing, status: number) =>
  Schema.Struct({
    address: Schema.String.annotate({ description: "inbox@<slug>.inbox.<platform domain>; every local part works" }),
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
          summary: "Get an inbox that needs no DNS",
          description: "201 for a new inbox, 200 for the one the workspace already has."
        })
      ),
    HttpApiEndpoint.post("create", "/api/domains", {
      payload: Schema.Struct({
        domain: Schema.String.annotate({ description: "a name you can publish DNS records for, such as example.com" })
      }),
      headers: Idempotency.headers,
      success: Domain.pipe(HttpApiSchema.status(201)),
      error: [Invalid.http, Conflict.http]
    })
      .middleware(Idempotency.Idempotency)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Register a domain of your own",
          description: "Publish the TXT record of the answer, then call verify."
        })
      ),
    HttpApiEndpoint.get("list", "/api/domains", {
      success: Schema.Struct({ domains: Schema.Array(Domain) })
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(OpenApi.annotations({ summary: "List the domains of the workspace, newest first" })),
    HttpApiEndpoint.get("get", "/api/domains/:id", {
      params: one,
      success: Domain,
      error: NotFound.http
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(OpenApi.annotations({ summary: "Get one domain" })),
    HttpApiEndpoint.delete("remove", "/api/domains/:id", {
      params: one,
      success: HttpApiSchema.NoContent,
      error: NotFound.http
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Detach a domain",
        description: "Its mail is refused from then on. Its messages, events and attempts go with it."
      })
    ),
    HttpApiEndpoint.post("verify", "/api/domains/:id/verify", {
      params: one,
      success: Domain,
      error: [NotFound.http, Conflict.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Verify ownership",
        description:
          "Looks for the TXT record. 200 with status mx_pending when it is found, 409 when it is missing or says something else. A domain that is past this answers 200 with its present status."
      })
    ),
    HttpApiEndpoint.get("mx", "/api/domains/:id/mx", {
      params: one,
      success: MxRecords,
      error: NotFound.http
    })
      .annotateMerge(ReadKeys.allowed)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get the MX record to publish",
          description: "`observed` is what DNS says now, `configured` whether that includes our mail host."
        })
      ),
    HttpApiEndpoint.patch("delivery", "/api/domains/:id/delivery", {
      params: one,
      payload: Schema.Struct({
        webhookUrl: Schema.optionalKey(
          Schema.NullOr(Schema.String).annotate({ description: "an absolute http or https URL, or null" })
        ),
        pull: Schema.optionalKey(
          Schema.Boolean.annotate({
            description: "`true`: mail waits to be asked for at `…/deliveries/lease`; `false`: it is held"
          })
        )
      }).check(
        Schema.makeFilter(({ pull, webhookUrl }) =>
          (pull === undefined) === (webhookUrl === undefined)
            ? { path: ["webhookUrl"], issue: "Expected it, or pull, and not both" }
            : undefined
        )
      ),
      success: Schema.Struct({
        id: DomainId,
        domain: DomainName,
        status: DomainStatus,
        webhookUrl: Schema.NullOr(Schema.String),
        pull: Schema.Boolean
      }),
      error: [Invalid.http, NotFound.http, Conflict.http, TooManyRequests.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Set the webhook, or have mail asked for",
        description:
          "409 while the domain is not verified. In production the URL must be https. null clears it: mail is then held until it is replayed. Mail that waits for a new URL, or for a paused one that is set again, is due at once; the present URL of a webhook that is not paused changes nothing. With `pull`, where no webhook is set (409 otherwise), mail waits to be asked for; `false` holds it, and a webhook ends it: what waits then goes there. 429 beyond 10 changes a minute or 100 a day."
      })
    )
  )
  .middleware(KnownParameters)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Domains", description: "The names a workspace receives mail at" })) {}
