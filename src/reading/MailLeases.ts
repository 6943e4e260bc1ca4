import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import * as Elapsed from "../schedule/Elapsed.ts"
import type { MailsInHand } from "./MailsInHand.ts"
import type { ReadAttempts } from "./ReadAttempts.ts"

/**
 * The lease of a message is 60 s. It is extended while the message waits for a thread, for up to 10 minutes, after
 * which another process may take over.
 */
const renewEvery = "20 seconds"
const longestInHandMilliseconds = 600_000

/**
 * Extends the leases of the messages in this process every 20 seconds, and gives their attempts back that an outage kept.
 * Releases those of unparsed messages when the scope closes, which is not their fault, so it costs no attempt.
 */
export const keep = Effect.fnUntraced(function* (inHand: MailsInHand, attempts: ReadAttempts) {
  const sql = yield* SqlClient.SqlClient
  const clock = yield* Clock.Clock

  yield* Effect.addFinalizer(() =>
    Effect.andThen(
      Effect.ignore(attempts.giveBack),
      Effect.ignore(
        inHand.isEmpty
          ? Effect.void
          : sql`
              UPDATE inbound_emails SET leased_until = NULL, read_attempts = greatest(read_attempts - 1, 0)
              WHERE id = ANY(${inHand.ids()}::uuid[]) AND state = ${"received"}
            `
      )
    )
  )
  yield* BackgroundLoop.every(
    renewEvery,
    "The read attempts that failed during an outage could not be given back",
    attempts.giveBack
  )
  yield* BackgroundLoop.every(
    renewEvery,
    "The leases of messages that wait to be read could not be extended",
    Effect.suspend(() => {
      const ids = inHand.ids({ since: Elapsed.millisOf(clock) - longestInHandMilliseconds })
      if (ids.length === 0) return Effect.void
      return Effect.asVoid(sql`
        UPDATE inbound_emails SET leased_until = now() + interval '60 seconds'
        WHERE id = ANY(${ids}::uuid[]) AND state = ${"received"} AND leased_until > now()
          AND leased_until < now() + interval '45 seconds'
      `)
    })
  )
})
