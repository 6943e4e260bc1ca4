import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Console, DateTime, Effect } from "effect"
import { Command } from "effect/cli"
import * as Answer from "../terminal/Answer.ts"
import * as Service from "../terminal/Service.ts"

/** Prints the link and nothing else, so that a script can open it. */
const link = Effect.fnUntraced(function* ({ json, ...place }: Service.Place & { readonly json: boolean }) {
  const answer = yield* Service.ask(place, (api) => api.console.link())
  if (json) return yield* Answer.record(json, answer)
  yield* Console.error(`Works once, until ${DateTime.formatIso(answer.expires_at)}`)
  yield* Console.log(answer.url)
})

export const command = Command.make("console", Service.flags, link).pipe(
  Command.withDescription("Print a link that signs a browser in to the console, once and within a minute"),
  Command.provide(NodeHttpClient.layerUndici)
)
