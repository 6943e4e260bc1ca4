import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { SignedRequest } from "../../delivery/RequestSigner.ts"
import { Conflict, Invalid, NotFound, TooManyRequests, Unavailable } from "../../model/ApiError.ts"
import { Delivery } from "../../model/Delivery.ts"
import { DomainId } from "../../model/Domain.ts"
import { EventId } from "../../model/InboundEvent.ts"
import { Authorization } from "../requests/Authorization.ts"
import { KnownParameters } from "../requests/KnownParameters.ts"

/** Most deliveries of one request: as many as a webhook is posted at a time. */
export const mostAtOnce = 16

const longestWait = 60
const longestDurationMs = 24 * 60 * 60 * 1_000
const errorCharacters = 1_000

const whole = (least: number, most: number) =>
  Schema.Int.check(
    Schema.isBetween({ minimum: least, maximum: most }, { message: `Expected a whole number from ${least} to ${most}` })
  ).annotate({ message: `Expected a whole number from ${least} to ${most}` })

const Attempt = whole(1, 2 ** 31 - 1).annotate({ description: "of the lease" })

const LeasedDelivery = Schema.Struct({
  event_id: EventId,
  attempt: Schema.Int.annotate({ description: "number of this attempt, to be given back with its outcome" }),
  ...SignedRequest.fields,
  leased_until: Schema.DateTimeUtcFromString.annotate({
    description: "until then nobody else gets it, and its outcome is taken"
  })
}).annotate({ identifier: "LeasedDelivery" })

const either = "Expected a statusCode, or an error where there was no answer"

const Outcome = Schema.Struct({
  event_id: EventId,
  attempt: Attempt,
  statusCode: Schema.optionalKey(
    Schema.NullOr(whole(100, 599)).annotate({ description: "what the app answered; any 2xx is a delivery" })
  ),
  error: Schema.optionalKey(
    Schema.NullOr(
      Schema.String.check(
        Schema.makeFilter((text: string) => text.length >= 1 && text.length <= errorCharacters, {
          message: `Expected 1 to ${errorCharacters} characters`
        })
      )
    ).annotate({ description: "why there was no answer" })
  ),
  durationMs: whole(0, longestDurationMs).annotate({ description: "from the request to its answer" }),
  responseBody: Schema.optionalKey(
    Schema.NullOr(Schema.String).annotate({ description: "what the app answered; its first KiB is kept" })
  )
})
  .check(
    Schema.makeFilter(({ error = null, statusCode = null }) =>
      (error === null) === (statusCode === null) ? { path: ["statusCode"], issue: either } : undefined
    )
  )
  .annotate({ identifier: "Outcome" })
export type Outcome = typeof Outcome.Type

const bound = `Expected 1 to ${mostAtOnce} outcomes, of an event one`

const Settled = Schema.Struct({
  event_id: EventId,
  attempt: Schema.Int,
  status: Schema.Literals([200, 409]),
  delivery: Schema.NullOr(Delivery).annotate({ description: "how it stands now; null with 409" }),
  error: Schema.NullOr(Schema.String).annotate({ description: "with 409: why this outcome was not taken" })
}).annotate({ identifier: "Settled" })
export type Settled = typeof Settled.Type

export class DeliveriesApi extends HttpApiGroup.make("deliveries")
  .add(
    HttpApiEndpoint.post("lease", "/api/domains/:id/deliveries/lease", {
      params: { id: DomainId },
      payload: Schema.Struct({
        limit: Schema.optionalKey(
          whole(1, mostAtOnce).annotate({ description: `most deliveries; ${mostAtOnce} when absent` })
        ),
        wait: Schema.optionalKey(
          whole(0, longestWait).annotate({
            description: "seconds to hold the answer while nothing is due; 0 when absent"
          })
        )
      }),
      success: Schema.Struct({ deliveries: Schema.Array(LeasedDelivery) }),
      error: [Invalid.http, NotFound.http, Conflict.http, TooManyRequests.http, Unavailable.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Take deliveries, to make them yourself",
        description:
          'For a domain with `{"pull": true}`: gives what is due, the oldest first, each as the request that a webhook would get. Post `body` as it is with `headers`, and settle what came back until `leased_until`; nobody else gets it before. What is not settled in time counts as an attempt and is given out again.'
      })
    ),
    HttpApiEndpoint.post("settle", "/api/domains/:id/deliveries/settle", {
      params: { id: DomainId },
      payload: Schema.Struct({
        outcomes: Schema.Array(Outcome).check(
          Schema.makeFilter(
            (outcomes: ReadonlyArray<Outcome>) =>
              outcomes.length >= 1 &&
              outcomes.length <= mostAtOnce &&
              new Set(outcomes.map(({ event_id }) => event_id)).size === outcomes.length,
            { message: bound }
          )
        )
      }),
      success: Schema.Struct({ outcomes: Schema.Array(Settled) }),
      error: [Invalid.http, NotFound.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Tell what became of deliveries",
        description:
          "Each is listed as an attempt with the `url` `pull`. A 2xx is a delivery, and the first one makes the domain `live`; all else is tried again by the schedule of webhooks, 410 is not, and the last failure makes it `dead`. Each outcome has its own `status` in the answer: 409 where its lease is over or was never given, and nothing of it is written. An outcome that was taken before is 200 again; the first one counts."
      })
    )
  )
  .middleware(KnownParameters)
  .middleware(Authorization)
  .annotateMerge(
    OpenApi.annotations({ title: "Deliveries", description: "Webhooks for an app without a public address" })
  ) {}
