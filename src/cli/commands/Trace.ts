import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Console, DateTime, Duration, Effect, type Option, Stdio } from "effect"
import { Command, Flag } from "effect/cli"
import * as ErrorOrigin from "../../ErrorOrigin.ts"
import * as Elapsed from "../../schedule/Elapsed.ts"
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

type Ask<E, R> = (query: Query) => Effect.Effect<
  {
    readonly entries: ReadonlyArray<TraceEntry>
    readonly next_cursor: string | null
    readonly hint: string | null
  },
  E,
  R
>

/** The newest mails, whose changes are followed. */
const followed = 200

/** Bounds of a look, which is repeated every two seconds. */
const mostEntries = 1_000
const mostPages = 40
const lookTime = Duration.seconds(30)

/** All pages since a time, newest first, so that the first ones have all new mail. */
const look = Effect.fnUntraced(function* <E, R>(query: Query, ask: Ask<E, R>) {
  const ends = (yield* Elapsed.millis) + Duration.toMillis(lookTime)
  const entries: Array<TraceEntry> = []
  let page = yield* Effect.timeout(ask(query), lookTime)
  for (let pages = 1; ; pages++) {
    entries.push(...page.entries)
    const cursor = page.next_cursor
    if (cursor === null) return { entries, isCut: false }
    const isLate = (yield* Elapsed.millis) >= ends
    if (isLate || pages >= mostPages || entries.length >= mostEntries) return { entries, isCut: true }
    page = yield* Effect.timeout(ask({ ...query, cursor }), lookTime)
  }
})

/** Prints what a search finds, and then what is new and what has changed, oldest first, every two seconds. */
const following = Effect.fnUntraced(function* <E extends Service.Failure, R>(
  json: boolean,
  query: Query,
  ask: Ask<E, R>
) {
  const started = yield* DateTime.now
  let seen = new Map<string, string>()
  const show = Effect.fnUntraced(function* (entries: ReadonlyArray<TraceEntry>) {
    const before = seen
    seen = new Map()
    for (const entry of entries.toReversed()) {
      const { id, state } = Timeline.stateOf(entry)
      seen.set(id, state)
      if (before.get(id) !== state) yield* print(json, entry)
    }
  })

  let since = query.since ?? started
  const first = yield* ask({ ...query, since })
  yield* show(first.entries)
  if (first.next_cursor !== null) since = first.entries.at(-1)?.at ?? started
  let isLost = false
  for (;;) {
    yield* Effect.sleep("2 seconds")
    const looked = yield* DateTime.now
    const found = yield* look({ ...query, limit: 50, since }, ask).pipe(
      Effect.catchIf(Service.isTemporary, (error) => Effect.succeed({ failed: ErrorOrigin.messageOf(error) }))
    )
    if ("failed" in found) {
      if (!isLost) yield* Console.error(`Not connected: ${found.failed}. It is tried again`)
      isLost = true
      continue
    }
    if (isLost) yield* Console.error("Connected again")
    isLost = false
    const { entries, isCut } = found
    if (isCut) {
      yield* Console.error(
        `There is too much mail since ${DateTime.formatIso(since)} to search it every two seconds. From now on changes of older mail are not shown: \`inlet trace --since … --until …\` finds them`
      )
    }
    yield* show(entries)
    const oldest = entries.length > followed ? entries[followed - 1] : undefined
    since = oldest?.at ?? (isCut ? looked : since)
  }
})

/** Answers a search with `ask`, once or again and again. */
export const run = Effect.fnUntraced(function* <E extends Service.Failure, R>(given: Flags, ask: Ask<E, R>) {
  const query = yield* queryOf(given)
  if (given.follow) {
    if (query.cursor !== undefined || query.until !== undefined) {
      return yield* new CommandFailed({ message: "--follow: Expected no --cursor and no --until beside it" })
    }
    const stdio = yield* Stdio.Stdio
    if (yield* stdio.stderrIsTerminal) yield* Console.error("Waiting for mail and changes. Ctrl-C stops")
    return yield* following(given.json, query, ask)
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
