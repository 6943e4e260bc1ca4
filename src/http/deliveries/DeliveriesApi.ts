import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { SignedRequest } from "../../delivery/RequestSigner.ts"
import { Conflict, Invalid, NotFound, TooManyRequests, Unavailable } from "../../model/ApiError.ts"
import { Delivery } from "../../model/Delivery.ts"
import { DomainId } from "../../model/Domain.ts"
import { EventId } from "../../model/InboundEvent.ts"
import { WebhookId } from "../../model/Webhook.ts"
import { Authorization } from "../requests/Authorization.ts"
import { KnownParameters } from "../requests/KnownParameters.ts"
import * as LimitedKeys from "../requests/LimitedKeys.ts"

/** Maximum deliveries per request, equal to a webhook's maximum concurrency. */
export const mostAtOnce = 16

const longestWait = 60
const longestDurationMs = 24 * 60 * 60 * 1_000
const errorCharacters = 1_000

const whole = (least: number, most: number) =>
  Schema.Int.check(
    Schema.isBetween({ minimum: least, maximum: most }, { message: `Expected a whole number from ${least} to ${most}` })
  ).annotate({ message: `Expected a whole number from ${least} to ${most}` })

const Attempt = whole(1, 2 ** 31 - 1).annotate({ description: "id of the lease" })

const LeasedDelivery = Schema.Struct({
  event_id: EventId,
  attempt: Schema.Int.annotate({ description: "number of this attempt. Report it with the outcome" }),
  ...SignedRequest.fields,
  leased_until: Schema.DateTimeUtcFromString.annotate({
    description: "end of the lease. Until then no other client gets the delivery, and Inlet accepts the outcome"
  })
}).annotate({ identifier: "LeasedDelivery" })

const either = "Expected a statusCode, or an error where there was no answer"

const Outcome = Schema.Struct({
  event_id: EventId.annotate({ description: "the event of the leased delivery" }),
  attempt: Attempt,
  statusCode: Schema.optionalKey(
    Schema.NullOr(whole(100, 599)).annotate({ description: "the app's status code. Any 2xx counts as delivered" })
  ),
  error: Schema.optionalKey(
    Schema.NullOr(
      Schema.String.check(
        Schema.makeFilter((text: string) => text.length >= 1 && text.length <= errorCharacters, {
          message: `Expected 1 to ${errorCharacters} characters`
        })
      )
    ).annotate({ description: "why the app did not answer" })
  ),
  durationMs: whole(0, longestDurationMs).annotate({ description: "milliseconds from request to answer" }),
  responseBody: Schema.optionalKey(
    Schema.NullOr(Schema.String).annotate({ description: "the app's answer. Inlet stores the first KiB" })
  )
})
  .check(
    Schema.makeFilter(({ error = null, statusCode = null }) =>
      (error === null) === (statusCode === null) ? { path: ["statusCode"], issue: either } : undefined
    )
  )
  .annotate({ identifier: "Outcome" })
export type Outcome = typeof Outcome.Type

const bound = `Expected 1 to ${mostAtOnce} outcomes, at most one of an event`

const Settled = Schema.Struct({
  event_id: EventId,
  attempt: Schema.Int,
  status: Schema.Literals([200, 409]),
  delivery: Schema.NullOr(Delivery).annotate({ description: "the delivery after this outcome, or null with 409" }),
  error: Schema.NullOr(Schema.String).annotate({ description: "with 409, why Inlet ignored this outcome" })
}).annotate({ identifier: "Settled" })
export type Settled = typeof Settled.Type

export class DeliveriesApi extends HttpApiGroup.make("deliveries")
  .add(
    HttpApiEndpoint.post("lease", "/api/domains/:id/deliveries/lease", {
      params: { id: DomainId },
      payload: Schema.Struct({
        limit: Schema.optionalKey(
          whole(1, mostAtOnce).annotate({ description: `maximum number of deliveries, ${mostAtOnce} by default` })
        ),
        wait: Schema.optionalKey(
          whole(0, longestWait).annotate({
            description: "seconds to wait for a due delivery, 0 by default"
          })
        ),
        webhook_id: Schema.optionalKey(
          WebhookId.annotate({ description: "of this webhook only. By default of every webhook with the action pull" })
        )
      }),
      success: Schema.Struct({ deliveries: Schema.Array(LeasedDelivery) }),
      error: [Invalid.http, NotFound.http, Conflict.http, TooManyRequests.http, Unavailable.http]
    })
      .annotateMerge(LimitedKeys.filtered)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Lease deliveries",
          description:
            'For a domain with `{"pull": true}`, or with other webhooks whose action is `pull`: returns due deliveries, oldest first, each as its webhook request. Post `body` unchanged with `headers`, and report the outcome before `leased_until`. No other client gets the delivery until then. An expired lease counts as an attempt, and the delivery is leased again. A key with a pattern leases only its mail, among the 1,000 deliveries of each webhook that are due longest.'
        })
      ),
    HttpApiEndpoint.post("settle", "/api/domains/:id/deliveries/settle", {
      params: { id: DomainId },
      payload: Schema.Struct({
        outcomes: Schema.Array(Outcome)
          .annotate({ description: `1 to ${mostAtOnce} outcomes, at most one of an event` })
          .check(
            Schema.makeFilter(
              (outcomes: ReadonlyArray<Outcome>) =>
                outcomes.length >= 1 &&
                outcomes.length <= mostAtOnce &&
                new Set(outcomes.map(({ event_id }) => event_id.toLowerCase())).size === outcomes.length,
              { message: bound }
            )
          )
      }),
      success: Schema.Struct({ outcomes: Schema.Array(Settled) }),
      error: [Invalid.http, NotFound.http]
    })
      // A client may return a lease with an outcome added.
      .annotate(HttpApi.PayloadParseOptions, {})
      .annotateMerge(LimitedKeys.filtered)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Report the outcomes of deliveries",
          description:
            "Each outcome is listed as an attempt with the `url` `pull`. A 2xx counts as delivered, and the first one makes the domain `live`. Other outcomes are retried like webhooks, except 410. The last failure makes the delivery `dead`. Each outcome has its own `status` in the answer. 409 means that its lease has expired or never existed, and Inlet ignores it. A repeated outcome gets 200, and the first one counts. Unknown fields are ignored, so a lease may come back with an outcome added."
        })
      )
  )
  .middleware(KnownParameters)
  .middleware(Authorization)
  .annotateMerge(
    OpenApi.annotations({ title: "Deliveries", description: "Pull deliveries, for apps without a public address" })
  ) {}
