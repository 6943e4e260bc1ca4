import { Effect } from "effect"
import { Events } from "../events/Events.ts"
import { AnswerRoom } from "../http/answers/AnswerRoom.ts"
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

  yield* Tool.add({
    name: "list_mail",
    description:
      "Mail that is there, newest first, in brief. next_cursor goes on, also after an empty page. With trace: what became of each mail, also of refused ones.",
    parameters: {
      to: Parameters.to,
      from: Parameters.from,
      subject: Parameters.subject,
      has: Parameters.has,
      trace: Parameters.trace,
      limit: Parameters.limit,
      cursor: Parameters.cursor
    },
    answer: Effect.fnUntraced(function* ({ cursor, limit = usual, to, trace, ...narrowed }, { id }) {
      const { domain, recipient } = yield* inboxes.of(id, to)
      if (trace === true) {
        const { from, has, subject } = narrowed
        if (has !== undefined) {
          return yield* new Invalid({ message: "has: Expected no trace beside it. Refused mail was never parsed" })
        }
        const found = yield* traces.search(
          { workspaceId: id },
          { to: to ?? domain.domain, from, subject },
          { limit, cursor }
        )
        return TracedMails.of(found)
      }
      const page = yield* events.list(domain.id, { ...narrowed, recipient }, { limit, order: "desc", cursor })
      const { mails, next } = yield* MailList.of({ events, room }, domain.id, page, "desc")
      return { mails, next_cursor: next }
    })
  })
})
