import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Console, Duration, Effect, FileSystem, Option } from "effect"
import { Command, Flag } from "effect/cli"
import type { Delivery } from "../../model/Delivery.ts"
import type { DomainName } from "../../model/Domain.ts"
import { Authentication, type EventId } from "../../model/InboundEvent.ts"
import type { HoldReason } from "../../model/Trust.ts"
import { SampleName } from "../../simulate/Sample.ts"
import * as Answer from "../terminal/Answer.ts"
import { CommandFailed } from "../terminal/CommandFailed.ts"
import * as EventFlags from "../terminal/EventFlags.ts"
import * as Given from "../terminal/Given.ts"
import * as Service from "../terminal/Service.ts"
import * as SpanText from "../terminal/SpanText.ts"

const text = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

export const command = Command.make(
  "simulate",
  {
    domain: EventFlags.domain,
    to: text("to", "Recipient at the domain, default inbox@"),
    from: text("from", "Sender, such as ada@example.com or `Ada <ada@example.com>`"),
    sample: Flag.Literals("sample", SampleName.literals).pipe(
      Flag.withDescription("A sample mail. Default code, without other flags"),
      Flag.optional
    ),
    subject: text("subject", "Subject of the mail"),
    text: text("text", "Text of the mail"),
    dmarc: Flag.Literals("dmarc", Authentication.fields.dmarc.literals).pipe(
      Flag.withDescription("DMARC verdict, pass if the author is confirmed. Default none"),
      Flag.optional
    ),
    file: Flag.File("file", { mustExist: true }).pipe(
      Flag.withDescription("File with a whole message, such as mail.eml. Excludes the other flags"),
      Flag.optional
    ),
    wait: Flag.String("wait").pipe(
      Flag.withDescription("Time to wait for the event, up to 60s, default 10s. Exits with 4 on timeout"),
      Flag.filterMap(SpanText.parse, () => "a time such as 10s"),
      Flag.filter(
        (time) => Duration.toSeconds(time) <= 60,
        () => "a time up to 60s"
      ),
      Flag.withDefault(Duration.seconds(10))
    ),
    ...Service.flags
  },
  Effect.fn(function* ({ dmarc, domain, file, from, json, sample, subject, text, to, wait, ...place }) {
    const words = Given.of({ sample, subject, text })
    const verdicts = Given.of({ authentication: Option.map(dmarc, (dmarc) => ({ dmarc })) })
    if (Option.isSome(file) && Object.keys(words).length > 0) {
      return yield* new CommandFailed({
        message: "--file: Expected no --sample, --subject, --text or --dmarc beside it"
      })
    }
    if (Option.isSome(file) && Option.isSome(dmarc)) {
      return yield* new CommandFailed({
        message:
          "--dmarc: Expected no --file beside it, because a whole message always has the verdict none. Give --from, --subject and --text instead of --file"
      })
    }
    const fs = yield* FileSystem.FileSystem
    const payload = Option.isSome(file)
      ? { message: yield* fs.readFile(file.value) }
      : { ...(Object.keys(words).length === 0 ? { sample: "code" as const } : words), ...verdicts }
    const seconds = Math.ceil(Duration.toSeconds(wait))
    const { answer, held } = yield* Service.ask(
      place,
      Effect.fnUntraced(function* (api) {
        const { domain: name, id } = yield* Service.domainOrOnly(
          api,
          Option.getOrUndefined(Option.orElse(domain, () => Option.map(to, domainOf)))
        )
        const answer = yield* api.simulate.simulate({
          params: { id },
          query: { wait: seconds, ...Given.of({ from, recipient: to }) },
          headers: {},
          payload
        })
        const events = "events" in answer ? answer.events.filter(({ delivery }) => delivery === "held") : []
        const held = yield* Effect.forEach(json ? [] : events, ({ event_id: eventId }) =>
          Effect.map(api.events.get({ params: { id, eventId } }), ({ delivery }) =>
            heldBecause(delivery, name, eventId)
          ).pipe(Effect.option)
        )
        return { answer, held: held.flatMap(Option.toArray) }
      })
    )
    if ("events" in answer) {
      yield* Answer.lines(
        json,
        answer,
        answer.events.map(({ event_id }) => event_id)
      )
      return yield* Effect.forEach(held, (line) => Console.error(line), { discard: true })
    }
    const { inbound_email_id } = answer
    if (seconds === 0) return yield* Answer.lines(json, answer, [inbound_email_id])
    return yield* new CommandFailed({
      message: `The mail is stored, but has no event after ${Duration.format(wait)}: inbound_email_id ${inbound_email_id}`,
      exitCode: 4
    })
  })
).pipe(
  Command.withDescription("Simulate an incoming mail, and print the event_id"),
  Command.provide(NodeHttpClient.layerUndici)
)

const because: { readonly [Reason in HoldReason]: string } = {
  sender_not_allowed: "no sender rule allows it",
  sender_blocked: "a sender rule blocks it",
  mail_loop: "its author sent too many answers to this address in an hour",
  spam: "the mail scanner calls it spam",
  virus: "the mail scanner found a virus"
}

/** Why a mail that is not delivered is held, and which command delivers it. */
const heldBecause = ({ reason }: Delivery, domain: DomainName, id: EventId) =>
  reason === undefined
    ? `Held, because no webhook takes it, or its webhook holds mail. Set one with \`inlet domains webhook ${domain} URL\`, then \`inlet replay ${id}\` delivers it, or to another webhook with --webhook ID`
    : `Held, because ${because[reason]}. \`inlet senders release ${domain} ${id}\` delivers it`

const domainOf = (address: string) => address.slice(address.lastIndexOf("@") + 1)
