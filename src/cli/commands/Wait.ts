import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Clock, Console, DateTime, Duration, Effect, Option, Stdio } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as ErrorOrigin from "../../ErrorOrigin.ts"
import type { BriefEvent } from "../../events/BriefEvent.ts"
import * as EventFilters from "../../http/events/EventFilters.ts"
import type { DomainId } from "../../model/Domain.ts"
import * as Elapsed from "../../schedule/Elapsed.ts"
import { freshSeconds } from "../../workspaces/GivenCodes.ts"
import * as Answer from "../terminal/Answer.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"
import * as Given from "../terminal/Given.ts"
import { inCommands } from "../terminal/InCommands.ts"
import * as PrintedCodes from "../terminal/PrintedCodes.ts"
import * as Service from "../terminal/Service.ts"
import * as SpanText from "../terminal/SpanText.ts"

const kinds = ["verify", "login", "reset", "invite", "other"] as const

const text = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

/** The page of a list that the service holds open longest, in seconds. */
const longest = 60

/** Extra time for the answer of a request, in seconds, also of the one in which the timeout ends. */
const patience = 15

/** The requested part of the mail: code, link, or event id. */
interface Wanted {
  readonly code: boolean
  /** A kind of link, or any. */
  readonly link: string | undefined
}

/** The output for a matching mail. */
const valueOf = ({ event_id, extracted }: BriefEvent, { code, link }: Wanted) => {
  if (code) return extracted?.code?.value
  if (link !== undefined)
    return extracted?.links.find(({ confidence, kind }) => confidence !== "low" && (link === "any" || kind === link))
      ?.url
  return event_id
}

interface Question {
  readonly api: Service.Client
  readonly id: DomainId
  readonly query: NonNullable<Parameters<Service.Client["events"]["list"]>[0]["query"]>
  readonly wanted: Wanted
  /** Whether a mail that matches is of no use. */
  readonly skips: (event: BriefEvent) => Effect.Effect<boolean>
}

/** One query: the newest matching mail, and the mark for the next query. */
const look = Effect.fnUntraced(function* ({ api, id, query, skips, wanted }: Question) {
  const first = yield* api.events.list({ params: { id }, query })
  let page = first
  for (;;) {
    for (const event of page.events) {
      if (!("textBytes" in event)) continue
      const value = valueOf(event, wanted)
      if (value !== undefined && !(yield* skips(event)))
        return { found: { value, event }, mark: first.cursor_now, hint: undefined }
    }
    if (page.next_cursor === null) return { found: undefined, mark: first.cursor_now, hint: first.hint }
    const { wait: _, ...same } = query
    page = yield* api.events.list({ params: { id }, query: { ...same, cursor: page.next_cursor } })
  }
})

/** Says that mail of an earlier time matches, but is held. */
const holds = (api: Service.Client, id: DomainId, query: Question["query"]) =>
  api.events.list({ params: { id }, query: { ...query, trust: "held", limit: 1 } }).pipe(
    Effect.map(({ events }) =>
      events.length === 0
        ? undefined
        : "Mail came that a sender rule, the mail scanner or the loop guard holds. `inlet events list --trust held` lists it"
    ),
    Effect.catchIf(Service.isTemporary, () => Effect.succeed(undefined))
  )

/** The current mark. */
const markOf = (api: Service.Client, id: DomainId) =>
  Effect.map(api.events.list({ params: { id }, query: { limit: 1, view: "brief" } }), ({ cursor_now }) => cursor_now)

const seconds = (count: number) => `${count} second${count === 1 ? "" : "s"}`

export const command = Command.make(
  "wait",
  {
    kind: Argument.Literals("kind", kinds).pipe(
      Argument.withDescription("kind of the link, for --link"),
      Argument.optional
    ),
    code: Flag.Boolean("code").pipe(
      Flag.withDescription("Wait for a mail with a code, and print only the code"),
      Flag.withDefault(false)
    ),
    link: Flag.Literals("link", ["any", ...kinds]).pipe(
      Flag.withDescription("Wait for a mail with a link, optionally of this kind, and print only its URL"),
      Flag.withOptionalValue("any"),
      Flag.optional
    ),
    to: text("to", "Recipient. Its domain is searched"),
    from: text("from", "Address of the author. Senders can forge it"),
    fromDomain: text("from-domain", "Domain of the author, confirmed by DMARC"),
    subject: text("subject", "Words of the subject, without case"),
    domain: text("domain", "Name or id of the domain. Default that of --to, or the only one"),
    after: text("after", "Only mail after this position: a mark of --mark, or an event_id"),
    newerThan: Flag.String("newer-than").pipe(
      Flag.withDescription("Maximum age of the mail, such as 5m"),
      Flag.withSchema(EventFilters.query.newerThan.schema),
      Flag.optional
    ),
    timeout: Flag.String("timeout").pipe(
      Flag.withDescription("Timeout such as 90s or 5m, default 60s"),
      Flag.filterMap(SpanText.parse, () => "a time such as 90s or 5m"),
      Flag.withDefault(Duration.seconds(60))
    ),
    mark: Flag.Boolean("mark").pipe(
      Flag.withDescription(
        "Print the current position for --after, without waiting. Call it before you trigger the mail"
      ),
      Flag.withDefault(false)
    ),
    ...Service.flags
  },
  Effect.fn(function* ({ code, json, kind, link, mark, timeout, ...flags }) {
    const wanted = {
      code,
      link: Option.getOrUndefined(kind) ?? Option.getOrUndefined(link)
    }
    const { after, domain, from, fromDomain, newerThan, subject, to } = flags
    if (code && wanted.link !== undefined) {
      return yield* new CommandFailed({ message: "--code: Expected no --link beside it" })
    }
    if (Option.isSome(kind) && Option.isNone(link)) {
      return yield* new CommandFailed({ message: `${kind.value}: Expected --link before it` })
    }
    if (Option.isSome(after) && Option.isSome(newerThan)) {
      return yield* new CommandFailed({ message: "--after: Expected no --newer-than beside it" })
    }
    if (mark && (Option.isSome(after) || Option.isSome(newerThan))) {
      return yield* new CommandFailed({ message: "--mark: Expected neither --after nor --newer-than beside it" })
    }
    const stdio = yield* Stdio.Stdio
    const ends = (yield* Elapsed.millis) + Duration.toMillis(timeout)

    const question = Effect.fnUntraced(function* (api: Service.Client) {
      const named = Option.getOrUndefined(Option.orElse(domain, () => Option.map(to, domainOf)))
      const { id } = yield* Service.domainOrOnly(api, named)
      const now = yield* Effect.cached(markOf(api, id))
      if (mark) {
        const cursor = yield* now
        return yield* Answer.lines(json, { cursor_now: cursor }, [cursor])
      }
      const filter = {
        view: "brief" as const,
        // The first look is a list, which by itself has held mail, too.
        trust: "passed" as const,
        ...(code ? { has: "code" as const } : wanted.link === undefined ? {} : { has: "link" as const }),
        ...Given.of({ from, fromDomain, subject, recipient: to })
      }
      const began = yield* Clock.currentTimeMillis
      const printed = yield* PrintedCodes.open(id)
      const isExplicit = Option.isSome(after) || Option.isSome(newerThan)
      const skips = code && !isExplicit ? printed.has : () => Effect.succeed(false)

      // Existing mail counts only with an explicit start, or if it has a code and is fresh.
      const start = isExplicit ? Given.of({ after, newerThan }) : code ? { newerThan: `${freshSeconds}s` } : undefined
      const before =
        start === undefined
          ? { found: undefined, mark: yield* now, hint: undefined }
          : yield* look({ api, id, wanted, skips, query: { ...filter, ...start } })
      let { found, hint, mark: place } = before

      if (found === undefined && (yield* stdio.stderrIsTerminal)) {
        yield* Console.error(`Waiting for mail, at most ${Duration.format(timeout)}. Ctrl-C stops`)
      }
      let failure: string | undefined
      while (found === undefined) {
        const left = Math.ceil((ends - (yield* Elapsed.millis)) / 1_000)
        if (left <= 0) {
          const what = code ? "a code" : wanted.link === undefined ? undefined : "such a link"
          const narrowed = [to, from, fromDomain, subject].some(Option.isSome) ? " that matches" : ""
          if (failure !== undefined) hint = `The last request failed: ${failure}`
          else if (hint === undefined && start !== undefined) hint = yield* holds(api, id, { ...filter, ...start })
          return yield* new CommandFailed({
            message: `No mail${what === undefined ? "" : ` with ${what}`}${narrowed} within ${Duration.format(timeout)}${hint === undefined ? "" : `. ${hint}`}`,
            exitCode: 4
          })
        }
        const wait = Math.min(left, longest)
        const next = yield* look({ api, id, wanted, skips, query: { ...filter, after: place, wait } }).pipe(
          Effect.timeout(Duration.seconds(wait + patience)),
          // A wait from `place` misses nothing, and `ends` bounds the retries.
          Effect.catchIf(Service.isTemporary, (error) =>
            Effect.as(Effect.sleep("1 second"), { failed: ErrorOrigin.messageOf(error) })
          )
        )
        failure = "failed" in next ? next.failed : undefined
        if ("failed" in next) continue
        found = next.found
        place = next.mark
        hint = next.hint === undefined ? hint : inCommands(next.hint)
      }
      if (code && found.event.extracted?.code?.confidence === "low") {
        yield* Console.error("This code is a guess: the mail may mean another one, or a person may not see it")
      }
      const { event, value } = found
      if (!code) return yield* Answer.lines(json, { value, event }, [value])
      const received = DateTime.toEpochMillis(DateTime.makeUnsafe(event.receivedAt))
      const secondsAt = (time: number) => Math.max(0, Math.round((time - received) / 1_000))
      if (!isExplicit && secondsAt(began) > 0) {
        yield* Console.error(`This code came ${seconds(secondsAt(began))} before the command`)
      }
      yield* printed.keep(event)
      yield* Answer.lines(json, { value, age_seconds: secondsAt(yield* Clock.currentTimeMillis), event }, [value])
    })

    yield* Service.ask(flags, question).pipe(
      Effect.timeoutOrElse({
        duration: Duration.sum(timeout, Duration.seconds(patience)),
        orElse: () =>
          new CommandFailed({ message: "The service did not answer in time. Check it with GET /ready", exitCode: 4 })
      })
    )
  })
).pipe(
  Command.withDescription(
    "Wait for a mail, and print its code, link or event_id. Without --after or --newer-than only new mail counts, and codes of the last 60 seconds that were not printed yet. Exits with 4 on timeout"
  ),
  Command.provide(NodeHttpClient.layerUndici)
)

const domainOf = (address: string) => address.slice(address.lastIndexOf("@") + 1)
