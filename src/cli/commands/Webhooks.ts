import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { catchAll, Pattern, type Webhook, WebhookAction } from "../../model/Webhook.ts"
import * as Answer from "../terminal/Answer.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"
import * as Confirmation from "../terminal/Confirmation.ts"
import * as Given from "../terminal/Given.ts"
import * as Service from "../terminal/Service.ts"

const domain = Argument.String("domain").pipe(Argument.withDescription("name or id of the domain"))
const which = Argument.String("webhook").pipe(
  Argument.withDescription("pattern or id of the webhook, in quotes where it has a *")
)
const action = Flag.Literals("action", WebhookAction.literals).pipe(
  Flag.withDescription(
    "webhook posts events to --to, pull keeps them for `inlet listen --take`, hold keeps them, reject answers 550"
  ),
  Flag.optional
)
const url = Flag.String("to").pipe(
  Flag.withDescription("URL for the events, with user name and password where the format takes them"),
  Flag.optional
)
const format = Flag.String("format").pipe(
  Flag.withDescription("beside --to: inlet, raw, mailgun, postmark, sendgrid or sendgrid-raw"),
  Flag.optional
)
const signingKey = Flag.String("signing-key").pipe(
  Flag.withDescription("beside --to: the key of a receiver for mailgun. Without it Inlet makes one and prints it once"),
  Flag.optional
)
const description = Flag.String("description").pipe(
  Flag.withDescription("for people, up to 200 characters"),
  Flag.optional
)

const row = ({ action, failing_since, id, paused_at, pattern, webhookUrl }: Webhook) => ({
  id,
  pattern,
  action,
  url: webhookUrl ?? "-",
  state: paused_at !== null ? "paused" : failing_since !== null ? "failing" : "ok"
})

type Client = Effect.Success<ReturnType<typeof Service.connect>>

/** The webhook of a domain with this pattern or id. */
const find = Effect.fnUntraced(function* (api: Client, name: string, which: string) {
  const { domain, id } = yield* Service.domain(api, name)
  const { webhooks } = yield* api.webhooks.list({ params: { id } })
  const webhook = webhooks.find((one) => one.id === which || one.pattern === which.toLowerCase())
  if (webhook !== undefined) return webhook
  return yield* new CommandFailed({
    message: `No webhook ${which} in ${domain}: \`inlet webhooks list ${domain}\` shows them`
  })
})

const paramsOf = ({ domain_id, id }: Webhook) => ({ id: domain_id, webhookId: id })

const list = Command.make(
  "list",
  { domain, ...Service.flags },
  Effect.fnUntraced(function* ({ domain, json, ...place }) {
    const answer = yield* Service.ask(place, (api) =>
      Effect.flatMap(Service.domain(api, domain), ({ id }) => api.webhooks.list({ params: { id } }))
    )
    yield* Answer.table(json, answer, answer.webhooks.map(row), "No webhooks")
  })
).pipe(Command.withDescription("List the webhooks of a domain in the order in which they count"))

const create = Command.make(
  "create",
  {
    domain,
    pattern: Argument.String("pattern").pipe(
      Argument.withDescription("the part before the @: a name such as support, or a glob such as 'agent-*'"),
      Argument.withSchema(Pattern)
    ),
    webhookUrl: url,
    format,
    signingKey,
    action,
    description,
    ownSecret: Flag.Boolean("own-secret").pipe(
      Flag.withDescription("Sign with a secret of its own, which is printed once"),
      Flag.withDefault(false)
    ),
    ...Service.flags
  },
  Effect.fnUntraced(function* ({
    action,
    description,
    domain,
    format,
    json,
    ownSecret,
    pattern,
    signingKey,
    webhookUrl,
    ...place
  }) {
    const answer = yield* Service.ask(place, (api) =>
      Effect.flatMap(Service.domain(api, domain), ({ id }) =>
        api.webhooks.create({
          params: { id },
          payload: {
            pattern,
            ...Given.of({ action, description, format, signingKey, webhookUrl }),
            ...(ownSecret ? { secret: "own" as const } : {})
          }
        })
      )
    )
    const { webhook, ...secret } = answer
    yield* Answer.record(json, json ? answer : { ...webhook, ...secret })
  })
).pipe(Command.withDescription("Send mail for some addresses of a domain elsewhere, hold it, or reject it"))

const update = Command.make(
  "update",
  {
    domain,
    which,
    pattern: Flag.String("pattern").pipe(
      Flag.withDescription("another pattern, for mail from now on"),
      Flag.withSchema(Pattern),
      Flag.optional
    ),
    webhookUrl: url,
    format,
    signingKey,
    action,
    description,
    secret: Flag.Literals("secret", ["own", "workspace"]).pipe(
      Flag.withDescription("own makes a secret for this webhook, which is printed once"),
      Flag.optional
    ),
    ...Service.flags
  },
  Effect.fnUntraced(function* ({
    action,
    description,
    domain,
    format,
    json,
    pattern,
    secret,
    signingKey,
    webhookUrl,
    which,
    ...place
  }) {
    const answer = yield* Service.ask(
      place,
      Effect.fnUntraced(function* (api) {
        const params = paramsOf(yield* find(api, domain, which))
        return yield* api.webhooks.update({
          params,
          payload: Given.of({ action, description, format, pattern, secret, signingKey, webhookUrl })
        })
      })
    )
    const { webhook, ...made } = answer
    yield* Answer.record(json, json ? answer : { ...webhook, ...made })
  })
).pipe(Command.withDescription("Change the pattern, URL, format, action or secret of a webhook"))

const remove = Command.make(
  "remove",
  { domain, which, yes: Confirmation.yes, ...Service.flags },
  Effect.fnUntraced(function* ({ domain, json, which, yes, ...place }) {
    const removed = yield* Service.ask(
      place,
      Effect.fnUntraced(function* (api) {
        const webhook = yield* find(api, domain, which)
        yield* Confirmation.ask(yes, `Remove the webhook ${webhook.pattern}, and hold its undelivered mail`)
        yield* api.webhooks.remove({ params: paramsOf(webhook) })
        return { id: webhook.id, pattern: webhook.pattern, removed: true }
      })
    )
    yield* Answer.lines(json, removed, [`Removed the webhook ${removed.pattern}. Its undelivered mail is held`])
  })
).pipe(Command.withDescription("Remove a webhook, and hold its undelivered mail"))

const match = Command.make(
  "match",
  { address: Argument.String("address").pipe(Argument.withDescription("an address of a domain")), ...Service.flags },
  Effect.fnUntraced(function* ({ address, json, ...place }) {
    const answer = yield* Service.ask(place, (api) =>
      Effect.flatMap(Service.domain(api, address.slice(address.lastIndexOf("@") + 1)), ({ id }) =>
        api.webhooks.match({ params: { id }, query: { recipient: address } })
      )
    )
    const { others, webhook } = answer
    yield* Answer.lines(json, answer, [
      `${webhook.pattern} takes it: ${webhook.action}${webhook.webhookUrl === null ? "" : ` to ${webhook.webhookUrl}`}`,
      ...others.map(({ reason }) => `  ${reason}`)
    ])
  })
).pipe(Command.withDescription("Show which webhook takes an address, and why the others do not"))

const test = Command.make(
  "test",
  { domain, which: which.pipe(Argument.withDefault(catchAll)), ...Service.flags },
  Effect.fnUntraced(function* ({ domain, json, which, ...place }) {
    const answer = yield* Service.ask(
      place,
      Effect.fnUntraced(function* (api) {
        return yield* api.webhooks.test({ params: paramsOf(yield* find(api, domain, which)) })
      })
    )
    const { durationMs, error, ok, statusCode } = answer
    yield* Answer.lines(json, answer, [
      ok ? `The webhook answered ${statusCode} after ${durationMs} ms` : (error ?? "The webhook did not answer 2xx")
    ])
    if (!ok) return yield* new CommandFailed({ message: "The test failed" })
  })
).pipe(Command.withDescription("Send a signed sample to a webhook, and print its answer"))

const rotateSecret = Command.make(
  "rotate-secret",
  { domain, which, yes: Confirmation.yes, ...Service.flags },
  Effect.fnUntraced(function* ({ domain, json, which, yes, ...place }) {
    const answer = yield* Service.ask(
      place,
      Effect.fnUntraced(function* (api) {
        const webhook = yield* find(api, domain, which)
        yield* Confirmation.ask(yes, `Replace the secret of ${webhook.pattern}? The old one signs for another day`)
        return yield* api.webhooks.rotateSecret({ params: paramsOf(webhook) })
      })
    )
    yield* Answer.record(json, answer)
  })
).pipe(Command.withDescription("Replace a webhook's own secret. The old one also signs for 24 hours"))

export const command = Command.make("webhooks").pipe(
  Command.withDescription("Where mail of a domain goes, by the part of the address before the @"),
  Command.withSubcommands([list, create, update, remove, match, test, rotateSecret]),
  Command.provide(NodeHttpClient.layerUndici)
)
