import * as Invisible from "../content/html/Invisible.ts"
import * as Marked from "../content/html/Marked.ts"
import * as SeenHtml from "../content/html/SeenHtml.ts"
import * as Reply from "../content/reply/Reply.ts"
import { mark } from "../content/reply/ReplyLines.ts"
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
  const { html, text } = contents
  const seen = () => contents.seen().map(textOf).join("\n")
  const isOther = contents.match()?.isComplete === false
  const said = isOther ? seen() : text
  const found = Reply.read({ text: said, html, render, seen })
  const cleaned = found === null && !isOther ? contents.visible().text : Invisible.without(found ?? said).seen
  return found === null && cleaned === text ? null : cleaned
}

// Both are computed on demand.
const textOf = (seen: SeenHtml.SeenHtml) => (seen.uncertain ? seen.markedText : seen.text)

const render = (html: string) => {
  const seen = SeenHtml.see(html)
  // The place of a removed quotation is no text of the mail.
  return seen.isCut ? undefined : textOf(seen).replaceAll(Marked.as("uncertain", mark), mark)
}
