import { Context, Effect, Layer } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { type DemoInbox, DemoInboxes } from "../demo/DemoInboxes.ts"
import { Unauthorized } from "../model/ApiError.ts"

export const cookieName = "inlet_demo"

/** The demo inbox whose cookie this request carries. */
export class CurrentDemoInbox extends Context.Service<CurrentDemoInbox, DemoInbox>()("inlet/http/CurrentDemoInbox") {}

/** The cookie of `POST /api/demo/inbox` (spec, section 5, rule 5). */
export class DemoAuthorization extends HttpApiMiddleware.Service<DemoAuthorization, { provides: CurrentDemoInbox }>()(
  "inlet/http/DemoAuthorization",
  { error: Unauthorized.http, security: { demo: HttpApiSecurity.apiKey({ key: cookieName, in: "cookie" }) } }
) {
  static readonly layer = Layer.effect(
    DemoAuthorization,
    Effect.gen(function* () {
      const inboxes = yield* DemoInboxes
      return DemoAuthorization.of({
        demo: Effect.fn("DemoAuthorization.demo")(function* (httpEffect, { credential }) {
          const inbox = yield* inboxes.session(credential)
          return yield* Effect.provideService(httpEffect, CurrentDemoInbox, inbox)
        })
      })
    })
  )
}
