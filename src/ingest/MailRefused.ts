import { Schema } from "effect"
import type { Reply } from "../intake/Reply.ts"

/** Inlet did not take a message from a relay. SMTP would have answered with the same reply. */
export class MailRefused extends Schema.TaggedError<MailRefused>()("MailRefused", {
  code: Schema.Int,
  enhanced: Schema.String,
  text: Schema.String,
  /** The refused recipients. The message was stored for none. */
  recipients: Schema.Array(Schema.String),
  /** Seconds after which to retry. Null if a retry does not help. */
  retryAfter: Schema.NullOr(Schema.Int)
}) {}

const secondsUntilRetry = 5

const daySeconds = 86_400

/** The refusal with this reply. `now` is in milliseconds since 1970. */
export const of = (reply: Reply, recipients: ReadonlyArray<string>, now: number): MailRefused => {
  const { code, enhanced, reason, text } = reply
  const isForToday = reason === "quota" || reason === "sender_quota"
  const untilMidnight = daySeconds - (Math.floor(now / 1_000) % daySeconds)
  const retryAfter = code >= 500 ? null : isForToday ? untilMidnight : secondsUntilRetry
  return new MailRefused({ code, enhanced, text, recipients, retryAfter })
}
