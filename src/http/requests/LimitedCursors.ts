import { Context, Effect, Layer, Redacted } from "effect"
import { SecretsKey } from "../../workspaces/SecretsKey.ts"
import type { CurrentWorkspace } from "./CurrentWorkspace.ts"

type Holder = Pick<CurrentWorkspace["Service"], "keyId" | "limit">

/** A sealed cursor is longer than the event ids and the marks that are written plainly. */
const form = /^[\w-]{60,400}$/

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
    /** The cursor that the key was given. Unchanged if it is a plain one, or of another key. */
    open(holder: Holder, cursor: string | undefined): Effect.Effect<string | undefined>
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
          if (limit === null || cursor === undefined || !form.test(cursor)) return cursor
          const opened = yield* secrets.openGiven(Buffer.from(cursor, "base64url"), ownerOf(keyId))
          return opened === undefined ? cursor : Redacted.value(opened)
        })
      })
    })
  ).pipe(Layer.provide(SecretsKey.layer))
}
