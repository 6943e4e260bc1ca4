import { Context, Duration, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Bugs from "../database/Bugs.ts"
import * as Elapsed from "../schedule/Elapsed.ts"

/** How long a process answers from memory, so that requests of strangers cost the database one query a second. */
export const memory = Duration.seconds(1)

/** An order takes minutes. */
const keptMinutes = 60

/** One host is proven at a time. */
const most = 20

/** RFC 8555, section 8.3: base64url. */
const isToken = (token: string) => /^[\w-]{1,128}$/.test(token)

const Row = Schema.Struct({ token: Schema.String, answer: Schema.String })

/** Makes every process answer the challenge until the scope closes. */
export const publish = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { answer, token }: { readonly token: string; readonly answer: string }
) {
  yield* sql`DELETE FROM certificate_challenges WHERE expires_at < now()`
  yield* Effect.acquireRelease(
    sql`
      INSERT INTO certificate_challenges (token, answer, expires_at)
      VALUES (${token}, ${answer}, now() + make_interval(mins => ${keptMinutes}))
      ON CONFLICT (token) DO UPDATE SET answer = EXCLUDED.answer, expires_at = EXCLUDED.expires_at
    `,
    () => Effect.ignore(sql`DELETE FROM certificate_challenges WHERE token = ${token}`)
  )
})

/** Answers the challenges of certificate authorities, from any process with the API. */
export class ChallengeAnswers extends Context.Service<
  ChallengeAnswers,
  {
    /** The text for a token, if an order waits for it. */
    find(token: string): Effect.Effect<string | undefined, SqlError>
  }
>()("inlet/certificates/ChallengeAnswers") {
  static readonly layer = Layer.effect(
    ChallengeAnswers,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const list = SqlSchema.findAll({
        Request: Schema.Void,
        Result: Row,
        execute: () => sql`
          SELECT token, answer FROM certificate_challenges WHERE expires_at > now()
          ORDER BY expires_at DESC LIMIT ${most}
        `
      })
      const open = yield* Bugs.die(list()).pipe(
        // The first client may disconnect, while others wait for the same answer.
        Effect.uninterruptible,
        Elapsed.cached(memory)
      )
      return ChallengeAnswers.of({
        find: (token) =>
          isToken(token)
            ? Effect.map(open, (rows) => rows.find((row) => row.token === token)?.answer)
            : Effect.succeed(undefined)
      })
    })
  )
}
