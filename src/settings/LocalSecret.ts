import { Effect, FileSystem, Path, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import * as DurableFolder from "../files/DurableFolder.ts"

/** The generated secrets, each with what to do if its file is empty. */
const remedies = {
  "admin-token": () => "Delete it, and the next start makes a new one",
  "secrets-key": (folder: string) => `Restore it from a backup. Without one, move ${folder} away to start anew`
} as const

type Name = keyof typeof remedies

/** The file of a secret exists and is empty. */
export class SecretUnusable extends Schema.TaggedError<SecretUnusable>()("SecretUnusable", {
  message: Schema.String
}) {}

/**
 * Generates a secret for development: 32 random bytes in base64, in a file of `folder` with mode 600 that is synced
 * before use.
 */
export const readOrMake = Effect.fn("LocalSecret.readOrMake")(function* (folder: string, name: Name) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const random = yield* SecureRandom.SecureRandom
  const file = path.join(folder, name)

  yield* DurableFolder.make(folder)
  if (!(yield* fs.exists(file))) {
    const made = Buffer.from(yield* random.randomBytes(32)).toString("base64")
    // It appears under its name completely or not at all, so that a crash or another start never leaves an empty
    // file.
    const partial = `${file}.${yield* random.uuidV7()}`
    yield* fs.writeFileString(partial, `${made}\n`, { flag: "wx", mode: 0o600 })
    yield* DurableFolder.sync(partial)
    yield* fs.link(partial, file).pipe(
      // Another start was first, and its secret counts.
      Effect.catchReason("PlatformError", "AlreadyExists", () => Effect.void),
      Effect.ensuring(Effect.ignore(fs.remove(partial)))
    )
    yield* DurableFolder.sync(folder)
  }
  return yield* read(folder, name)
})

/** The secret that `readOrMake` created in this folder. */
export const read = Effect.fn("LocalSecret.read")(function* (folder: string, name: Name) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(folder, name)
  const secret = (yield* fs.readFileString(file)).trim()
  if (secret === "") {
    return yield* new SecretUnusable({
      message: `${file} is empty. ${remedies[name](folder)}`
    })
  }
  return Redacted.make(secret)
})
