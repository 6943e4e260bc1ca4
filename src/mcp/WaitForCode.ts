import { Clock, DateTime, Duration, Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import * as BriefEvent from "../events/BriefEvent.ts"
import { Events } from "../events/Events.ts"
import { AnswerRoom } from "../http/answers/AnswerRoom.ts"
import * as EventFilters from "../http/events/EventFilters.ts"
import { LimitedCursors } from "../http/requests/LimitedCursors.ts"
import { takingMail } from "../model/Domain.ts"
import * as Elapsed from "../schedule/Elapsed.ts"
import * as GivenCodes from "../workspaces/GivenCodes.ts"
import * as BriefMail from "./BriefMail.ts"
import { ClientSession } from "./ClientSession.ts"
import { nextStep } from "./GetInboxes.ts"
import * as Hold from "./Hold.ts"
import { Inboxes } from "./Inboxes.ts"
import * as InVain from "./InVain.ts"
import * as Parameters from "./Parameters.ts"
import * as Tool from "./Tool.ts"

export const add = Effect.gen(function* () {
  const events = yield* Events
  const inboxes = yield* Inboxes
  const room = yield* AnswerRoom
  const held = yield* Hold.make
  const inVain = yield* InVain.make
  const cursors = yield* LimitedCursors
  const given = GivenCodes.make(yield* SqlClient.SqlClient)

  yield* Tool.add({
    name: "wait_for_code",
    description: `Wait for a mail with a one-time code. Returns the code and its age. Call it after you asked for the code: mail of the last ${GivenCodes.freshSeconds} seconds counts, and no code is returned twice in a session. With after, only mail after that position counts.`,
    filters: true,
    parameters: {
      to: Parameters.to,
      from_domain: Parameters.fromDomain,
      after: Parameters.after,
      seconds: Parameters.seconds
    },
    answer: Effect.fnUntraced(function* (
      { after: mark, from_domain, seconds = Parameters.usualSeconds, to },
      workspace
    ) {
      const { domain, only, recipient } = yield* inboxes.of(workspace, to)
      const after = yield* cursors.open(workspace, mark)
      const session = yield* ClientSession
      const narrowed = yield* EventFilters.toFilter({
        ...(after === undefined ? { newerThan: `${GivenCodes.freshSeconds}s` } : {}),
        ...(from_domain === undefined ? {} : { fromDomain: from_domain })
      })
      const newTo = after === undefined && session !== null ? session : undefined
      const filter = { ...narrowed, trust: "passed" as const, has: "code" as const, recipient, only, after, newTo }
      const canCome = takingMail.includes(domain.status)
      const began = yield* DateTime.now
      const ends = (yield* Elapsed.millis) + seconds * 1_000

      const next = Effect.gen(function* () {
        for (;;) {
          const left = Math.max(0, ends - (yield* Elapsed.millis))
          const time = Duration.millis(left)
          const page = yield* events.wait(domain.id, filter, { limit: 1, order: "desc", time, canCome })
          yield* room.reserve(page.items.reduce((sum, { bytes }) => sum + bytes, 0))
          const [found] = yield* Stream.runCollect(events.payloads(domain.id, page.items))
          if (found === undefined) return undefined
          const isFirst = session === null || (yield* given.note(session, found.id))
          // Otherwise another call of the session was given this code meanwhile.
          if (isFirst || newTo === undefined) return found
        }
      })
      const found = yield* held(workspace, next)
      if (found === undefined) {
        return {
          timed_out: true,
          ...(yield* inVain(domain, filter, began)),
          next: nextStep(domain, workspace) ?? "Call again, ask for another code, or see with list_mail what arrived"
        }
      }
      const {
        authentication,
        event_id,
        extracted,
        from,
        receivedAt,
        recipient: address
      } = BriefEvent.of(found.payload, found.delivery.status)
      const now = yield* Clock.currentTimeMillis
      return {
        code: extracted?.code?.value,
        confidence: extracted?.code?.confidence,
        to: BriefMail.shortAddress(address),
        from: BriefMail.shortAddress(from),
        dmarc: authentication.dmarc,
        age_seconds: Math.max(0, Math.round((now - DateTime.toEpochMillis(DateTime.makeUnsafe(receivedAt))) / 1_000)),
        event_id
      }
    })
  })
})
