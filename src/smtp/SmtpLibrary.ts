import { createHash } from "node:crypto"
import { Effect, Schema } from "effect"
import { SMTPServer } from "smtp-server"
import { SMTPConnection } from "smtp-server/lib/smtp-connection.js"
import { SMTPStream } from "smtp-server/lib/smtp-stream.js"

/** The installed smtp-server has other internals than those that are reached into here. */
export class SmtpLibraryChanged extends Schema.TaggedError<SmtpLibraryChanged>()("SmtpLibraryChanged", {
  message: Schema.String
}) {}

/** The version that was looked at. */
export const version = "3.21.6"

const digest = "71dfb8fcdbc68412ac4afd77e79a8224c54919640f084fe0535d4f2833ad77d6"

/** The code that DataStream and SmtpServer replace in part, and whatever else meets the part. */
export const internals = (): string =>
  [SMTPStream, SMTPConnection, SMTPServer.prototype.connect].map((code) => code.toString()).join("\n")

/** Smuggling is kept out by code that fits these internals, so the service does not start with others. */
export const check = Effect.fnUntraced(function* (code: string) {
  if (createHash("sha256").update(code).digest("hex") === digest) return
  return yield* new SmtpLibraryChanged({
    message: `smtp-server: The installed one is not version ${version} as it was published. Install it again with npm ci`
  })
})
