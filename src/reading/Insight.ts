import * as Invisible from "../content/html/Invisible.ts"
import type { SeenHtml } from "../content/html/SeenHtml.ts"
import * as Reply from "../content/reply/Reply.ts"
import type { Contents } from "../mime/Mime.ts"
import type { InboundEvent } from "../model/InboundEvent.ts"

/** Values derived from a message, equal for all its recipients and for equal bytes. */
export type Insight = Required<Pick<InboundEvent, "kind" | "reply" | "sender">>

export const of = (contents: Contents, envelopeFrom: string): Insight => ({
  reply: reply(contents),
  sender: contents.sender(envelopeFrom),
  kind: contents.kind(envelopeFrom)
})

/** From what the HTML shows, if the plain text has other words. */
const reply = (contents: Contents): string | null => {
  const { text } = contents
  const seen = contents.seen()
  const isOther = contents.match()?.isComplete === false
  const said = isOther ? seen.map(textOf).join("\n") : text
  // HTML that was not parsed to its end may have the answer after a quotation.
  const isWhole = seen.every(({ isCut }) => !isCut)
  const marked =
    isWhole && seen.some(({ hasGaps }) => hasGaps) ? seen.map(({ ownText }) => ownText).join("\n") : undefined
  const found = Reply.read({ text: said, marked })
  const cleaned = found === null && !isOther ? contents.visible().text : Invisible.without(found ?? said).seen
  return found === null && cleaned === text ? null : cleaned
}

// Both are computed on demand.
const textOf = (seen: SeenHtml) => (seen.uncertain ? seen.markedText : seen.text)
