import { Effect, Redacted } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Forbidden } from "../../model/ApiError.ts"
import * as SameOrigin from "./SameOrigin.ts"

/** The cookies of the console: of a workspace's session, and of the operator's. */
export type Name = "inlet_console" | "inlet_operator"

/** The console's cookie of a request, if it may be used. Undefined without one. */
export const of = Effect.fnUntraced(function* (name: Name, publicUrl: string) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const cookie = request.cookies[name]
  if (cookie === undefined || cookie === "") return undefined
  const refusal: Forbidden | undefined = SameOrigin.refusal(request, publicUrl)
  return refusal === undefined ? Redacted.make(cookie) : yield* refusal
})

/** Sets a cookie that scripts cannot read and other sites cannot send. Undefined removes it. */
export const set = (name: Name, cookie: Redacted.Redacted | undefined, publicUrl: string) =>
  HttpServerResponse.setCookieUnsafe(name, cookie === undefined ? "" : Redacted.value(cookie), {
    httpOnly: true,
    sameSite: "strict",
    path: "/",
    // `HTTPS://` is the same scheme.
    secure: new URL(publicUrl).protocol === "https:",
    // The server ends idle sessions. The browser only has to keep the cookie for longer.
    maxAge: cookie === undefined ? 0 : "30 days"
  })
