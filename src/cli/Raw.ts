import { NodeHttpClient } from "@effect/platform-node"
import { Config, Effect, Redacted, Stdio, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { Api } from "../http/Api.ts"
import { EventId } from "../model/InboundEvent.ts"
import { CommandFailed } from "./CommandFailed.ts"
import * as Service from "./Service.ts"

export const command = Command.make(
  "raw",
  {
    eventId: Argument.String("event_id").pipe(
      Argument.withDescription("event_id of the webhook, or of the list of events"),
      Argument.withSchema(EventId)
    ),
    key: Flag.Redacted("key").pipe(
      Flag.withDescription("API key of the workspace; INLET_API_KEY when absent"),
      Flag.withFallbackConfig(Config.Redacted("INLET_API_KEY"))
    ),
    url: Service.url
  },
  Effect.fn(function* ({ eventId, key, url }) {
    const baseUrl = yield* Service.baseUrl(url)
    const { domains, events } = yield* HttpApiClient.make(Api, {
      baseUrl,
      transformClient: HttpClient.mapRequest(HttpClientRequest.bearerToken(Redacted.value(key)))
    })
    const stdio = yield* Stdio.Stdio

    const print = Effect.gen(function* () {
      const all = yield* domains.list()
      for (const { id } of all.domains) {
        const params = { id, eventId }
        const isThere = yield* Effect.as(events.get({ params }), true).pipe(
          Effect.catchTag("NotFound", () => Effect.succeed(false))
        )
        if (isThere) return yield* Stream.run(yield* events.raw({ params }), stdio.stdout({ endOnDone: false }))
      }
      return yield* new CommandFailed({ message: `No domain of this workspace has the event ${eventId}` })
    })
    yield* Effect.mapError(print, (error) => {
      switch (error._tag) {
        case "CommandFailed":
          return error
        case "NotFound":
        case "Unauthorized":
        case "Unavailable":
          return new CommandFailed({ message: error.message })
        default:
          return Service.unanswered(baseUrl, error)
      }
    })
  })
).pipe(
  Command.withDescription("Print the raw message behind an event, as it came in"),
  Command.provide(NodeHttpClient.layerUndici)
)
