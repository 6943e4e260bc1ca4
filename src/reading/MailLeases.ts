import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as BackgroundLoop from "../schedule/BackgroundLoop.ts"
import * as Elapsed from "../schedule/Elapsed.ts"
import type { MailsInHand } from "./MailsInHand.ts"

/**
 * The lease of a message is 60 s. It is extended while the message waits for a thread, for up to 10 minutes, after
 * which another process may take over.
 */
const renewEvery = "20 seconds"
const longestInHandMilliseconds = 600_000

/**
 * Extends the leases of the messages in this process every 20 seconds. Releases those of unparsed messages when the
 * scope closes.
 */
export const keep = Effect.fnUntraced(function* (inHand: MailsInHand) {
  const sql = yield* SqlClient.SqlClient
  const clock = yield* Clock.Clock

  yield* Effect.addFinalizer(() =>
    Effect.ignore(
      inHand.isEmpty
        ? Effect.void
        : sql`
            UPDATE inbound_emails SET leased_until = NULL
            WHERE id = ANY(${inHand.ids()}::uuid[]) AND state = ${"received"}
          `
    )
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
