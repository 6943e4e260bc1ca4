import { Context, Effect, Layer, Redacted } from "effect"
import * as Mark from "../../events/Mark.ts"
import * as WorkspaceMark from "../../events/WorkspaceMark.ts"
import { Invalid } from "../../model/ApiError.ts"
import { SecretsKey } from "../../workspaces/SecretsKey.ts"
import type { CurrentWorkspace } from "./CurrentWorkspace.ts"

type Holder = Pick<CurrentWorkspace["Service"], "keyId" | "limit">

/** A sealed cursor is longer than event ids and marks. */
const sealedForm = /^[\w-]{60,400}$/

const notOfKey = new Invalid({
  message: "This cursor was not given to this key. Expected one of its own answers, an event id, start or latest"
})

const ownerOf = (keyId: string | null) => `cursor of ${keyId}`

/**
 * Encrypts the cursors of keys with a limit. A position counts the mail of a whole domain, so a plain one would tell how
 * much mail other addresses get.
 */
export class LimitedCursors extends Context.Service<
  LimitedCursors,
  {
    /** The cursor as the key gets it. Unchanged for a key without a limit. */
    seal<Cursor extends string | null>(holder: Holder, cursor: Cursor): Effect.Effect<Cursor | string>
    /**
     * The cursor that the key was given. Unchanged if it is no position, or of another key. Fails for a plain position
     * from a key with a limit, which could otherwise try positions until it finds the last.
     */
    open(holder: Holder, cursor: string | undefined): Effect.Effect<string | undefined, Invalid>
  }
>()("inlet/http/LimitedCursors") {
  static readonly layer = Layer.effect(
    LimitedCursors,
    Effect.gen(function* () {
      const secrets = yield* SecretsKey
      return LimitedCursors.of({
        seal: Effect.fn("LimitedCursors.seal")(function* ({ keyId, limit }, cursor) {
          if (limit === null || cursor === null) return cursor
          const sealed = yield* secrets.seal(Redacted.make(cursor), ownerOf(keyId))
          return Buffer.from(sealed).toString("base64url")
        }),
        open: Effect.fn("LimitedCursors.open")(function* ({ keyId, limit }, cursor) {
          if (limit === null || cursor === undefined) return cursor
          if (Mark.form.test(cursor) || WorkspaceMark.form.test(cursor)) return yield* notOfKey
          if (!sealedForm.test(cursor)) return cursor
          const opened = yield* secrets.openGiven(Buffer.from(cursor, "base64url"), ownerOf(keyId))
          return opened === undefined ? cursor : Redacted.value(opened)
        })
      })
    })
  ).pipe(Layer.provide(SecretsKey.layer))
}
