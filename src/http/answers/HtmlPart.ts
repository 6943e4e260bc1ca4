import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import * as SafeHtml from "../../content/SafeHtml.ts"
import { NotFound } from "../../model/ApiError.ts"

/** Answers with the HTML part in an event's payload, as a page for a sandboxed frame. */
export const answer = (payload: string) =>
  Effect.suspend(() => {
    const html = SafeHtml.ofEvent(payload)
    return html === null
      ? Effect.fail(new NotFound({ message: "This mail has no HTML part. Its event has `text`" }))
      : Effect.succeed(
          HttpServerResponse.text(SafeHtml.page(html), {
            contentType: "text/html; charset=utf-8",
            headers: { ...SafeHtml.headers, "cache-control": "no-store" }
          })
        )
  })
