import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Stdio, Stream } from "effect"
import { Command } from "effect/cli"
import * as EventFlags from "../terminal/EventFlags.ts"
import * as Service from "../terminal/Service.ts"

export const command = Command.make(
  "raw",
  {
    eventId: EventFlags.eventId,
    ...Service.place
  },
  Effect.fn(function* ({ eventId, ...place }) {
    const stdio = yield* Stdio.Stdio
    yield* Service.ask(
      place,
      Effect.fnUntraced(function* (api) {
        const domain = yield* Service.domainOfEvent(api, eventId)
        const raw = yield* api.events.raw({ params: { id: domain.id, eventId } })
        yield* Stream.run(raw, stdio.stdout({ endOnDone: false }))
      })
    )
  })
).pipe(Command.withDescription("Print the raw message of an event"), Command.provide(NodeHttpClient.layerUndici))
