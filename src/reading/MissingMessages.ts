import { Cause, Clock, Context, Duration, Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { RawStoreError } from "../providers/storage/RawStoreError.ts"
import * as Elapsed from "../schedule/Elapsed.ts"
import type { Mail } from "./Mail.ts"

/** The store has no bytes of a message, and is asked again. */
class Missing extends RawStoreError {}

/** Whether a message was not read because its bytes are missing. */
export const isCause = (cause: Cause.Cause<unknown>) =>
  Option.exists(Cause.findErrorOption(cause), (error) => error instanceof Missing)

/** The age of a message, and the time of this process, after which missing bytes are lost. */
export const Lost = Context.Reference("inlet/reading/MissingMessages/Lost", {
  defaultValue: () => ({ age: Duration.days(1), uptime: Duration.hours(1) })
})

/** How often a process logs that bytes are missing. */
const eachMillis = Duration.toMillis("1 minute")

export interface MissingMessages {
  /** Succeeds if the bytes are lost. Otherwise fails, and the message is looked for again in ten minutes. */
  readonly notFound: (mail: Pick<Mail, "id" | "receivedAt">) => Effect.Effect<void, RawStoreError>
}

/**
 * Decides about messages whose bytes are missing: the folder may not be mounted, or be another machine's. The process
 * has looked for a while in any case, because the machine may have been off for days, or its clock set.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { age, uptime } = yield* Lost
  const began = yield* Elapsed.millis
  let loggedAt = Number.NEGATIVE_INFINITY

  const log = Effect.fnUntraced(function* ({ id }: Pick<Mail, "id">) {
    const now = yield* Elapsed.millis
    if (now - loggedAt < eachMillis) return
    loggedAt = now
    yield* Effect.annotateLogs(
      Effect.logError(
        "Raw messages of unread mail are missing. Is RAW_DIR mounted and the same for all processes, and S3_BUCKET the right one? Inlet looks for them for a day, and then makes events of the envelopes"
      ),
      { inbound_email_id: id }
    )
  })

  const notFound: MissingMessages["notFound"] = Effect.fnUntraced(function* (mail) {
    const isOld = (yield* Clock.currentTimeMillis) - mail.receivedAt >= Duration.toMillis(age)
    if (isOld && (yield* Elapsed.millis) - began >= Duration.toMillis(uptime)) return
    const waiting = yield* Effect.orElseSucceed(
      sql`
        UPDATE inbound_emails SET leased_until = now() + interval '10 minutes'
        WHERE id = ${mail.id} AND state = ${"received"}
        RETURNING id
      `,
      () => []
    )
    // Without a row its domain was removed meanwhile.
    if (waiting.length > 0) yield* log(mail)
    return yield* new Missing({ cause: new Error("The raw message is missing") })
  })

  return { notFound } satisfies MissingMessages
})
