import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type Envelope, isObserved } from "../model/InboundEmail.ts"
import * as Deadline from "./Deadline.ts"
import * as InboundRows from "./InboundRows.ts"
import * as InboundTransaction from "./InboundTransaction.ts"
import type { Incoming } from "./Incoming.ts"
import { notStored } from "./NotStored.ts"
import { SenderQuotaReached } from "./Recipient.ts"

/** Number of recent keys to remember. */
const most = 10_000

/**
 * Gives the answers that need no write. Bytes stay in the log until their segment expires, so a client must not fill
 * the disk with refused or repeated messages.
 */
export const make = Effect.fnUntraced(function* (options: { readonly emailsPerSender: number }) {
  const sql = yield* SqlClient.SqlClient
  const { emailsPerSender } = options
  const accepted = new Set<string>()

  // The lock makes this wait for the standbys (LostAnswer), because a primary shows keys that no standby has.
  const receivedAmong = (keys: ReadonlyArray<Uint8Array>) => sql`
    SELECT 1 FROM received_once
    WHERE key = ANY(${keys}::bytea[]) AND received_at > now() - make_interval(days => ${InboundRows.retryDays})
    FOR KEY SHARE
  `

  /** Recognizes a message accepted by this process as a retry if its row still exists. */
  const mayBeRetry = (keys: ReadonlyArray<Buffer>) =>
    keys.length > 0 && keys.every((key) => accepted.has(key.toString("base64")))

  const isRetry = (keys: ReadonlyArray<Buffer>) =>
    keys.length > 0 ? Effect.map(receivedAmong(keys), (rows) => rows.length === keys.length) : Effect.succeed(false)

  /** Fails if the client has reached its daily limit. */
  const checkSender = (envelope: Envelope) =>
    emailsPerSender === 0 || !isObserved(envelope)
      ? Effect.void
      : Effect.flatMap(
          sql`
            SELECT 1 FROM client_limits
            WHERE day = (now() AT TIME ZONE 'UTC')::date AND action = 'email'
              AND client = ${InboundTransaction.clientOf(envelope.remoteAddress)} AND count >= ${emailsPerSender}
          `,
          (full) => (full.length === 0 ? Effect.void : new SenderQuotaReached({ limit: emailsPerSender }))
        )

  return {
    /** Remembers keys whose rows are committed. */
    remember: (keys: ReadonlyArray<Buffer>) => {
      for (const key of keys) accepted.add(key.toString("base64"))
      for (const oldest of accepted) {
        if (accepted.size <= most) break
        accepted.delete(oldest)
      }
    },
    /** Succeeds with true for a retry of a stored message. Fails if the client has reached its daily limit. */
    isAnswered: ({ envelope, keys }: Pick<Incoming, "envelope" | "keys">) =>
      emailsPerSender === 0 && !mayBeRetry(keys)
        ? Effect.succeed(false)
        : Effect.flatMap(isRetry(keys), (isRetry) =>
            isRetry ? Effect.succeed(true) : Effect.as(checkSender(envelope), false)
          ).pipe(Effect.catchTag("SqlError", notStored), Deadline.inTime)
  }
})
