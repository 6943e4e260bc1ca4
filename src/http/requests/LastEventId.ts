import { Schema } from "effect"

/** The header with which a client of server-sent events resumes a stream (HTML Living Standard, section 9.2.4). */
export const LastEventId = Schema.optionalKey(
  Schema.String.annotate({ description: "continue after this event. Clients of server-sent events send it themselves" })
)
