import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { NotFound } from "../../model/ApiError.ts"

/** Answers with the HTML part of an event as a page for a sandboxed frame. */
export const answer = (page: string | null) =>
  page === null
    ? Effect.fail(new NotFound({ message: "This mail has no HTML part. Its event has `text`" }))
    : Effect.succeed(
        HttpServerResponse.text(page, {
          contentType: "text/html; charset=utf-8",
          headers: { ...isolating, "cache-control": "no-store" }
        })
      )

/** The page runs nothing and loads nothing, also if it is opened by itself. */
const isolating = {
  "content-security-policy":
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer"
}
