import { Context, Effect, Layer } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { SqlError } from "effect/sql"
import { Asker } from "../../database/Turns.ts"
import { type DemoInbox, DemoInboxes } from "../../demo/DemoInboxes.ts"
import { TooManyRequests, Unauthorized, Unavailable } from "../../model/ApiError.ts"
import { demoTenant } from "../../reading/Mail.ts"
import { ParsingFor } from "../../reading/RequestReader.ts"
import * as DatabaseErrors from "../requests/DatabaseErrors.ts"
import { OpenRequests } from "../requests/OpenRequests.ts"

export const cookieName = "inlet_demo"

/** The demo inbox of this request's cookie. */
export class CurrentDemoInbox extends Context.Service<CurrentDemoInbox, DemoInbox>()("inlet/http/CurrentDemoInbox") {}

/** The cookie of `POST /api/demo/inbox` (spec, section 5, rule 5). */
export class DemoAuthorization extends HttpApiMiddleware.Service<DemoAuthorization, { provides: CurrentDemoInbox }>()(
  "inlet/http/DemoAuthorization",
  {
    error: [Unauthorized.http, TooManyRequests.http, Unavailable.http],
    security: { demo: HttpApiSecurity.apiKey({ key: cookieName, in: "cookie" }) }
  }
) {
  static readonly layer = Layer.effect(
    DemoAuthorization,
    Effect.gen(function* () {
      const inboxes = yield* DemoInboxes
      const open = yield* OpenRequests
      return DemoAuthorization.of({
        demo: Effect.fn("DemoAuthorization.demo")(
          function* (httpEffect, { credential }) {
            yield* open.known(credential)
            const inbox = yield* inboxes.session(credential)
            yield* open.enter(inbox.domainId, credential)
            return yield* httpEffect.pipe(
              Effect.provideService(CurrentDemoInbox, inbox),
              Effect.provideService(Asker, inbox.domainId),
              Effect.provideService(ParsingFor, demoTenant)
            )
          },
          Effect.catchIf(SqlError.isSqlError, DatabaseErrors.answer)
        )
      })
    })
  )
}
