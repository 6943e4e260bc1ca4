import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { DateTime, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { catchAll, Pattern } from "../../model/Webhook.ts"
import { KeyId, KeyName, KeyScope, type WorkspaceKey } from "../../model/WorkspaceKey.ts"
import * as Answer from "../terminal/Answer.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"
import * as Confirmation from "../terminal/Confirmation.ts"
import * as Given from "../terminal/Given.ts"
import * as Profiles from "../terminal/Profiles.ts"
import * as SavedKey from "../terminal/SavedKey.ts"
import * as Service from "../terminal/Service.ts"

/** The mail that a key sees, in a word. */
const limitOf = ({ domain, pattern }: { readonly domain: string | null; readonly pattern: string | null }) => {
  if (pattern === null) return "-"
  if (domain === null) return pattern
  return pattern === catchAll ? domain : `${pattern} of ${domain}`
}

/** The names of domains by their ids. A domain that is gone has none. */
const namesOf = Effect.fnUntraced(function* (api: Service.Client, keys: ReadonlyArray<WorkspaceKey>) {
  const ids = new Set(keys.flatMap(({ domain_id }) => domain_id ?? []))
  const names = yield* Effect.forEach(ids, (id) =>
    api.domains.get({ params: { id } }).pipe(
      Effect.map(({ domain }) => [[id, domain]] as const),
      Effect.catchTag("NotFound", () => Effect.succeed([]))
    )
  )
  return new Map(names.flat())
})

const list = Effect.fnUntraced(function* ({ json, ...place }: Service.Place & { readonly json: boolean }) {
  const { answer, names } = yield* Service.ask(
    place,
    Effect.fnUntraced(function* (api) {
      const answer = yield* api.workspaces.listKeys()
      return { answer, names: json ? new Map<string, string>() : yield* namesOf(api, answer.keys) }
    })
  )
  const rows = answer.keys.map(({ begins, created_at, domain_id, id, last_used_at, name, pattern, scope }) => ({
    id,
    scope,
    only: limitOf({ pattern, domain: domain_id === null ? null : (names.get(domain_id) ?? domain_id) }),
    key: `${begins}…`,
    created: DateTime.formatIso(created_at),
    last_used: last_used_at === null ? "-" : DateTime.formatIso(last_used_at),
    name: name ?? ""
  }))
  yield* Answer.table(json, answer, rows, "No keys beside the workspace's own")
})

const create = Command.make(
  "create",
  {
    scope: Flag.Literals("scope", KeyScope.literals).pipe(
      Flag.withDescription(
        "read (default): lists, waits for and streams mail, and changes nothing. ingest: hands mail over, and does nothing else"
      ),
      Flag.withDefault("read")
    ),
    name: Flag.String("name").pipe(
      Flag.withDescription("1 to 100 characters, visible only to you"),
      Flag.withSchema(KeyName),
      Flag.optional
    ),
    pattern: Flag.String("pattern").pipe(
      Flag.withDescription("Only mail whose local part matches: agent-7, which also takes agent-7+tag, or agent-*"),
      Flag.withSchema(Pattern),
      Flag.optional
    ),
    domain: Flag.String("domain").pipe(
      Flag.withDescription("Only this domain: its name or id. Default all"),
      Flag.optional
    ),
    save: Flag.String("save").pipe(
      Flag.withDescription("Store URL and key under this name for --profile, and do not print the key"),
      Flag.optional
    ),
    ...Service.flags
  },
  Effect.fnUntraced(function* ({ domain, json, name, pattern, save, scope, ...place }) {
    if (Option.isSome(save)) yield* Profiles.demandFree(save.value)
    const answer = yield* Service.ask(
      place,
      Effect.fnUntraced(function* (api) {
        const limit = Option.isSome(domain) ? { domain_id: (yield* Service.domain(api, domain.value)).id } : {}
        return yield* api.workspaces.createKey({ payload: { scope, ...limit, ...Given.of({ name, pattern }) } })
      })
    )
    yield* SavedKey.record(json, answer, { place, save })
  })
).pipe(
  Command.withDescription(
    "Create a key to read mail, or one for a relay. Optionally limited to some addresses or a domain. Inlet shows it only once"
  )
)

const called = ({ begins, name }: Pick<WorkspaceKey, "begins" | "name">) =>
  name === null ? `${begins}…` : `${name} (${begins}…)`

const revoke = Command.make(
  "revoke",
  {
    id: Argument.String("id").pipe(Argument.withDescription("id of the key"), Argument.withSchema(KeyId)),
    yes: Confirmation.yes,
    ...Service.flags
  },
  Effect.fnUntraced(function* ({ id, json, yes, ...place }) {
    const revoked = yield* Service.ask(
      place,
      Effect.fnUntraced(function* (api) {
        const { keys } = yield* api.workspaces.listKeys()
        const key = keys.find((one) => one.id === id)
        if (key === undefined) {
          return yield* new CommandFailed({ message: `No key ${id} in this workspace: \`inlet keys\` lists them` })
        }
        yield* Confirmation.ask(yes, `Revoke the key ${called(key)}? It stops working at once.`)
        yield* api.workspaces.revokeKey({ params: { keyId: id } })
        return { id, name: key.name, begins: key.begins, revoked: true }
      })
    )
    yield* Answer.lines(json, revoked, [`Revoked the key ${called(revoked)}`])
  })
).pipe(Command.withDescription("Revoke a key. It stops working at once"))

export const command = Command.make("keys", Service.flags, list).pipe(
  Command.withDescription("List, create and revoke additional keys"),
  Command.withSubcommands([create, revoke]),
  Command.provide(NodeHttpClient.layerUndici)
)
