import { Effect, Stream } from "effect"
import * as BriefEvent from "../events/BriefEvent.ts"
import type { EventPage, Events } from "../events/Events.ts"
import * as Mark from "../events/Mark.ts"
import type { AnswerRoom } from "../http/answers/AnswerRoom.ts"
import type { DomainId } from "../model/Domain.ts"
import * as BriefMail from "./BriefMail.ts"

/** Maximum bytes of an answer, at most 2,500 tokens. */
export const mostBytes = 6_000

/** The mails of a page that fit into an answer, and the cursor for the next, null at the end. */
export const of = Effect.fnUntraced(function* (
  { events, room }: { readonly events: Events["Service"]; readonly room: AnswerRoom["Service"] },
  domainId: DomainId,
  page: EventPage,
  order: Mark.Order
) {
  yield* room.reserve(page.items.reduce((sum, { bytes }) => sum + bytes, 0))
  const mails: Array<ReturnType<typeof BriefMail.of>> = []
  let bytes = 0
  let last: string | null = null
  let isCut = false
  yield* Stream.runForEachWhile(events.payloads(domainId, page.items), ({ delivery, payload, position }) =>
    Effect.sync(() => {
      const mail = BriefMail.of(BriefEvent.of(payload, delivery.status), delivery)
      bytes += Buffer.byteLength(JSON.stringify(mail))
      isCut = bytes > mostBytes && mails.length > 0
      if (isCut) return false
      last = Mark.encode(domainId, { kind: order, position })
      mails.push(mail)
      return true
    })
  )
  return { mails, next: isCut ? last : page.nextCursor }
})
