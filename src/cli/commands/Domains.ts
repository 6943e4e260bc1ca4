import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { SpamAction } from "../../model/Spam.ts"
import * as Answer from "../terminal/Answer.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"
import * as Confirmation from "../terminal/Confirmation.ts"
import * as DomainFlags from "../terminal/DomainFlags.ts"
import * as DomainRow from "../terminal/DomainRow.ts"
import * as Given from "../terminal/Given.ts"
import * as Polling from "../terminal/Polling.ts"
import * as Service from "../terminal/Service.ts"

const name = Argument.String("domain").pipe(Argument.withDescription("name or id of the domain"))

const list = Command.make(
  "list",
  { ...DomainFlags.flags, ...Service.flags },
  Effect.fnUntraced(function* ({ cursor, json, limit, search, ...place }) {
    const query = Given.of({ search, limit, cursor })
    const answer = yield* Service.ask(place, (api) => api.domains.list({ query }))
    yield* Answer.table(json, answer, answer.domains.map(DomainRow.of), DomainFlags.noneFor(search))
  })
).pipe(Command.withDescription("List the domains of the workspace, newest first"))

const get = Command.make("get", { name, ...Service.flags }, ({ json, name, ...place }) =>
  Effect.flatMap(
    // By id as by name: the record of one domain has more than that of a list.
    Service.ask(place, (api) =>
      Effect.flatMap(Service.domain(api, name), ({ id }) => api.domains.get({ params: { id } }))
    ),
    (answer) => Answer.record(json, answer)
  )
).pipe(Command.withDescription("Show one domain"))

const add = Command.make(
  "add",
  {
    name: Argument.String("domain").pipe(Argument.withDescription("a domain whose DNS records you can publish")),
    ...Service.flags
  },
  Effect.fnUntraced(function* ({ json, name, ...place }) {
    const answer = yield* Service.ask(place, (api) => api.domains.create({ payload: { domain: name }, headers: {} }))
    yield* Answer.record(json, answer)
    yield* Console.error(
      answer.origin === "purchased"
        ? "The workspace has bought it. Inlet publishes its records and verifies it, within minutes"
        : `Publish the TXT record. Then: inlet domains verify ${answer.domain} --wait 10m`
    )
  })
).pipe(Command.withDescription("Add your own domain, and print the TXT record to publish"))

const verify = Command.make(
  "verify",
  { name, wait: Polling.wait, ...Service.flags },
  Effect.fnUntraced(function* ({ json, name, wait, ...place }) {
    const answer = yield* Service.ask(
      place,
      Effect.fnUntraced(function* (api) {
        const { id } = yield* Service.domain(api, name)
        const missing = (text: string) => ({ missing: text, domain: undefined })
        const question = Effect.map(api.domains.verify({ params: { id } }), (domain) => ({
          missing: undefined,
          domain
        })).pipe(Effect.catchTag("Conflict", ({ message }) => Effect.succeed(missing(message))))
        const last = yield* Polling.until(wait, question, {
          isLast: ({ missing }) => missing === undefined,
          state: ({ missing = "" }) => missing
        })
        return last.domain ?? (yield* new CommandFailed({ message: last.missing }))
      })
    )
    yield* Answer.record(json, answer)
  })
).pipe(Command.withDescription("Verify a domain by its TXT record"))

const mx = Command.make("mx", { name, ...Service.flags }, ({ json, name, ...place }) =>
  Effect.flatMap(
    Service.ask(place, (api) =>
      Effect.flatMap(Service.domain(api, name), ({ id }) => api.domains.mx({ params: { id } }))
    ),
    (answer) => {
      const { configured, observed, records } = answer
      return Answer.lines(json, answer, [
        ...records.map(({ name, priority, type, value }) => `Publish   ${name}  ${type}  ${priority} ${value}`),
        ...observed.map(({ priority, value }) => `DNS has   ${priority} ${value}`),
        configured ? "The record is published" : "DNS does not have the record yet"
      ])
    }
  )
).pipe(Command.withDescription("Show the MX record to publish, and the current ones"))

const webhook = Command.make(
  "webhook",
  {
    name,
    url: Argument.String("webhook-url").pipe(
      Argument.withDescription("URL for the events. Without one Inlet holds them"),
      Argument.optional
    ),
    none: Flag.Boolean("none").pipe(Flag.withDescription("Remove the webhook"), Flag.withDefault(false)),
    place: Service.flags
  },
  Effect.fnUntraced(function* ({ name, none, place: { json, ...place }, url }) {
    if (Option.isSome(url) === none) {
      return yield* new CommandFailed({ message: "webhook-url: Expected a URL, or --none to remove the webhook" })
    }
    const answer = yield* Service.ask(place, (api) =>
      Effect.flatMap(Service.domain(api, name), ({ id }) =>
        api.domains.delivery({ params: { id }, payload: { webhookUrl: Option.getOrNull(url) } })
      )
    )
    yield* Answer.record(json, answer)
  })
).pipe(Command.withDescription("Set or remove the webhook of a domain"))

const pull = Command.make(
  "pull",
  {
    name,
    off: Flag.Boolean("off").pipe(
      Flag.withDescription("Turn pull off, and hold mail from now on"),
      Flag.withDefault(false)
    ),
    ...Service.flags
  },
  Effect.fnUntraced(function* ({ json, name, off, ...place }) {
    const answer = yield* Service.ask(place, (api) =>
      Effect.flatMap(Service.domain(api, name), ({ id }) =>
        api.domains.delivery({ params: { id }, payload: { pull: !off } })
      )
    )
    yield* Answer.record(json, answer)
  })
).pipe(
  Command.withDescription(
    "Turn pull on: mail waits for `inlet listen --take` or another client. Requires a domain without a webhook"
  )
)

const spam = Command.make(
  "spam",
  {
    name,
    action: Argument.Literals("action", SpamAction.literals).pipe(
      Argument.withDescription("tag delivers spam and viruses with their verdict, hold waits for a release")
    ),
    ...Service.flags
  },
  Effect.fnUntraced(function* ({ action, json, name, ...place }) {
    const answer = yield* Service.ask(place, (api) =>
      Effect.flatMap(Service.domain(api, name), ({ id }) =>
        api.domains.update({ params: { id }, payload: { spam: action } })
      )
    )
    yield* Answer.record(json, answer)
  })
).pipe(Command.withDescription("Set what becomes of spam and viruses at a domain. Needs a mail scanner (MAIL_SCANNER)"))

const remove = Command.make(
  "remove",
  { name, yes: Confirmation.yes, ...Service.flags },
  Effect.fnUntraced(function* ({ json, name, yes, ...place }) {
    const removed = yield* Service.ask(
      place,
      Effect.fnUntraced(function* (api) {
        const { domain, id } = yield* Service.domain(api, name)
        yield* Confirmation.ask(yes, `Remove ${domain} with its messages, events and attempts?`)
        yield* api.domains.remove({ params: { id } })
        return { id, domain, removed: true }
      })
    )
    yield* Answer.lines(json, removed, [`Removed ${removed.domain} and its mail`])
  })
).pipe(Command.withDescription("Remove a domain with its messages, events and attempts"))

export const command = Command.make("domains").pipe(
  Command.withDescription("Domains of the workspace"),
  Command.withSubcommands([list, get, add, verify, mx, webhook, pull, spam, remove]),
  Command.provide(NodeHttpClient.layerUndici)
)
