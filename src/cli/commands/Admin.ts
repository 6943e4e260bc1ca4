import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Console, DateTime, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { Domain } from "../../model/Domain.ts"
import { WorkspaceId, WorkspaceName } from "../../model/Workspace.ts"
import { partOfDomains } from "../../operator/AllWorkspaces.ts"
import * as Settings from "../../Settings.ts"
import * as LocalSecret from "../../settings/LocalSecret.ts"
import * as Answer from "../terminal/Answer.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"
import * as Confirmation from "../terminal/Confirmation.ts"
import * as DomainFlags from "../terminal/DomainFlags.ts"
import * as DomainRow from "../terminal/DomainRow.ts"
import * as EventFlags from "../terminal/EventFlags.ts"
import * as Given from "../terminal/Given.ts"
import * as OperationalRows from "../terminal/OperationalRows.ts"
import * as Service from "../terminal/Service.ts"
import * as Trace from "./Trace.ts"

/** ADMIN_TOKEN, or the generated one of a development service. */
const token = Effect.gen(function* () {
  const { adminToken, dataDirectory } = yield* Settings.secrets
  if (adminToken !== undefined) return adminToken
  return yield* Effect.mapError(
    LocalSecret.read(dataDirectory, "admin-token"),
    () =>
      new CommandFailed({
        message: `ADMIN_TOKEN: Set it to the service's token, or DATA_DIR to its folder (${dataDirectory} has none)`
      })
  )
})

interface Flags extends Service.Place {
  readonly json: boolean
}

/** Calls the operator routes of the running service, so that this also works with an embedded database. */
const question = Effect.fnUntraced(function* <A, E extends Service.Failure, R>(
  place: Service.Place,
  asked: (admin: Service.Client["admin"]) => Effect.Effect<A, E, R>
) {
  const baseUrl = yield* Service.baseUrl(place)
  const { admin } = yield* Service.connect(baseUrl, yield* token)
  return yield* Service.answered(baseUrl, asked(admin)).pipe(
    Effect.mapError((error) =>
      error.message.startsWith("No such route")
        ? new CommandFailed({ message: `${baseUrl} rejects this ADMIN_TOKEN, or has no admin routes` })
        : error
    )
  )
})

/** The same for routes that answer domains, as a table. */
const ask = Effect.fnUntraced(function* <E extends Service.Failure, R>(
  { json, ...place }: Flags,
  asked: (admin: Service.Client["admin"]) => Effect.Effect<{ readonly domains: ReadonlyArray<Domain> }, E, R>
) {
  const answer = yield* question(place, asked)
  yield* Answer.table(json, answer, answer.domains.map(DomainRow.of), "No domains yet")
})

const name = Argument.String("domain").pipe(Argument.withDescription("name of the domain"))

const list = Command.make(
  "list",
  { ...DomainFlags.flags, ...Service.operatorFlags },
  Effect.fnUntraced(function* ({ cursor, json, limit, search, ...place }) {
    const answer = yield* question(place, (admin) => admin.list({ query: Given.of({ search, limit, cursor }) }))
    const rows = answer.domains.map((domain) => {
      const { reason, ...row } = DomainRow.of(domain)
      return { ...row, workspace: domain.workspace ?? "-", workspace_id: domain.workspace_id ?? "-", reason }
    })
    yield* Answer.table(json, answer, rows, DomainFlags.noneFor(search))
  })
).pipe(Command.withDescription("List every domain, newest first"))

const disable = Command.make("disable", { name, ...Service.operatorFlags }, ({ name, ...flags }) =>
  ask(flags, (admin) => admin.disable({ params: { domain: name } }))
).pipe(Command.withDescription("Disable a domain: refuse its mail and pause its deliveries"))

const enable = Command.make("enable", { name, ...Service.operatorFlags }, ({ name, ...flags }) =>
  ask(flags, (admin) => admin.enable({ params: { domain: name } }))
).pipe(Command.withDescription("Enable a disabled domain"))

const remove = Command.make(
  "remove",
  { name, yes: Confirmation.yes, ...Service.operatorFlags },
  Effect.fnUntraced(function* ({ name, yes, ...flags }) {
    yield* Confirmation.ask(yes, `Take ${name} from the workspace that holds it, with all its mail?`)
    yield* ask(flags, (admin) => admin.remove({ params: { domain: name } }))
  })
).pipe(Command.withDescription("Remove a domain and its mail from the workspace that holds it"))

const domains = Command.make("domains").pipe(
  Command.withDescription("All domains of the service"),
  Command.withSubcommands([list, disable, enable, remove])
)

const createWorkspace = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(
      Argument.withDescription("1 to 100 characters, visible only to its owner"),
      Argument.withSchema(WorkspaceName)
    ),
    ...Service.operatorFlags
  },
  Effect.fnUntraced(function* ({ json, name, ...place }) {
    const baseUrl = yield* Service.baseUrl(place)
    const { workspaces } = yield* Service.connect(baseUrl, yield* token)
    yield* Answer.record(json, yield* Service.answered(baseUrl, workspaces.create({ payload: { name } })))
  })
).pipe(Command.withDescription("Create a workspace where WORKSPACE_CREATION is admin. Inlet shows its key only once"))

const listWorkspaces = Command.make(
  "list",
  {
    search: Flag.String("search").pipe(
      Flag.withDescription("Only workspaces with this in their name, or as their id"),
      Flag.optional
    ),
    cursor: EventFlags.cursor,
    limit: EventFlags.limit,
    ...Service.operatorFlags
  },
  Effect.fnUntraced(function* ({ cursor, json, limit, search, ...place }) {
    const query = Given.of({ search, cursor, limit })
    const answer = yield* question(place, (admin) => admin.workspaces({ query }))
    const rows = answer.workspaces.map(({ created_at, domains, emails_today, name, workspace_id }) => ({
      workspace_id,
      created: DateTime.formatIso(created_at),
      domains: `${domains}`,
      emails_today: `${emails_today}`,
      name
    }))
    const none = Option.isNone(search)
      ? "No workspaces yet"
      : `No workspace has ${search.value} in its name or as its id`
    yield* Answer.table(json, answer, rows, none)
  })
).pipe(Command.withDescription("List every workspace, newest first"))

const removeWorkspace = Command.make(
  "remove",
  {
    id: Argument.String("workspace_id").pipe(Argument.withSchema(WorkspaceId)),
    yes: Confirmation.yes,
    ...Service.operatorFlags
  },
  Effect.fnUntraced(function* ({ id, json, yes, ...place }) {
    yield* Confirmation.ask(yes, `Remove the workspace ${id} with its domains and all their mail?`)
    yield* question(place, (admin) =>
      admin.removeWorkspace({ params: { workspaceId: id } }).pipe(
        Effect.tapErrorTag("Unavailable", ({ message }) => Console.error(message)),
        // A request removes what it can in ten seconds.
        Effect.retry({ while: (error) => error._tag === "Unavailable" && error.message.startsWith(partOfDomains) })
      )
    )
    yield* Answer.lines(json, { workspace_id: id, removed: true }, [`Removed ${id}`])
  })
).pipe(Command.withDescription("Remove a workspace with its domains and their mail"))

const workspaces = Command.make("workspaces").pipe(
  Command.withDescription("All workspaces of the service"),
  Command.withSubcommands([listWorkspaces, createWorkspace, removeWorkspace])
)

const opsEvents = Command.make(
  "ops-events",
  { ...OperationalRows.flags, ...Service.operatorFlags },
  Effect.fnUntraced(function* ({ cursor, json, limit, type, ...place }) {
    const query = Given.of({ cursor, limit, type })
    const answer = yield* question(place, (admin) => admin.operationalEvents({ query }))
    yield* Answer.table(json, answer, OperationalRows.of(answer.operational_events), OperationalRows.none)
  })
).pipe(Command.withDescription("List operational events of all workspaces and of the service, newest first"))

export const command = Command.make("admin").pipe(
  Command.withDescription("Operator commands"),
  Command.withSubcommands([domains, workspaces, opsEvents, Trace.operatorCommand(question)]),
  Command.provide(NodeHttpClient.layerUndici)
)
