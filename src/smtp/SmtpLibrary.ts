import { createHash } from "node:crypto"
import { Effect, Schema } from "effect"
import { SMTPServer } from "smtp-server"
import { SMTPConnection } from "smtp-server/lib/smtp-connection.js"
import { SMTPStream } from "smtp-server/lib/smtp-stream.js"

/** The installed smtp-server differs from the reviewed version. */
export class SmtpLibraryChanged extends Schema.TaggedError<SmtpLibraryChanged>()("SmtpLibraryChanged", {
  message: Schema.String
}) {}

/** The reviewed version. */
export const version = "3.21.6"

const digest = "71dfb8fcdbc68412ac4afd77e79a8224c54919640f084fe0535d4f2833ad77d6"

/** The library code that DataStream and SmtpServer replace in part, with its neighbors. */
export const internals = (): string =>
  [SMTPStream, SMTPConnection, SMTPServer.prototype.connect].map((code) => code.toString()).join("\n")

/** The protection against smuggling depends on these internals, so the service refuses to start with others. */
export const check = Effect.fnUntraced(function* (code: string) {
  if (createHash("sha256").update(code).digest("hex") === digest) return
  return yield* new SmtpLibraryChanged({
    message: `smtp-server: The installed package is not the published version ${version}. Reinstall it with npm ci`
  })
})
