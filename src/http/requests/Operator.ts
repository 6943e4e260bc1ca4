import { createHash } from "node:crypto"
import { Context, Effect, Layer, Redacted } from "effect"
import { Mac } from "effect/crypto"
import type { HttpServerRequest } from "effect/http"
import type { SqlError } from "effect/sql/SqlError"
import type { Forbidden } from "../../model/ApiError.ts"
import * as Settings from "../../Settings.ts"
import * as LocalSecret from "../../settings/LocalSecret.ts"
import { ConsoleSessions } from "../../workspaces/ConsoleSessions.ts"
import * as ConsoleCookie from "./ConsoleCookie.ts"

/** Recognizes the operator by `ADMIN_TOKEN`, or outside production by the token generated in `DATA_DIR`. */
export class Operator extends Context.Service<
  Operator,
  {
    /** Compares a token in constant time. False for every token if the service has none. */
    isToken(given: Redacted.Redacted): boolean
    /** SHA-256 of the token, which a console session of the operator is bound to. */
    readonly tokenHash: Uint8Array | undefined
    /** Checks the token of a request, or without one its console cookie. */
    isCaller(
      given: Redacted.Redacted
    ): Effect.Effect<boolean, Forbidden | SqlError, HttpServerRequest.HttpServerRequest>
  }
>()("inlet/http/Operator") {
  /** `ADMIN_TOKEN`, or outside production the generated token. Undefined if the service has none. */
  static readonly token = Effect.gen(function* () {
    const { adminToken, dataDirectory, production } = yield* Settings.secrets
    return adminToken ?? (production ? undefined : yield* LocalSecret.readOrMake(dataDirectory, "admin-token"))
  })

  static readonly layer = Layer.effect(
    Operator,
    Effect.gen(function* () {
      const sessions = yield* ConsoleSessions
      const { publicUrl } = yield* Settings.http
      const token = yield* Operator.token
      const expected = token === undefined ? undefined : Buffer.from(Redacted.value(token))

      const tokenHash = expected === undefined ? undefined : createHash("sha256").update(expected).digest()

      const isToken = (given: Redacted.Redacted) =>
        expected !== undefined && Mac.timingSafeEqual(Buffer.from(Redacted.value(given)), expected)

      const isCaller = Effect.fnUntraced(function* (given: Redacted.Redacted) {
        if (Redacted.value(given) !== "") return isToken(given)
        const cookie = yield* ConsoleCookie.of("inlet_operator", publicUrl)
        if (cookie === undefined || tokenHash === undefined) return false
        return yield* sessions.isOperator(cookie, tokenHash)
      })

      return Operator.of({ isToken, tokenHash, isCaller })
    })
  )
}
