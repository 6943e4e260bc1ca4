import * as SeenHtml from "../content/html/SeenHtml.ts"
import * as Reply from "../content/reply/Reply.ts"
import * as SenderKind from "../content/SenderKind.ts"
import type { Contents } from "../mime/Mime.ts"
import type { InboundEvent } from "../model/InboundEvent.ts"

/** What can be told of a message beyond its fields, the same for all its recipients. The same bytes give the same. */
export type Insight = Required<Pick<InboundEvent, "reply" | "sender">>

export const of = (contents: Contents, envelopeFrom: string): Insight => ({
  reply: Reply.read({
    text: contents.text,
    html: contents.html,
    render: (html) => {
      const { isCut, text } = SeenHtml.see(html)
      return isCut ? undefined : text
    },
    seen: () =>
      contents
        .seen()
        .map(({ text }) => text)
        .join("\n")
  }),
  sender: SenderKind.of({ envelopeFrom, headers: contents.headers })
})
