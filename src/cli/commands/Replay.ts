import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { EventId } from "../../model/InboundEvent.ts"
import type { ReplayStatus } from "../../model/Replay.ts"
import * as Answer from "../terminal/Answer.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"
import * as Confirmation from "../terminal/Confirmation.ts"
import * as EventFlags from "../terminal/EventFlags.ts"
import * as Service from "../terminal/Service.ts"
import * as WebhookNamed from "../terminal/WebhookNamed.ts"
import * as ReplayMany from "./ReplayMany.ts"

const all = (status: ReplayStatus, but = "") =>
  Flag.Boolean(status).pipe(
    Flag.withDescription(`Replay all ${status} deliveries of a domain, in a job${but}`),
    Flag.withDefault(false)
  )

const text = (name: string, meaning: string) => Flag.String(name).pipe(Flag.withDescription(meaning), Flag.optional)

export const command = Command.make(
  "replay",
  {
    eventId: Argument.optional(EventFlags.eventId),
    force: Flag.Boolean("force").pipe(
      Flag.withDescription("Also replay an event that is already delivered"),
      Flag.withDefault(false)
    ),
    dead: all("dead"),
    held: all("held", ", except mail that a rule, the scanner or the loop guard holds"),
    delivered: all("delivered"),
    webhook: text("webhook", "Deliver at this webhook of the domain instead: its pattern or id"),
    domain: EventFlags.domain,
    since: text("since", "With a job: only mail received since, such as 2d or 2026-01-31"),
    until: text("until", "With a job: only mail received until then"),
    recipient: text("recipient", "With a job: only mail to this address"),
    detach: Flag.Boolean("detach").pipe(
      Flag.withDescription("With a job: print its id and do not wait for its end"),
      Flag.withDefault(false)
    ),
    yes: Confirmation.yes,
    ...Service.flags
  },
  Effect.fnUntraced(function* ({ dead, delivered, eventId, force, held, webhook, ...given }) {
    const { detach, domain, json, recipient, since, until, yes, ...place } = given
    const statuses = Object.entries({ dead, held, delivered }).flatMap(([status, isGiven]) => (isGiven ? [status] : []))
    if (statuses.length + Number(Option.isSome(eventId)) !== 1) {
      return yield* new CommandFailed({ message: "Expected an event id, or one of --dead, --held and --delivered" })
    }
    if (Option.isSome(eventId)) return yield* one(place, { eventId: eventId.value, force, webhook, json })
    const status = dead ? "dead" : held ? "held" : "delivered"
    yield* ReplayMany.run(place, { status, domain, since, until, recipient, webhook, yes, detach, json })
  })
).pipe(Command.withDescription("Deliver an event or many events again"), Command.provide(NodeHttpClient.layerUndici))

const one = Effect.fnUntraced(function* (
  place: Service.Place,
  {
    eventId,
    force,
    json,
    webhook
  }: {
    readonly eventId: EventId
    readonly force: boolean
    readonly webhook: Option.Option<string>
    readonly json: boolean
  }
) {
  const answer = yield* Service.ask(
    place,
    Effect.fnUntraced(function* (api) {
      const domain = yield* Service.domainOfEvent(api, eventId)
      const at = Option.isNone(webhook) ? {} : { webhook: (yield* WebhookNamed.find(api, domain, webhook.value)).id }
      const query = { ...(force ? { force: "true" as const } : {}), ...at }
      return yield* api.events.replay({ params: { id: domain.id, eventId }, query, headers: {} })
    })
  )
  yield* Answer.lines(json, answer, [`${answer.event_id} is sent again`])
})
