import { Schema } from "effect"

export const SessionId = Schema.String.check(Schema.isUUID()).pipe(Schema.brand("SessionId"))
export type SessionId = typeof SessionId.Type

/** A browser that is signed in to the console of a workspace. */
export const ConsoleSession = Schema.Struct({
  id: SessionId,
  scope: Schema.Literals(["full", "read"]).annotate({ description: "the scope of the key that opened the session" }),
  browser: Schema.NullOr(Schema.String).annotate({ description: "the User-Agent at sign-in, up to 200 characters" }),
  created_at: Schema.DateTimeUtcFromString,
  last_used_at: Schema.DateTimeUtcFromString.annotate({ description: "to five minutes" }),
  current: Schema.Boolean.annotate({ description: "true for the session of this request" })
}).annotate({ identifier: "ConsoleSession" })
export type ConsoleSession = typeof ConsoleSession.Type
