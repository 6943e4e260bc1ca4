import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { DateTime, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { EventId } from "../../model/InboundEvent.ts"
import * as Answer from "../terminal/Answer.ts"
import * as EventFlags from "../terminal/EventFlags.ts"
import * as Given from "../terminal/Given.ts"
import * as Service from "../terminal/Service.ts"

export const command = Command.make(
  "attempts",
  {
    domain: EventFlags.domain,
    event_id: Flag.String("event").pipe(
      Flag.withDescription("Only attempts of this event"),
      Flag.withSchema(EventId),
      Flag.optional
    ),
    limit: EventFlags.limit,
    cursor: EventFlags.cursor,
    ...Service.flags
  },
  Effect.fnUntraced(function* ({ cursor, domain, event_id, json, limit, ...place }) {
    const answer = yield* Service.ask(
      place,
      Effect.fnUntraced(function* (api) {
        const { id } = Option.isSome(event_id)
          ? yield* Service.domainOfEvent(api, event_id.value)
          : yield* Service.domainOrOnly(api, Option.getOrUndefined(domain))
        return yield* api.events.deliveryAttempts({ params: { id }, query: Given.of({ cursor, event_id, limit }) })
      })
    )
    const rows = answer.deliveryAttempts.map(
      ({ attempt, durationMs, error, event_id, requestedAt, statusCode, url }) => ({
        requested: DateTime.formatIso(requestedAt),
        event_id,
        attempt: `${attempt}`,
        status: `${statusCode ?? "-"}`,
        ms: `${durationMs ?? "-"}`,
        url,
        error: error ?? ""
      })
    )
    yield* Answer.table(json, answer, rows, "No attempts yet")
  })
).pipe(Command.withDescription("List delivery attempts, newest first"), Command.provide(NodeHttpClient.layerUndici))
