import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { catchAll, Pattern, type Webhook, type WebhookId, type WebhookKinds } from "../../model/Webhook.ts"
import * as Answer from "../terminal/Answer.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"
import * as Confirmation from "../terminal/Confirmation.ts"
import * as Given from "../terminal/Given.ts"
import * as RawFlag from "../terminal/RawFlag.ts"
import * as Service from "../terminal/Service.ts"
import { action, description, format, kinds, signingKey, url } from "../terminal/WebhookFlags.ts"
import * as WebhookNamed from "../terminal/WebhookNamed.ts"

const domain = Argument.String("domain").pipe(Argument.withDescription("name or id of the domain"))
const which = Argument.String("webhook").pipe(
  Argument.withDescription("pattern or id of the webhook, in quotes where it has a *")
)
/** The kinds of a webhook after the flags, which name other webhooks by pattern or id. */
const kindsAfter = Effect.fnUntraced(function* (
  api: Service.Client,
  domain: Parameters<typeof WebhookNamed.find>[1],
  before: WebhookKinds,
  flags: Option.Option<Readonly<Record<string, string>>>
) {
  if (Option.isNone(flags)) return undefined
  const after: { [kind: string]: WebhookId } = { ...before }
  for (const [kind, which] of Object.entries(flags.value)) {
    if (which === "none") delete after[kind]
    else after[kind] = (yield* WebhookNamed.find(api, domain, which)).id
  }
  return after
})

const row = ({ action, failing_since, id, paused_at, pattern, webhookUrl }: Webhook) => ({
  id,
  pattern,
  action,
  url: webhookUrl ?? "-",
  state: paused_at !== null ? "paused" : failing_since !== null ? "failing" : "ok"
})

/** The webhook of a domain with this pattern or id. */
const find = Effect.fnUntraced(function* (api: Service.Client, name: string, which: string) {
  return yield* WebhookNamed.find(api, yield* Service.domain(api, name), which)
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

/** Stops before the key goes to the app: `--url` names the service, and `--to` the webhook. */
const notTheApp = ({ url }: Service.Place, webhookUrl: Option.Option<string>) =>
  Option.isNone(webhookUrl) && Option.exists(url, (text) => URL.parse(text)?.pathname !== "/")
    ? new CommandFailed({
        message: "--url is the URL of the service, where the key goes. The URL of the webhook is --to"
      })
    : Effect.void

/** The service says `webhookUrl` of the same, which is no flag. */
const besideUrl = (
  webhookUrl: Option.Option<string>,
  flags: Readonly<Record<"--format" | "--raw" | "--signing-key", Option.Option<unknown>>>
) => {
  const given = Object.entries(flags).find(([, value]) => Option.isSome(value))
  return given !== undefined && Option.isNone(webhookUrl)
    ? new CommandFailed({ message: `${given[0]}: Give --to URL with it. The URL and its format are set together` })
    : Effect.void
}

const create = Command.make(
  "create",
  {
    domain,
    pattern: Argument.String("pattern").pipe(
      Argument.withDescription("the part before the @: a name such as support, or a glob such as 'agent-*'"),
      Argument.withSchema(Pattern)
    ),
    target: Argument.String("webhook-url").pipe(
      Argument.withDescription("URL for the events, as with --to"),
      Argument.optional
    ),
    to: url,
    format,
    raw: RawFlag.flag,
    signingKey,
    action,
    description,
    kinds,
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
    kinds: flags,
    ownSecret,
    pattern,
    raw: options,
    signingKey,
    target,
    to,
    ...place
  }) {
    if (Option.isSome(target) && Option.isSome(to)) {
      return yield* new CommandFailed({
        message: "--to: The URL is already given after the pattern. Leave one of them out"
      })
    }
    const webhookUrl = Option.orElse(to, () => target)
    yield* notTheApp(place, webhookUrl)
    yield* besideUrl(webhookUrl, { "--format": format, "--signing-key": signingKey, "--raw": options })
    const raw = yield* RawFlag.read(options)
    const answer = yield* Service.ask(place, (api) =>
      Effect.gen(function* () {
        const found = yield* Service.domain(api, domain)
        const kinds = yield* kindsAfter(api, found, {}, flags)
        return yield* api.webhooks.create({
          params: { id: found.id },
          payload: {
            pattern,
            ...Given.of({ action, description, format, raw, signingKey, webhookUrl }),
            ...(kinds === undefined ? {} : { kinds }),
            ...(ownSecret ? { secret: "own" as const } : {})
          }
        })
      })
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
    raw: RawFlag.flag,
    signingKey,
    action,
    description,
    kinds,
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
    kinds: flags,
    pattern,
    raw: options,
    secret,
    signingKey,
    webhookUrl,
    which,
    ...place
  }) {
    yield* notTheApp(place, webhookUrl)
    yield* besideUrl(webhookUrl, { "--format": format, "--signing-key": signingKey, "--raw": options })
    const raw = yield* RawFlag.read(options)
    const answer = yield* Service.ask(
      place,
      Effect.fnUntraced(function* (api) {
        const found = yield* Service.domain(api, domain)
        const webhook = yield* WebhookNamed.find(api, found, which)
        const kinds = yield* kindsAfter(api, found, webhook.kinds, flags)
        return yield* api.webhooks.update({
          params: paramsOf(webhook),
          payload: {
            ...Given.of({ action, description, format, pattern, raw, secret, signingKey, webhookUrl }),
            ...(kinds === undefined ? {} : { kinds })
          }
        })
      })
    )
    const { webhook, ...made } = answer
    yield* Answer.record(json, json ? answer : { ...webhook, ...made })
  })
).pipe(Command.withDescription("Change the pattern, URL, format, action, kinds or secret of a webhook"))

const remove = Command.make(
  "remove",
  { domain, which, yes: Confirmation.yes, ...Service.flags },
  Effect.fnUntraced(function* ({ domain, json, which, yes, ...place }) {
    const removed = yield* Service.ask(
      place,
      Effect.fnUntraced(function* (api) {
        const webhook = yield* find(api, domain, which)
        yield* Confirmation.ask(yes, `Remove the webhook ${webhook.pattern}, and hold its undelivered mail?`)
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
        yield* Confirmation.ask(yes, `Replace the secret of ${webhook.pattern}? The old one signs for another day.`)
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
