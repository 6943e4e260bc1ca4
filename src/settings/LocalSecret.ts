import { Effect, FileSystem, Path, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"

/**
 * A secret that development makes for itself: 32 random bytes in base64, kept
 * in a file of `folder` that only its owner can read.
 */
export const readOrMake = Effect.fn("LocalSecret.readOrMake")(function* (folder: string, name: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const random = yield* SecureRandom.SecureRandom
  const file = path.join(folder, name)

  yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
  if (!(yield* fs.exists(file))) {
    const made = Buffer.from(yield* random.randomBytes(32)).toString("base64")
    // It appears under its name whole or not at all: a crash here, or another start, never leaves an empty one.
    const partial = `${file}.${yield* random.uuidV7()}`
    yield* fs.writeFileString(partial, `${made}\n`, { flag: "wx", mode: 0o600 })
    yield* fs.link(partial, file).pipe(
      // Another start was first: its secret counts.
      Effect.catchReason("PlatformError", "AlreadyExists", () => Effect.void),
      Effect.ensuring(Effect.ignore(fs.remove(partial)))
    )
  }
  return yield* read(folder, name)
}, Effect.orDie)

/** The secret that `readOrMake` made in this folder. */
export const read = Effect.fn("LocalSecret.read")(function* (folder: string, name: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return Redacted.make((yield* fs.readFileString(path.join(folder, name))).trim())
})
