import { Effect } from "effect"
import { Events } from "../events/Events.ts"
import { AnswerRoom } from "../http/answers/AnswerRoom.ts"
import { LimitedCursors } from "../http/requests/LimitedCursors.ts"
import { Invalid } from "../model/ApiError.ts"
import { Traces } from "../trace/Traces.ts"
import { Inboxes } from "./Inboxes.ts"
import * as MailList from "./MailList.ts"
import * as Parameters from "./Parameters.ts"
import * as Tool from "./Tool.ts"
import * as TracedMails from "./TracedMails.ts"

const usual = 10

export const add = Effect.gen(function* () {
  const events = yield* Events
  const inboxes = yield* Inboxes
  const room = yield* AnswerRoom
  const traces = yield* Traces
  const cursors = yield* LimitedCursors

  yield* Tool.add({
    name: "list_mail",
    description:
      "List mail in brief, newest first. Continue with next_cursor, also after an empty page. With trace it shows every step of each mail, also of refused mail.",
    filters: true,
    parameters: {
      to: Parameters.to,
      from: Parameters.from,
      subject: Parameters.subject,
      has: Parameters.has,
      trace: Parameters.trace,
      held: Parameters.held,
      limit: Parameters.limit,
      cursor: Parameters.cursor
    },
    answer: Effect.fnUntraced(function* ({ cursor: given, held, limit = usual, to, trace, ...narrowed }, workspace) {
      const { domain, only, recipient } = yield* inboxes.of(workspace, to)
      const cursor = yield* cursors.open(workspace, given)
      if (trace === true) {
        const { from, has, subject } = narrowed
        if (has !== undefined) {
          return yield* new Invalid({ message: "has: Leave it out with trace, because refused mail was never parsed" })
        }
        const found = yield* traces.search(
          { workspaceId: workspace.id, limit: workspace.limit },
          { to: to ?? domain.domain, from, subject },
          { limit, cursor }
        )
        const { hint, mails, next } = TracedMails.of(found)
        return { mails, next_cursor: yield* cursors.seal(workspace, next), hint }
      }
      const trust = held === true ? undefined : ("passed" as const)
      const page = yield* events.list(
        domain.id,
        { ...narrowed, recipient, only, trust },
        { limit, order: "desc", cursor }
      )
      const { mails, next } = yield* MailList.of({ events, room }, domain.id, page, "desc")
      return { mails, next_cursor: yield* cursors.seal(workspace, next) }
    })
  })
})
