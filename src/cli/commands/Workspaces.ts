import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Console, Effect, Option, Redacted } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { WorkspaceName } from "../../model/Workspace.ts"
import * as Answer from "../terminal/Answer.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"
import * as Confirmation from "../terminal/Confirmation.ts"
import * as Given from "../terminal/Given.ts"
import * as OperationalRows from "../terminal/OperationalRows.ts"
import * as Profiles from "../terminal/Profiles.ts"
import * as SavedKey from "../terminal/SavedKey.ts"
import * as Service from "../terminal/Service.ts"

const create = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(
      Argument.withDescription("1 to 100 characters, visible only to you"),
      Argument.withSchema(WorkspaceName)
    ),
    save: Flag.String("save").pipe(
      Flag.withDescription("Store URL and key under this name for --profile, and do not print the key"),
      Flag.optional
    ),
    ...Service.openFlags
  },
  Effect.fnUntraced(function* ({ json, name, save, ...place }) {
    if (Option.isSome(save)) yield* Profiles.demandFree(save.value)
    const answer = yield* Service.askOpenly(place, (api) => api.workspaces.create({ payload: { name } }))
    yield* SavedKey.record(json, answer, { place, save })
  })
).pipe(Command.withDescription("Create a workspace. Inlet shows its key and secret only once"))

const get = Command.make("get", Service.flags, ({ json, ...place }) =>
  Effect.flatMap(
    Service.ask(place, (api) => api.workspaces.get()),
    (answer) => Answer.record(json, answer)
  )
).pipe(Command.withDescription("Show the workspace of the key, its limits and its usage"))

/**
 * Replaces a key or secret in the profile that it came from, and prints the answer. Also if it could not be replaced,
 * because the service shows it only once.
 */
const record = Effect.fnUntraced(function* (
  json: boolean,
  answer: Parameters<typeof Answer.record>[1],
  { changed, place }: { readonly place: Service.Place; readonly changed: Parameters<typeof Profiles.change>[1] }
) {
  yield* Effect.tapError(update(place, changed), () => Answer.record(json, answer))
  yield* Answer.record(json, answer)
})

const update = Effect.fnUntraced(function* (place: Service.Place, changed: Parameters<typeof Profiles.change>[1]) {
  const profile = yield* Service.profileOfKey(place)
  if (profile === undefined) return
  yield* Effect.mapError(
    Profiles.change(profile, changed),
    ({ message }) =>
      new CommandFailed({
        message: `The profile ${profile} still has the old one. Keep the one above, because it is shown only once. ${message}`
      })
  )
  yield* Console.error(`The profile ${profile} has the new one`)
})

const rotateKey = Command.make(
  "rotate-key",
  { yes: Confirmation.yes, ...Service.flags },
  Effect.fnUntraced(function* ({ json, yes, ...place }) {
    yield* Confirmation.ask(yes, "Replace the API key? The old one stops working at once.")
    const answer = yield* Service.ask(place, (api) => api.workspaces.rotateKey())
    yield* record(json, answer, { place, changed: { key: Redacted.make(answer.api_key) } })
  })
).pipe(Command.withDescription("Replace the API key. The old one stops working at once"))

const rotateSecret = Command.make(
  "rotate-secret",
  { yes: Confirmation.yes, ...Service.flags },
  Effect.fnUntraced(function* ({ json, yes, ...place }) {
    yield* Confirmation.ask(yes, "Replace the signing secret? The old one signs beside it for 24 hours.")
    const answer = yield* Service.ask(place, (api) => api.workspaces.rotateSecret())
    yield* record(json, answer, { place, changed: { secret: Redacted.make(answer.webhook_signing_secret) } })
  })
).pipe(Command.withDescription("Replace the signing secret. The old one also signs for 24 hours"))

const opsWebhook = Command.make(
  "ops-webhook",
  {
    url: Argument.String("ops-webhook-url").pipe(
      Argument.withDescription("URL for operational events"),
      Argument.optional
    ),
    none: Flag.Boolean("none").pipe(Flag.withDescription("Remove the operational webhook"), Flag.withDefault(false)),
    place: Service.flags
  },
  Effect.fnUntraced(function* ({ none, place: { json, ...place }, url }) {
    if (Option.isSome(url) === none) {
      return yield* new CommandFailed({ message: "ops-webhook-url: Expected a URL, or --none to remove the webhook" })
    }
    const payload = { opsWebhookUrl: Option.getOrNull(url) }
    yield* Answer.record(json, yield* Service.ask(place, (api) => api.workspaces.update({ payload })))
  })
).pipe(Command.withDescription("Set or remove the webhook for operational events"))

const opsEvents = Command.make(
  "ops-events",
  { ...OperationalRows.flags, ...Service.flags },
  Effect.fnUntraced(function* ({ cursor, json, limit, type, ...place }) {
    const query = Given.of({ cursor, limit, type })
    const answer = yield* Service.ask(place, (api) => api.operations.list({ query }))
    yield* Answer.table(json, answer, OperationalRows.of(answer.operational_events), OperationalRows.none)
  })
).pipe(Command.withDescription("List operational events, newest first: what happened to the service itself"))

export const command = Command.make("workspaces").pipe(
  Command.withDescription("Workspaces, keys and secrets"),
  Command.withSubcommands([create, get, rotateKey, rotateSecret, opsWebhook, opsEvents]),
  Command.provide(NodeHttpClient.layerUndici)
)
