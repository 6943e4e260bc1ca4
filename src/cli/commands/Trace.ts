import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Console, DateTime, Effect, type Option, Stdio } from "effect"
import { Command, Flag } from "effect/cli"
import type { TraceEntry } from "../../trace/TraceEntry.ts"
import * as Answer from "../terminal/Answer.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"
import * as EventFlags from "../terminal/EventFlags.ts"
import * as Given from "../terminal/Given.ts"
import { inCommands } from "../terminal/InCommands.ts"
import * as PastTime from "../terminal/PastTime.ts"
import * as Service from "../terminal/Service.ts"
import * as Timeline from "../terminal/Timeline.ts"

const text = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

/** The flags of a search, for a workspace and for the operator. */
const flags = {
  to: text("to", "Address or domain of the recipient"),
  from: text("from", "Address or domain of the sender"),
  subject: text("subject", "Words of the subject, without case"),
  messageId: text("message-id", "Message-ID, with or without angle brackets"),
  since: text("since", "Received since, as a duration such as 2d, or a time"),
  until: text("until", "Received until, as a duration such as 1h, or a time"),
  limit: Flag.Int("limit").pipe(Flag.withDescription("Maximum number of mails, 1 to 50, default 20"), Flag.optional),
  cursor: EventFlags.cursor,
  follow: Flag.Boolean("follow").pipe(
    Flag.withDescription("Go on: print new mail, and each change of mail, until Ctrl-C"),
    Flag.withDefault(false)
  )
}

type Flags = {
  readonly [Name in "to" | "from" | "subject" | "messageId" | "since" | "until" | "cursor"]: Option.Option<string>
} & { readonly limit: Option.Option<number>; readonly follow: boolean; readonly json: boolean }

type Query = NonNullable<Parameters<Service.Client["trace"]["search"]>[0]["query"]>

const queryOf = Effect.fnUntraced(function* ({ cursor, from, limit, messageId, since, subject, to, until }: Flags) {
  const query: Query = {
    ...Given.of({ cursor, from, limit, message_id: messageId, subject, to }),
    ...(yield* PastTime.query("since", since)),
    ...(yield* PastTime.query("until", until))
  }
  return query
})

const print = (json: boolean, entry: TraceEntry) => Answer.lines(json, entry, [...Timeline.linesOf(entry), ""])

/** Prints what is new and what has changed, oldest first, every two seconds. */
const following = Effect.fnUntraced(function* <E extends Service.Failure, R>(
  json: boolean,
  since: DateTime.Utc,
  ask: (since: DateTime.Utc) => Effect.Effect<{ readonly entries: ReadonlyArray<TraceEntry> }, E, R>
) {
  const seen = new Map<string, string>()
  for (;;) {
    const { entries } = yield* ask(since)
    for (const entry of entries.toReversed()) {
      const { id, state } = Timeline.stateOf(entry)
      if (seen.get(id) === state) continue
      seen.set(id, state)
      yield* print(json, entry)
    }
    yield* Effect.sleep("2 seconds")
  }
})

/** Answers a search with `ask`, once or again and again. */
export const run = Effect.fnUntraced(function* <E extends Service.Failure, R>(
  given: Flags,
  ask: (query: Query) => Effect.Effect<
    {
      readonly entries: ReadonlyArray<TraceEntry>
      readonly next_cursor: string | null
      readonly hint: string | null
    },
    E,
    R
  >
) {
  const query = yield* queryOf(given)
  if (given.follow) {
    if (query.cursor !== undefined || query.until !== undefined) {
      return yield* new CommandFailed({ message: "--follow: Expected no --cursor and no --until beside it" })
    }
    const stdio = yield* Stdio.Stdio
    if (yield* stdio.stderrIsTerminal) yield* Console.error("Waiting for mail and changes. Ctrl-C stops")
    return yield* following(given.json, query.since ?? (yield* DateTime.now), (since) => ask({ ...query, since }))
  }
  const answer = yield* ask(query)
  if (given.json) return yield* Answer.lines(true, answer, [])
  for (const entry of answer.entries) yield* print(false, entry)
  if (answer.hint !== null) yield* Console.error(inCommands(answer.hint))
  if (answer.next_cursor !== null) yield* Console.error(`Older mail with --cursor ${answer.next_cursor}`)
})

const description = "Find out what became of mail: each step on its way, or why it was refused, and what to do"

export const command = Command.make("trace", { ...flags, ...Service.flags }, ({ key, profile, url, ...given }) =>
  Service.ask({ key, profile, url }, (api) => run(given, (query) => api.trace.search({ query })))
).pipe(Command.withDescription(description), Command.provide(NodeHttpClient.layerUndici))

/** The same over all workspaces. `ask` opens the operator's routes. */
export const operatorCommand = <E, R>(
  ask: (
    place: Service.Place,
    question: (admin: Service.Client["admin"]) => Effect.Effect<void, Service.Failure, Stdio.Stdio>
  ) => Effect.Effect<void, E, R>
) =>
  Command.make("trace", { ...flags, ...Service.operatorFlags }, ({ url, ...given }) =>
    ask({ url }, (admin) => run(given, (query) => admin.trace({ query })))
  ).pipe(Command.withDescription("The same as `inlet trace`, over all workspaces and demo inboxes"))
