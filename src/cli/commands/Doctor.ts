import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import type { CheckStatus } from "../../health/HealthCheck.ts"
import * as Answer from "../terminal/Answer.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"
import * as EnvFile from "../terminal/EnvFile.ts"
import { inCommands } from "../terminal/InCommands.ts"
import * as Service from "../terminal/Service.ts"

const signOf: { readonly [Status in CheckStatus]: string } = { ok: "✓", error: "✗", warning: "!", unknown: "?" }

/** Checks this machine and its settings. Loads what that needs, which no other command does. */
const service = (json: boolean) =>
  Effect.flatMap(
    Effect.promise(() => import("./ServiceDoctor.ts")),
    ({ run }) => run(json)
  )

/** Asks the service what it sees of a domain. */
const domain = Effect.fnUntraced(function* (name: string, json: boolean, place: Service.Place) {
  const health = yield* Service.ask(place, (api) =>
    Effect.flatMap(Service.domain(api, name), ({ id }) => api.domains.health({ params: { id } }))
  )
  const { checks, mx_hosts_left_out: leftOut, status, summary } = health
  const width = Math.max(...checks.map(({ check }) => check.length))
  yield* Answer.lines(json, health, [
    ...checks.flatMap(({ check, message, remedy, status }) => [
      `${signOf[status]} ${check.padEnd(width)}  ${message}`,
      ...(remedy === null ? [] : [`${" ".repeat(width + 4)}→ ${inCommands(remedy)}`])
    ]),
    ...(leftOut === 0 ? [] : [`  ${leftOut} further MX records were not looked up`])
  ])
  yield* status === "error" ? new CommandFailed({ message: summary }) : Console.error(summary)
})

export const command = Command.make(
  "doctor",
  {
    domain: Flag.String("domain").pipe(
      Flag.withDescription("Name or id of a domain of the workspace: check whether its mail arrives, from the service"),
      Flag.optional
    ),
    envFile: EnvFile.flag,
    ...Service.flags
  },
  ({ domain: named, envFile, json, ...place }) =>
    Option.match(named, {
      onNone: () => EnvFile.provide(envFile, service(json)),
      onSome: (name) => domain(name, json, place)
    })
).pipe(
  Command.withDescription(
    "Check what incoming mail needs: DNS, port 25, certificate, raw store, database and mail scanner"
  ),
  Command.provide(NodeHttpClient.layerUndici)
)
