import { createHash } from "node:crypto"
import { homedir } from "node:os"
import { Clock, Config, Console, Effect, FileSystem, Option, Path, Schema } from "effect"
import type { BriefEvent } from "../../events/BriefEvent.ts"
import type { DomainId } from "../../model/Domain.ts"

type Mail = Pick<BriefEvent, "event_id" | "from" | "receivedAt" | "recipient">

/** Milliseconds until a file counts no more. A wait finds no code of that age by itself. */
const kept = 300_000

const Printed = Schema.fromJsonString(Schema.Struct({ event_id: Schema.String, receivedAt: Schema.String }))

/**
 * Remembers which codes `inlet wait` has printed, in the user's state folder: for each sender and recipient the last
 * one, in a file of its own. A code replaces the earlier ones of its sender to its recipient.
 */
export const open = Effect.fnUntraced(function* (domainId: DomainId) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const state = yield* Config.withDefault(
    Config.NonEmptyString("XDG_STATE_HOME"),
    path.join(homedir(), ".local", "state")
  )
  const folder = path.join(state, "inlet", "codes")

  const fileOf = ({ from, recipient }: Mail) => {
    const pair = `${domainId} ${recipient.toLowerCase()} ${from.toLowerCase()}`
    return path.join(folder, `${createHash("sha256").update(pair).digest("hex")}.json`)
  }

  /** Whether this code, or a later one of its sender to its recipient, was printed. */
  const has = Effect.fnUntraced(function* (mail: Mail) {
    const text = yield* Effect.option(fs.readFileString(fileOf(mail)))
    const printed = Option.flatMap(text, Schema.decodeOption(Printed))
    return Option.exists(
      printed,
      ({ event_id, receivedAt }) => event_id === mail.event_id || receivedAt > mail.receivedAt
    )
  })

  const forgetOld = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    for (const name of yield* fs.readDirectory(folder)) {
      const file = path.join(folder, name)
      const { mtime } = yield* fs.stat(file)
      if (Option.exists(mtime, (time) => now - time.getTime() > kept)) yield* fs.remove(file, { force: true })
    }
  })

  /** Fails never: a code that cannot be remembered is printed all the same. */
  const keep = Effect.fnUntraced(function* (mail: Mail) {
    if (yield* has(mail)) return
    const file = fileOf(mail)
    const text = yield* Effect.orDie(Schema.encodeEffect(Printed)(mail))
    yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 }).pipe(
      Effect.andThen(Effect.ignore(forgetOld)),
      Effect.andThen(fs.writeFileString(`${file}.${mail.event_id}`, text, { mode: 0o600 })),
      Effect.andThen(fs.rename(`${file}.${mail.event_id}`, file)),
      Effect.catch(({ message }) =>
        Console.error(`The next \`inlet wait\` may print this code again, because it could not be noted: ${message}`)
      )
    )
  })

  return { has, keep }
})
