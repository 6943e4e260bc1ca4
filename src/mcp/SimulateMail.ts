import { Duration, Effect, Option, Schema } from "effect"
import { Authorization } from "../http/requests/Authorization.ts"
import { draftOf, takesMail } from "../http/simulate/SimulateHandlers.ts"
import { DataMemory } from "../intake/DataMemory.ts"
import { Invalid } from "../model/ApiError.ts"
import { SampleName } from "../simulate/Sample.ts"
import { Simulation } from "../simulate/Simulation.ts"
import * as Hold from "./Hold.ts"
import { Inboxes } from "./Inboxes.ts"
import * as Parameters from "./Parameters.ts"
import * as Tool from "./Tool.ts"

/** Timeout for reading a mail. */
const patience = Duration.seconds(10)

const body = Schema.optionalKey(
  Schema.String.check(Schema.isMaxLength(100_000, { message: "Expected at most 100000 characters" }))
)

const EventIds = Schema.fromJsonString(Schema.Struct({ event_id: Schema.String }))

export const add = Effect.gen(function* () {
  const simulation = yield* Simulation
  const inboxes = yield* Inboxes
  const memory = yield* DataMemory
  const held = yield* Hold.make

  yield* Tool.add({
    name: "simulate_mail",
    description:
      "Receive a test mail without sending one: a sample, or your own text. It is delivered like other mail.",
    changes: true,
    parameters: {
      sample: Schema.optionalKey(SampleName),
      to: Parameters.to,
      from: Parameters.author,
      subject: Parameters.heading,
      text: body,
      html: body
    },
    answer: Effect.fnUntraced(function* ({ from, to, ...mail }, workspace) {
      if (workspace.scope === "read") return yield* Authorization.refusal("simulate_mail")
      if (mail.sample !== undefined && (mail.text !== undefined || mail.html !== undefined)) {
        return yield* new Invalid({ message: "sample: Expected it, or text and html, because a sample has its own" })
      }
      const { domain, recipient } = yield* inboxes.of(workspace, to)
      yield* takesMail(domain)
      const inbox = { domainId: domain.id, domain: domain.domain }
      const share = yield* Effect.acquireRelease(
        Effect.sync(() => memory.enter(workspace.id)),
        (share) => Effect.sync(() => share.leave())
      )
      const draft = draftOf(mail, from)
      // The slot comes first: a mail that is stored can't be refused, and a repeated call would store another.
      return yield* held(
        workspace,
        Effect.gen(function* () {
          const message = yield* simulation.compose(inbox, draft, { recipient, reserve: share.take })
          const id = yield* simulation.receive(inbox, {
            message,
            recipient,
            from: from ?? draft("").returnPath,
            keep: share.keep
          })
          const events = yield* Effect.catch(simulation.events(inbox, id, patience), () => Effect.succeedNone)
          const [event] = Option.getOrElse(events, () => [])
          if (event === undefined) {
            return { inbound_email_id: id, next: "Stored, but not parsed yet. Call list_mail in a few seconds" }
          }
          const { event_id } = yield* Effect.orDie(Schema.decodeEffect(EventIds)(event))
          return { event_id }
        })
      )
    })
  })
})
