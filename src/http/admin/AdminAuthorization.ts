import { Effect, Layer, Redacted } from "effect"
import { Mac } from "effect/crypto"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { NotFound } from "../../model/ApiError.ts"
import * as Settings from "../../Settings.ts"
import * as LocalSecret from "../../settings/LocalSecret.ts"

/** `Authorization: Bearer <ADMIN_TOKEN>`. Without it the operator routes do not exist. */
export class AdminAuthorization extends HttpApiMiddleware.Service<AdminAuthorization>()(
  "inlet/http/AdminAuthorization",
  { error: NotFound.http, security: { admin: HttpApiSecurity.bearer } }
) {
  static readonly layer = Layer.effect(
    AdminAuthorization,
    Effect.gen(function* () {
      const { adminToken, dataDirectory, production } = yield* Settings.secrets
      const token = adminToken ?? (production ? undefined : yield* LocalSecret.readOrMake(dataDirectory, "admin-token"))
      const expected = token === undefined ? undefined : Buffer.from(Redacted.value(token))
      return AdminAuthorization.of({
        admin: Effect.fn("AdminAuthorization.admin")(function* (httpEffect, { credential }) {
          const given = Buffer.from(Redacted.value(credential))
          if (expected === undefined || !Mac.timingSafeEqual(given, expected)) {
            return yield* new NotFound({ message: "No such route" })
          }
          return yield* httpEffect
        })
      })
    })
  )
}
