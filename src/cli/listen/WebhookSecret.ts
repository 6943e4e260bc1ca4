import { Config, Console, Effect, FileSystem, Option, Redacted } from "effect"
import { CommandFailed } from "../terminal/CommandFailed.ts"
import * as Profiles from "../terminal/Profiles.ts"

interface Given {
  readonly secret: Option.Option<Redacted.Redacted>
  readonly secretFile: Option.Option<string>
  readonly profile: Option.Option<string>
}

const inFile = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.mapError(
    fs.readFileString(path),
    ({ message }) => new CommandFailed({ message: `--secret-file: ${message}` })
  )
  return Redacted.make(text.trim())
})

/**
 * Finds the secret that verifies webhooks: that of the flag, of the file, of INLET_WEBHOOK_SECRET, or of the profile.
 * Warns of the flag, because any user of the machine can read the arguments of a process.
 */
export const find = Effect.fnUntraced(function* ({ profile, secret, secretFile }: Given) {
  if (Option.isSome(secret)) {
    yield* Console.error(
      "Warning: --secret shows the secret in the list of processes. Use INLET_WEBHOOK_SECRET, --secret-file or a profile"
    )
  }
  const name = Option.getOrUndefined(
    Option.isSome(profile) ? profile : yield* Config.option(Config.NonEmptyString("INLET_PROFILE"))
  )
  const found =
    Option.getOrUndefined(secret) ??
    (Option.isSome(secretFile) ? yield* inFile(secretFile.value) : undefined) ??
    Option.getOrUndefined(yield* Config.option(Config.Redacted("INLET_WEBHOOK_SECRET"))) ??
    (name === undefined ? undefined : (yield* Profiles.get(name))?.secret)
  if (found !== undefined && Redacted.value(found).startsWith("whsec_")) return found
  if (found !== undefined) {
    return yield* new CommandFailed({
      message:
        "This is no signing secret: it does not begin with whsec_. Give the webhook_signing_secret of the workspace, not its API key"
    })
  }
  return yield* new CommandFailed({
    message:
      "No signing secret. Set INLET_WEBHOOK_SECRET to the webhook_signing_secret of the workspace, which begins with whsec_, or name a file that holds it (--secret-file). Without a secret: --forward-to URL"
  })
})
