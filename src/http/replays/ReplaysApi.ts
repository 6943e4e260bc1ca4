import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Conflict, Invalid, NotFound, TooManyRequests } from "../../model/ApiError.ts"
import { DomainId } from "../../model/Domain.ts"
import { deliveredPerDay, mostDeliveries, Replay, ReplayId, ReplayStatus } from "../../model/Replay.ts"
import { WebhookId } from "../../model/Webhook.ts"
import * as AddressQuery from "../requests/AddressQuery.ts"
import { Authorization } from "../requests/Authorization.ts"
import * as Idempotency from "../requests/Idempotency.ts"
import { KnownParameters } from "../requests/KnownParameters.ts"
import * as PageQuery from "../requests/PageQuery.ts"
import * as TimeQuery from "../requests/TimeQuery.ts"

const one = { id: DomainId, replayId: ReplayId }

const Counted = Schema.Struct({
  total: Schema.Int.annotate({ description: "deliveries that the job would replay" })
})

export class ReplaysApi extends HttpApiGroup.make("replays")
  .add(
    HttpApiEndpoint.post("start", "/api/domains/:id/replays", {
      params: { id: DomainId },
      payload: Schema.Struct({
        status: ReplayStatus.annotate({ description: "which deliveries", message: "Expected dead, held or delivered" }),
        since: TimeQuery.time("received at this time or later"),
        until: TimeQuery.time("received at this time or earlier"),
        recipient: Schema.optionalKey(AddressQuery.Recipient),
        webhook_id: Schema.optionalKey(
          WebhookId.annotate({
            description: "sends all of them to this webhook of the domain, instead of each to its own"
          })
        ),
        dry_run: Schema.optionalKey(
          Schema.Boolean.annotate({ description: "`true` counts the deliveries and starts nothing" })
        )
      }),
      headers: Idempotency.headers,
      success: [Replay.pipe(HttpApiSchema.status(202)), Counted.pipe(HttpApiSchema.status(200))],
      error: [Invalid.http, NotFound.http, Conflict.http, TooManyRequests.http]
    })
      .middleware(Idempotency.Idempotency)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Deliver many events again",
          description: `Starts a job that queues the deliveries with all attempts, oldest first, at most ${mostDeliveries.toLocaleString("en")} of them. The job begins with two at once and doubles that up to 256 while the webhook of the last deliveries answers. While that webhook fails, it sends one every 10 s. It survives restarts. Resumes a paused webhook. 409 while another job of the domain is running, and for a domain without a webhook. 429 beyond 60 replays a minute or 2,000 a day, and beyond 20 jobs a day. Jobs of delivered events also count together: 429 beyond ${deliveredPerDay.toLocaleString("en")} events a day, 409 for a job that alone has more.`
        })
      ),
    HttpApiEndpoint.get("list", "/api/domains/:id/replays", {
      params: { id: DomainId },
      query: { limit: PageQuery.Limit, cursor: PageQuery.Cursor },
      success: Schema.Struct({ replays: Schema.Array(Replay), next_cursor: PageQuery.NextCursor }),
      error: [Invalid.http, NotFound.http]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List replay jobs, newest first",
        description: "Inlet keeps a finished job for 30 days."
      })
    ),
    HttpApiEndpoint.get("get", "/api/domains/:id/replays/:replayId", {
      params: one,
      success: Replay,
      error: NotFound.http
    }).annotateMerge(OpenApi.annotations({ summary: "Get the progress of a replay job" })),
    HttpApiEndpoint.delete("stop", "/api/domains/:id/replays/:replayId", {
      params: one,
      success: Replay,
      error: NotFound.http
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Stop a replay job",
        description: "What the job has queued stays queued, up to 256 deliveries. A finished job stays as it is."
      })
    )
  )
  .middleware(KnownParameters)
  .middleware(Authorization)
  .annotateMerge(
    OpenApi.annotations({ title: "Replays", description: "Jobs that deliver many events of a domain again" })
  ) {}
