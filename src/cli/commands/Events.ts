import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Option, Stdio, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as EventFilters from "../../http/events/EventFilters.ts"
import { kinds } from "../../model/KindNames.ts"
import { WebhookId } from "../../model/Webhook.ts"
import * as Answer from "../terminal/Answer.ts"
import * as EventFlags from "../terminal/EventFlags.ts"
import * as Given from "../terminal/Given.ts"
import * as PastTime from "../terminal/PastTime.ts"
import * as Service from "../terminal/Service.ts"

/** As in `MAIL FROM:<>`, for mail without an author. */
const nullSender = "<>"

const text = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

const filters = {
  to: text("to", "Recipient"),
  from: text("from", "Address of the author"),
  fromDomain: text("from-domain", "Domain of the author, confirmed by DMARC"),
  subject: text("subject", "Words of the subject, without case"),
  tag: text("tag", "Part after the first + of the recipient"),
  thread: text("thread", "Only this threadId"),
  newerThan: Flag.String("newer-than").pipe(
    Flag.withDescription("Maximum age, such as 5m"),
    Flag.withSchema(EventFilters.query.newerThan.schema),
    Flag.optional
  ),
  has: Flag.Literals("has", ["code", "link", "attachment"]).pipe(
    Flag.withDescription("Only events with this"),
    Flag.optional
  ),
  sender: Flag.Literals("sender", ["person", "list", "auto", "bounce"]).pipe(
    Flag.withDescription("Kind of sender"),
    Flag.optional
  ),
  kind: Flag.Literals("kind", kinds).pipe(Flag.withDescription("Kind of mail"), Flag.optional),
  spam: Flag.Literals("spam", ["clean", "spam", "virus", "unknown"]).pipe(
    Flag.withDescription("Verdict of the mail scanner"),
    Flag.optional
  ),
  trust: Flag.Literals("trust", ["passed", "held", "all"]).pipe(
    Flag.withDescription("What the sender rules, the scanner and the loop guard say. By default all"),
    Flag.optional
  ),
  delivery: Flag.Literals("delivery", ["pending", "delivered", "dead", "held"]).pipe(
    Flag.withDescription("State of the delivery"),
    Flag.optional
  ),
  webhook: Flag.String("webhook").pipe(
    Flag.withDescription("id of the webhook that delivers the event"),
    Flag.withSchema(WebhookId),
    Flag.optional
  ),
  after: text("after", "Only events after this position: a mark of `inlet wait --mark`, or an event_id"),
  order: Flag.Literals("order", ["asc", "desc"]).pipe(
    Flag.withDescription("desc for newest first (default), or asc"),
    Flag.optional
  )
}

const list = Command.make(
  "list",
  {
    domain: Flag.String("domain").pipe(
      Flag.withDescription("Name or id of the domain, default all. --after and --order need one"),
      Flag.optional
    ),
    limit: EventFlags.limit,
    cursor: EventFlags.cursor,
    full: Flag.Boolean("full").pipe(Flag.withDescription("With --json: print whole events"), Flag.withDefault(false)),
    since: text("since", "Received since, as a duration such as 2d, or a time"),
    until: text("until", "Received until, as a duration such as 1h, or a time"),
    ...filters,
    ...Service.flags
  },
  Effect.fnUntraced(function* ({ domain, full, json, key, profile, since, to, until, url, ...query }) {
    const times = { ...(yield* PastTime.query("since", since)), ...(yield* PastTime.query("until", until)) }
    const answer = yield* Service.ask(
      { key, profile, url },
      Effect.fnUntraced(function* (api) {
        const view = full && json ? {} : { view: "brief" as const }
        const { after, order, ...filters } = query
        // Positions and orders belong to one domain.
        if (Option.isNone(domain) && Option.isNone(after) && Option.isNone(order)) {
          return yield* api.events.listAll({ query: { ...Given.of({ ...filters, recipient: to }), ...times, ...view } })
        }
        const { id } = yield* Service.domainOrOnly(api, Option.getOrUndefined(domain))
        return yield* api.events.list({
          params: { id },
          query: { ...Given.of({ ...query, recipient: to }), ...times, ...view }
        })
      })
    )
    const rows = answer.events.map(({ delivery, event_id, from, receivedAt, recipient, subject }) => ({
      event_id,
      received: receivedAt,
      delivery: typeof delivery === "string" ? delivery : delivery.status,
      to: recipient,
      from: from || nullSender,
      subject
    }))
    yield* Answer.table(json, answer, rows, "No such events")
  })
).pipe(Command.withDescription("List events of a domain or of all, newest first"))

const get = Command.make("get", { eventId: EventFlags.eventId, ...Service.flags }, ({ eventId, json, ...place }) =>
  Effect.flatMap(
    Service.ask(place, (api) =>
      Effect.flatMap(Service.domainOfEvent(api, eventId), ({ id }) => api.events.get({ params: { id, eventId } }))
    ),
    (answer) => Answer.record(json, answer)
  )
).pipe(Command.withDescription("Show one event"))

const attachment = Command.make(
  "attachment",
  {
    eventId: EventFlags.eventId,
    index: Argument.Int("index").pipe(Argument.withDescription("index of the attachment in the event")),
    ...Service.place
  },
  Effect.fnUntraced(function* ({ eventId, index, ...place }) {
    const stdio = yield* Stdio.Stdio
    yield* Service.ask(
      place,
      Effect.fnUntraced(function* (api) {
        const { id } = yield* Service.domainOfEvent(api, eventId)
        const content = yield* api.events.attachment({ params: { id, eventId, index } })
        yield* Stream.run(content, stdio.stdout({ endOnDone: false }))
      })
    )
  })
).pipe(Command.withDescription("Print the bytes of an attachment"))

export const command = Command.make("events").pipe(
  Command.withDescription("Received mail"),
  Command.withSubcommands([list, get, attachment]),
  Command.provide(NodeHttpClient.layerUndici)
)
