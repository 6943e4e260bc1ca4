import { Effect, FileSystem, Path, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import * as DurableFolder from "../files/DurableFolder.ts"

/** The file of a secret is there, and has none. */
export class SecretUnusable extends Schema.TaggedError<SecretUnusable>()("SecretUnusable", {
  message: Schema.String
}) {}

/**
 * A secret that development makes for itself: 32 random bytes in base64, kept
 * in a file of `folder` that only its owner can read, and on the disk before it is used.
 */
export const readOrMake = Effect.fn("LocalSecret.readOrMake")(function* (folder: string, name: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const random = yield* SecureRandom.SecureRandom
  const file = path.join(folder, name)

  yield* DurableFolder.make(folder)
  if (!(yield* fs.exists(file))) {
    const made = Buffer.from(yield* random.randomBytes(32)).toString("base64")
    // It appears under its name whole or not at all: a crash here, or another start, never leaves an empty one.
    const partial = `${file}.${yield* random.uuidV7()}`
    yield* fs.writeFileString(partial, `${made}\n`, { flag: "wx", mode: 0o600 })
    yield* DurableFolder.sync(partial)
    yield* fs.link(partial, file).pipe(
      // Another start was first: its secret counts.
      Effect.catchReason("PlatformError", "AlreadyExists", () => Effect.void),
      Effect.ensuring(Effect.ignore(fs.remove(partial)))
    )
    yield* DurableFolder.sync(folder)
  }
  return yield* read(folder, name)
})

/** The secret that `readOrMake` made in this folder. */
export const read = Effect.fn("LocalSecret.read")(function* (folder: string, name: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(folder, name)
  const secret = (yield* fs.readFileString(file)).trim()
  if (secret === "") {
    return yield* new SecretUnusable({
      message: `${file} is empty. Put it back from a backup; without one, move ${folder} away to begin anew`
    })
  }
  return Redacted.make(secret)
})
