import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Option, Struct } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { SenderMatch, type SenderRule } from "../../model/SenderRule.ts"
import * as Answer from "../terminal/Answer.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"
import * as Confirmation from "../terminal/Confirmation.ts"
import * as EventFlags from "../terminal/EventFlags.ts"
import * as Given from "../terminal/Given.ts"
import * as Service from "../terminal/Service.ts"
import * as WebhookNamed from "../terminal/WebhookNamed.ts"

const domain = Argument.String("domain").pipe(Argument.withDescription("name or id of the domain"))

const row = ({ action, id, list, match, note, value, webhook_id }: SenderRule) => ({
  id,
  list,
  match,
  value,
  // What becomes of blocked mail. An allow rule has none.
  action: list === "allow" ? "-" : action,
  webhook: webhook_id ?? "-",
  note: note ?? "-"
})

const list = Command.make(
  "list",
  { domain, ...Service.flags },
  Effect.fnUntraced(function* ({ domain, json, ...place }) {
    const answer = yield* Service.ask(place, (api) =>
      Effect.flatMap(Service.domain(api, domain), ({ id }) => api.senderRules.list({ params: { id } }))
    )
    yield* Answer.table(json, answer, answer.sender_rules.map(row), "No sender rules: every sender passes")
  })
).pipe(Command.withDescription("List who may write to a domain"))

const create = (list: "allow" | "block", meaning: string) =>
  Command.make(
    list,
    {
      domain,
      value: Argument.String("sender").pipe(
        Argument.withDescription("an address, a domain, '*.example.com', or a network beside --match network")
      ),
      match: Flag.Literals("match", SenderMatch.literals).pipe(
        Flag.withDescription("author (the From address, the default), envelope (the address of MAIL) or network"),
        Flag.optional
      ),
      webhook: Flag.String("webhook").pipe(
        Flag.withDescription("pattern or id of the webhook whose addresses it is about. By default all of the domain"),
        Flag.optional
      ),
      reject: Flag.Boolean("reject").pipe(
        Flag.withDescription("for block, beside --match envelope or network: answer 550 in place of holding the mail"),
        Flag.withDefault(false)
      ),
      note: Flag.String("note").pipe(Flag.withDescription("for people, up to 200 characters"), Flag.optional),
      ...Service.flags
    },
    Effect.fnUntraced(function* ({ domain, json, match, note, reject, value, webhook, ...place }) {
      const rule = yield* Service.ask(
        place,
        Effect.fnUntraced(function* (api) {
          const owner = yield* Service.domain(api, domain)
          const { id } = owner
          const named = Option.isNone(webhook) ? undefined : yield* WebhookNamed.find(api, owner, webhook.value)
          return yield* api.senderRules.create({
            params: { id },
            payload: {
              list,
              value,
              ...Given.of({ match, note }),
              ...(reject ? { action: "reject" as const } : {}),
              ...(named === undefined ? {} : { webhook_id: named.id })
            }
          })
        })
      )
      // What becomes of blocked mail.
      yield* Answer.record(json, list === "allow" && !json ? Struct.omit(rule, ["action"]) : rule)
    })
  ).pipe(Command.withDescription(meaning))

const remove = Command.make(
  "remove",
  {
    domain,
    which: Argument.String("rule").pipe(
      Argument.withDescription("id of the rule, or its sender if no other rule has it")
    ),
    yes: Confirmation.yes,
    ...Service.flags
  },
  Effect.fnUntraced(function* ({ domain, json, which, yes, ...place }) {
    const id = yield* Service.ask(
      place,
      Effect.fnUntraced(function* (api) {
        const { domain: name, id } = yield* Service.domain(api, domain)
        const { sender_rules: rules } = yield* api.senderRules.list({ params: { id } })
        const wanted = which.toLowerCase()
        const [rule, other] = rules.filter((one) => one.id === wanted || one.value === wanted)
        if (rule === undefined || other !== undefined) {
          return yield* new CommandFailed({
            message: `${other === undefined ? "No rule" : "More than one rule is"} ${which} in ${name}: \`inlet senders list ${name}\` shows the ids`
          })
        }
        yield* Confirmation.ask(yes, `Remove the rule that ${rule.list}s ${rule.value}?`)
        yield* api.senderRules.remove({ params: { id, ruleId: rule.id } })
        return rule.id
      })
    )
    yield* Answer.lines(json, { id }, ["Removed the rule. Mail that it held stays held"])
  })
).pipe(Command.withDescription("Remove a rule. Mail that it held stays held"))

const release = Command.make(
  "release",
  {
    domain,
    eventId: EventFlags.eventId,
    allow: Flag.Boolean("allow").pipe(
      Flag.withDescription("Also allow its author from now on, for mail held as sender_not_allowed"),
      Flag.withDefault(false)
    ),
    ...Service.flags
  },
  Effect.fnUntraced(function* ({ allow, domain, eventId, json, ...place }) {
    const answer = yield* Service.ask(place, (api) =>
      Effect.flatMap(Service.domain(api, domain), ({ id }) =>
        api.senderRules.release({ params: { id, eventId }, payload: { allow } })
      )
    )
    const { delivery, sender_rule } = answer
    yield* Answer.lines(json, answer, [
      delivery.status === "held" ? "Released. Its webhook holds it" : "Released. Its delivery is due",
      ...(sender_rule === null ? [] : [`${sender_rule.value} is allowed from now on`])
    ])
  })
).pipe(Command.withDescription("Deliver mail that a sender rule, the mail scanner or the loop guard holds"))

export const command = Command.make("senders").pipe(
  Command.withDescription("Say who may write to a domain, and release mail that waits for a decision"),
  Command.withSubcommands([
    list,
    create("allow", "Allow a sender. From the first one on, only allowed senders pass"),
    create("block", "Block a sender, whatever is allowed"),
    remove,
    release
  ]),
  Command.provide(NodeHttpClient.layerUndici)
)
