import { Effect } from "effect"
import { McpSchema, McpServer } from "effect/ai"
import { Unavailable } from "../model/ApiError.ts"
import { EventId } from "../model/InboundEvent.ts"
import { notice, Reading } from "./Reading.ts"
import * as Tool from "./Tool.ts"

/** The maximum length of a mail as a resource. */
const mostChars = 20_000

/** A mail as a resource: sender and visible text. */
export const add = Effect.gen(function* () {
  const reading = yield* Reading

  yield* McpServer.registerResource`inlet://mail/${McpSchema.param("event_id", EventId)}`({
    name: "mail",
    description: "What a person sees of a mail, as Markdown",
    mimeType: "text/markdown",
    content: Effect.fnUntraced(
      function* (uri, eventId) {
        const workspace = yield* Tool.workspace
        const { brief, content } = yield* reading.of(workspace, eventId, {
          part: "visible",
          maxChars: mostChars,
          offset: 0
        })
        const text = [
          notice,
          `From: ${brief.from} (dmarc ${brief.authentication.dmarc})`,
          `To: ${brief.recipient}`,
          `Subject: ${brief.subject}`,
          "",
          content.content,
          ...(content.next_offset === null ? [] : ["", `(read_mail goes on at offset ${content.next_offset})`])
        ].join("\n")
        return { contents: [{ uri, mimeType: "text/markdown", text }] }
      },
      // The library answers with the message of a failure, and no more.
      Effect.catch((error) =>
        Effect.flatMap(Tool.inWords(error), (message) => Effect.fail(new Unavailable({ message })))
      )
    )
  })
})
