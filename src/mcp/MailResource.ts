import { Context, Effect, Schema } from "effect"
import { McpSchema, McpServer } from "effect/ai"
import { Unavailable } from "../model/ApiError.ts"
import { EventId } from "../model/InboundEvent.ts"
import { notice, Reading } from "./Reading.ts"
import * as Tool from "./Tool.ts"

/** The maximum length of a mail as a resource. */
const mostChars = 20_000

/** No mail with this id, in protocols before 2026-07-28 (MCP 2025-11-25, Resources, Error Handling). */
class NoSuchMail extends Schema.Error<NoSuchMail>("inlet/mcp/MailResource/NoSuchMail")({
  ...McpSchema.McpErrorBase.fields,
  _tag: Schema.tag("NoSuchMail"),
  code: Schema.tag(-32002)
}) {}

/** What a read did not find, in words. The library passes only the message of a failure on. */
const Missing = Context.Reference<{ message: string | undefined }>("inlet/mcp/MailResource/Missing", {
  defaultValue: () => ({ message: undefined })
})

/** Gives the failure of such a read the code of the protocol, in place of that of an internal error. */
const withCode = McpServer.middleware((read, { requestContext }) =>
  Effect.suspend(() => {
    const missing: { message: string | undefined } = { message: undefined }
    return Effect.catch(Effect.provideService(read, Missing, missing), (error) => {
      const { message } = missing
      if (message === undefined) return Effect.fail(error)
      return requestContext.protocolVersion === "2026-07-28"
        ? Effect.fail(new McpSchema.InvalidParams({ message }))
        : Effect.fail(new NoSuchMail({ message }))
    })
  })
)

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
      Effect.catch(
        Effect.fnUntraced(function* (error) {
          const message = yield* Tool.inWords(error)
          if (error._tag === "NotFound") (yield* Missing).message = message
          return yield* new Unavailable({ message })
        })
      )
    )
  }).pipe(Effect.provide(withCode.layer))
})
