import { Clock, DateTime, Duration, Effect, Stream } from "effect"
import * as BriefEvent from "../events/BriefEvent.ts"
import { Events } from "../events/Events.ts"
import { AnswerRoom } from "../http/answers/AnswerRoom.ts"
import * as EventFilters from "../http/events/EventFilters.ts"
import { Refusals } from "../refusals/Refusals.ts"
import * as BriefMail from "./BriefMail.ts"
import * as Hold from "./Hold.ts"
import { Inboxes } from "./Inboxes.ts"
import * as Parameters from "./Parameters.ts"
import * as Tool from "./Tool.ts"

export const add = Effect.gen(function* () {
  const events = yield* Events
  const inboxes = yield* Inboxes
  const room = yield* AnswerRoom
  const held = yield* Hold.make
  const refusals = yield* Refusals

  yield* Tool.add({
    name: "wait_for_code",
    description:
      "Wait for a mail with a one-time code, and get the code alone. Call it after you asked for the code; for a second one set newer_than to 30s.",
    parameters: {
      to: Parameters.to,
      from_domain: Parameters.fromDomain,
      newer_than: Parameters.newerThan,
      seconds: Parameters.seconds
    },
    answer: Effect.fnUntraced(function* (
      { from_domain, newer_than = Parameters.usualAge, seconds = Parameters.usualSeconds, to },
      workspace
    ) {
      const { domain, recipient } = yield* inboxes.of(workspace.id, to)
      const narrowed = yield* EventFilters.toFilter({
        newerThan: newer_than,
        ...(from_domain === undefined ? {} : { fromDomain: from_domain })
      })
      const filter = { ...narrowed, has: "code" as const, recipient }
      const began = yield* DateTime.now
      const page = yield* held(
        workspace,
        events.wait(domain.id, filter, { limit: 1, order: "desc", time: Duration.seconds(seconds) })
      )
      yield* room.reserve(page.items.reduce((sum, { bytes }) => sum + bytes, 0))
      const found = yield* Stream.runHead(events.payloads(domain.id, page.items))
      if (found._tag === "None") {
        const refused = yield* refusals.during(domain, began)
        return {
          timed_out: true,
          refused: refused ?? undefined,
          next: "Call again, ask for another code, or look what came with list_mail"
        }
      }
      const { authentication, event_id, extracted, from, receivedAt } = BriefEvent.of(
        found.value.payload,
        found.value.delivery.status
      )
      const now = yield* Clock.currentTimeMillis
      return {
        code: extracted?.code?.value,
        confidence: extracted?.code?.confidence,
        from: BriefMail.shortAddress(from),
        dmarc: authentication.dmarc,
        age_seconds: Math.max(0, Math.round((now - DateTime.toEpochMillis(DateTime.makeUnsafe(receivedAt))) / 1_000)),
        event_id
      }
    })
  })
})
