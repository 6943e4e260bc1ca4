import { Clock, Config, Effect, FileSystem, Option, Path } from "effect"
import * as WorkerThread from "../src/threads/WorkerThread.ts"
import type { Dice } from "./Dice.ts"
import type { Found } from "./Found.ts"
import type { Outcome } from "./MessageThread.ts"
import * as Mutation from "./Mutation.ts"

const script = new URL("./MessageThread.ts", import.meta.url)

/** Seed messages: those of CORPUS_DIR and the tests' own. */
export const seeds = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folders = [
    new URL("../test/fixtures", import.meta.url).pathname,
    ...Option.toArray(yield* Config.option(Config.String("CORPUS_DIR")))
  ]
  const names = yield* Effect.forEach(folders, (folder) =>
    Effect.map(fs.readDirectory(folder, { recursive: true }), (names) => names.map((name) => path.join(folder, name)))
  )
  const found = yield* Effect.forEach(names.flat(), (name) =>
    Effect.flatMap(fs.stat(name), ({ type }) =>
      type === "File" ? Effect.asSome(fs.readFile(name)) : Effect.succeedNone
    )
  )
  return found.flatMap((one) => (one._tag === "Some" ? [one.value] : []))
})

/** One second for each 64 KiB, plus a margin for a busy machine. */
const allowedMillis = (bytes: number) => 1_000 * Math.max(1, Math.ceil(bytes / 65_536))

/** The DNS timeout of sender checks in ms, plus a margin. */
const longestWait = 10_000

/**
 * Parses mutated messages in a separate thread until the deadline. Findings are exceptions, hangs and invalid events.
 */
export const run = Effect.fn("Messages.run")(function* (
  dice: Dice,
  messages: ReadonlyArray<Uint8Array>,
  found: Found,
  until: number
) {
  let count = 0
  while ((yield* Clock.currentTimeMillis) < until) {
    yield* Effect.scoped(
      Effect.gen(function* () {
        const thread = yield* WorkerThread.make<Uint8Array, Outcome>(script)
        yield* thread.ready
        // Warm up: the first parse in a thread is slower.
        yield* thread.ask(Buffer.from("Subject: first\r\n\r\n"))
        let isSound = true
        while (isSound && (yield* Clock.currentTimeMillis) < until) {
          const message = Mutation.mutate(dice, dice.oneOf(messages), messages)
          const allowed = allowedMillis(message.length)
          const read = thread.ask(message).pipe(
            Effect.timeoutOrElse({
              duration: allowed * 10 + longestWait,
              orElse: () => Effect.succeed({ fault: "no end", busyMillis: 0 })
            }),
            Effect.catchCause((cause) => Effect.succeed({ fault: `a throw: ${cause}`, busyMillis: 0 }))
          )
          const { busyMillis, fault } = yield* read
          count++
          // Repeat, because another process may have used the processor.
          const isSlow = busyMillis > allowed && (yield* read).busyMillis > allowed
          if (fault !== undefined) yield* found.add("message", fault, message)
          else if (isSlow) yield* found.add("message", `${busyMillis} ms for ${message.length} bytes`, message)
          isSound = fault === undefined
        }
      })
    )
  }
  return count
})
