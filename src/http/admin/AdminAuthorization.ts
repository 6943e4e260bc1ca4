import { Effect, Layer } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { SqlError } from "effect/sql"
import { Forbidden, NotFound } from "../../model/ApiError.ts"
import * as NotFoundPage from "../pages/NotFoundPage.ts"
import * as DatabaseErrors from "../requests/DatabaseErrors.ts"
import { Operator } from "../requests/Operator.ts"
import * as WholeBody from "../requests/WholeBody.ts"

/** `Authorization: Bearer <ADMIN_TOKEN>` or the operator's console cookie. Without it these routes do not exist. */
export class AdminAuthorization extends HttpApiMiddleware.Service<AdminAuthorization>()(
  "inlet/http/AdminAuthorization",
  { error: [Forbidden.http, NotFound.http], security: { admin: HttpApiSecurity.bearer } }
) {
  static readonly layer = Layer.effect(
    AdminAuthorization,
    Effect.gen(function* () {
      const operator = yield* Operator
      return AdminAuthorization.of({
        admin: Effect.fn("AdminAuthorization.admin")(function* (httpEffect, { credential }) {
          // Its session may end before its body does.
          yield* WholeBody.arrived
          const isCaller = yield* Effect.result(operator.isCaller(credential))
          if (isCaller._tag === "Failure") {
            return yield* SqlError.isSqlError(isCaller.failure)
              ? DatabaseErrors.answer(isCaller.failure)
              : Effect.fail(isCaller.failure)
          }
          return isCaller.success ? yield* httpEffect : yield* new NotFound({ message: NotFoundPage.noRoute })
        })
      })
    })
  )
}
