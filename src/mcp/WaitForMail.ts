import { DateTime, Duration, Effect } from "effect"
import { Events } from "../events/Events.ts"
import { AnswerRoom } from "../http/answers/AnswerRoom.ts"
import * as EventFilters from "../http/events/EventFilters.ts"
import { LimitedCursors } from "../http/requests/LimitedCursors.ts"
import { takingMail } from "../model/Domain.ts"
import { nextStep } from "./GetInboxes.ts"
import * as Hold from "./Hold.ts"
import { Inboxes } from "./Inboxes.ts"
import * as InVain from "./InVain.ts"
import * as MailList from "./MailList.ts"
import * as Parameters from "./Parameters.ts"
import * as Tool from "./Tool.ts"

/** The maximum mails in an answer. */
const most = 10

export const add = Effect.gen(function* () {
  const events = yield* Events
  const inboxes = yield* Inboxes
  const room = yield* AnswerRoom
  const held = yield* Hold.make
  const inVain = yield* InVain.make
  const cursors = yield* LimitedCursors

  yield* Tool.add({
    name: "wait_for_mail",
    description:
      "Wait for a mail. Returns it in brief, with its code or best link. Without after, mail of the last 5 minutes counts. With the cursor of the previous answer as after, only later mail counts.",
    filters: true,
    parameters: {
      to: Parameters.to,
      from: Parameters.from,
      subject: Parameters.subject,
      has: Parameters.has,
      after: Parameters.after,
      held: Parameters.held,
      seconds: Parameters.seconds
    },
    answer: Effect.fnUntraced(function* (
      { after: given, held: withHeld, seconds = Parameters.usualSeconds, to, ...narrowed },
      workspace
    ) {
      const { domain, only, recipient } = yield* inboxes.of(workspace, to)
      const after = yield* cursors.open(workspace, given)
      const { since } = yield* EventFilters.toFilter(after === undefined ? { newerThan: Parameters.usualAge } : {})
      const filter = {
        ...narrowed,
        recipient,
        only,
        after,
        since,
        trust: withHeld === true ? undefined : ("passed" as const)
      }
      const began = yield* DateTime.now
      const page = yield* held(
        workspace,
        events.wait(domain.id, filter, {
          limit: most,
          order: "asc",
          time: Duration.seconds(seconds),
          canCome: takingMail.includes(domain.status)
        })
      )
      const { mails, next } = yield* MailList.of({ events, room }, domain.id, page, "asc")
      return {
        mails,
        timed_out: mails.length === 0 ? true : undefined,
        ...(mails.length === 0 ? yield* inVain(domain, filter, began) : {}),
        next: mails.length === 0 ? nextStep(domain, workspace) : undefined,
        cursor: yield* cursors.seal(workspace, next ?? page.cursorNow)
      }
    })
  })
})
