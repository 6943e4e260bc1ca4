import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Console, Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import type { CheckStatus } from "../../health/HealthCheck.ts"
import * as Platform from "../../process/Platform.ts"
import * as Resolver from "../../providers/dns/Resolver.ts"
import * as Settings from "../../Settings.ts"
import * as Answer from "../terminal/Answer.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"
import * as Service from "../terminal/Service.ts"
import * as Checks from "./Checks.ts"

const signs = { good: "✓", wrong: "✗", note: "·" } as const
const signOf: { readonly [Status in CheckStatus]: string } = { ok: "✓", error: "✗", warning: "!", unknown: "?" }

/** All results, in the order of a mail's path. Skips DNS for development's placeholder names. */
export const findings = Effect.gen(function* () {
  yield* Settings.all
  const mode = yield* Settings.mode
  const outside =
    mode === "production"
      ? [...(yield* Checks.names), yield* Checks.port25]
      : [{ about: "DNS", verdict: "note", says: `not looked at: NODE_ENV is ${mode}` } as const]
  return [...outside, yield* Checks.certificate, yield* Checks.rawStore, yield* Checks.database]
})

/** Checks this machine and its settings. */
const service = Effect.fnUntraced(
  function* (json: boolean) {
    const found: ReadonlyArray<Checks.Finding> = yield* findings
    const width = Math.max(...found.map(({ about }) => about.length))
    const lines = found.map(({ about, says, verdict }) => `${signs[verdict]} ${about.padEnd(width)}  ${says}`)
    yield* Answer.lines(json, { findings: found }, lines)
    const wrong = found.filter(({ verdict }) => verdict === "wrong")
    if (wrong.length > 0) {
      return yield* new CommandFailed({ message: `Wrong: ${wrong.map(({ about }) => about).join(", ")}` })
    }
  },
  Effect.provide(Resolver.layer.pipe(Layer.provideMerge(Platform.layer)))
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
      ...(remedy === null ? [] : [`${" ".repeat(width + 4)}→ ${remedy}`])
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
    ...Service.flags
  },
  ({ domain: named, json, ...place }) =>
    Option.match(named, { onNone: () => service(json), onSome: (name) => domain(name, json, place) })
).pipe(
  Command.withDescription("Check what incoming mail needs: DNS, port 25, certificate, raw store, database"),
  Command.provide(NodeHttpClient.layerUndici)
)
