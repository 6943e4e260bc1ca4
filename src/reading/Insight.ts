import * as SeenHtml from "../content/html/SeenHtml.ts"
import * as Reply from "../content/reply/Reply.ts"
import * as SenderKind from "../content/SenderKind.ts"
import type { Contents } from "../mime/Mime.ts"
import type { InboundEvent } from "../model/InboundEvent.ts"

/** Values derived from a message, equal for all its recipients and for equal bytes. */
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
