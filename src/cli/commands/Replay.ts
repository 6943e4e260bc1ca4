import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import * as Answer from "../terminal/Answer.ts"
import * as EventFlags from "../terminal/EventFlags.ts"
import * as Service from "../terminal/Service.ts"

export const command = Command.make(
  "replay",
  {
    eventId: EventFlags.eventId,
    force: Flag.Boolean("force").pipe(
      Flag.withDescription("Also replay an event that is already delivered"),
      Flag.withDefault(false)
    ),
    ...Service.flags
  },
  Effect.fnUntraced(function* ({ eventId, force, json, ...place }) {
    const answer = yield* Service.ask(
      place,
      Effect.fnUntraced(function* (api) {
        const { id } = yield* Service.domainOfEvent(api, eventId)
        return yield* api.events.replay({
          params: { id, eventId },
          query: force ? { force: "true" } : {},
          headers: {}
        })
      })
    )
    yield* Answer.lines(json, answer, [`${answer.event_id} is sent again`])
  })
).pipe(Command.withDescription("Deliver an event again"), Command.provide(NodeHttpClient.layerUndici))
