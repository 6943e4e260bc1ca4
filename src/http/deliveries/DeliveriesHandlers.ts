import { DateTime, Duration, Effect, Schema, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { PullDeliveries, type Pulled, type Report, type Standing } from "../../delivery/PullDeliveries.ts"
import * as Signer from "../../delivery/RequestSigner.ts"
import { gone } from "../../delivery/WebhookSender.ts"
import { Domains } from "../../domains/Domains.ts"
import * as EventQuery from "../../events/EventQuery.ts"
import { Events } from "../../events/Events.ts"
import type { DomainId } from "../../model/Domain.ts"
import { EventId } from "../../model/InboundEvent.ts"
import { Webhooks } from "../../webhooks/Webhooks.ts"
import { AnswerRoom } from "../answers/AnswerRoom.ts"
import * as CurrentAnswer from "../answers/CurrentAnswer.ts"
import * as TextPieces from "../answers/TextPieces.ts"
import { CurrentWorkspace } from "../requests/CurrentWorkspace.ts"
import * as GroupApi from "../requests/GroupApi.ts"
import * as LimitedKeys from "../requests/LimitedKeys.ts"
import { OpenRequests } from "../requests/OpenRequests.ts"
import { DeliveriesApi, mostAtOnce, type Outcome } from "./DeliveriesApi.ts"

/** Maximum stored bytes of an answer, as of a webhook's. */
const keptBytes = 1_024

export const layer = HttpApiBuilder.group(
  GroupApi.of(DeliveriesApi),
  "deliveries",
  Effect.fn(function* (handlers) {
    const domains = yield* Domains
    const events = yield* Events
    const webhooks = yield* Webhooks
    const pull = yield* PullDeliveries
    const signer = yield* Signer.RequestSigner
    const open = yield* OpenRequests
    const room = yield* AnswerRoom

    /** The workspace, if it has this domain. */
    const ownerOf = (id: DomainId) =>
      Effect.flatMap(CurrentWorkspace, (workspace) =>
        Effect.as(LimitedKeys.domainOf(domains, workspace, id), workspace)
      )

    return handlers.handleAll({
      lease: Effect.fnUntraced(function* ({ params: { id }, payload: { limit = mostAtOnce, wait = 0, webhook_id } }) {
        const workspace = yield* ownerOf(id)
        if (webhook_id !== undefined) yield* LimitedKeys.demandWebhook(webhooks, workspace.limit, id, webhook_id)
        if (wait > 0) yield* open.take(workspace.id)
        const { deliveries, told } = yield* Effect.raceFirst(
          pull.take(id, {
            most: limit,
            time: Duration.seconds(wait),
            webhookId: webhook_id,
            only: workspace.limit?.pattern
          }),
          workspace.untilReplaced
        )
        yield* room.reserve(Signer.growth * deliveries.reduce((sum, { bytes }) => sum + bytes, 0))
        // Signed before the answer begins, so that a signer without an answer is 503 and the leases end.
        const texts = yield* events.payloads(id, deliveries).pipe(
          Stream.mapEffect((delivery) => encode(delivery, signer.with(workspace.id, delivery.secrets))),
          Stream.runCollect,
          Effect.catchTag("SigningFailed", Signer.unavailable),
          Effect.raceFirst(workspace.untilReplaced)
        )
        const parts = texts.flatMap((text, index) => [index === 0 ? "" : ",", ...text])
        const whole = Stream.unwrap(Effect.as(told, Stream.make(['{"deliveries":[', ...parts, "]}"])))
        const body = Stream.interruptWhen(TextPieces.encoded(whole), workspace.untilReplaced)
        return HttpServerResponse.stream(yield* CurrentAnswer.kept(body), { contentType: "application/json" })
      }),
      settle: Effect.fnUntraced(function* ({ params: { id }, payload: { outcomes } }) {
        const workspace = yield* ownerOf(id)
        const standings = new Map(
          (yield* pull.settle(id, outcomes.map(reportOf), workspace.limit?.pattern)).map((standing) => [
            standing.eventId,
            standing
          ])
        )
        return { outcomes: outcomes.map((outcome) => settledOf(outcome, standings.get(idOf(outcome)))) }
      })
    })
  })
)

const encodeTime = Schema.encodeSync(Schema.DateTimeUtcFromString)

/** In parts, because the body is long. */
const encode = ({ attempt, id, leasedUntil, payload }: Pulled & { readonly payload: string }, sign: Signer.SignEvent) =>
  Effect.map(sign({ id, payload }), ({ body, headers }) => [
    `{"event_id":"${id}","attempt":${attempt},"headers":${JSON.stringify(headers)},"body":`,
    JSON.stringify(body),
    `,"leased_until":"${encodeTime(DateTime.toUtc(leasedUntil))}"}`
  ])

/** As the database writes it. Some languages write UUIDs in capitals. */
const idOf = ({ event_id }: Pick<Outcome, "event_id">) => EventId.make(event_id.toLowerCase())

const reportOf = ({ attempt, durationMs, error, event_id, responseBody, statusCode = null }: Outcome): Report => ({
  eventId: idOf({ event_id }),
  attempt,
  statusCode,
  error:
    statusCode === null
      ? (error ?? "no answer").replaceAll("\0", "")
      : statusCode >= 200 && statusCode < 300
        ? null
        : `the app answered ${statusCode}`,
  durationMs,
  responseBody:
    typeof responseBody === "string"
      ? Buffer.from(responseBody).subarray(0, keptBytes).toString("utf8").replaceAll("\0", "")
      : null,
  retryAfter: null,
  isFinal: statusCode === gone
})

const settledOf = ({ attempt, event_id }: Outcome, standing: Standing | undefined) =>
  standing?.isSettled === true
    ? { event_id, attempt, status: 200 as const, delivery: EventQuery.toDelivery(standing), error: null }
    : {
        event_id,
        attempt,
        status: 409 as const,
        delivery: null,
        error:
          "The lease of this attempt has expired or never existed. The outcome is ignored, and the delivery is leased again if it is still due"
      }
