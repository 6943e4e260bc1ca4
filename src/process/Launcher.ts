import { Config, Effect, FileSystem, Option } from "effect"

const lookEvery = "1 second"

/**
 * Completes within a second after the npm that runs this process has ended, also by SIGKILL, which npm cannot pass on.
 * Never completes for a process that npm did not start. npm starts a shell that starts this process, so a new parent
 * of either of them tells. Linux alone shows the parent of the shell (proc(5), /proc/pid/stat).
 */
export const ended = Effect.gen(function* () {
  const script = yield* Config.option(Config.String("npm_lifecycle_event"))
  if (Option.isNone(script)) return yield* Effect.never
  const first = yield* ancestors
  yield* Effect.delay(ancestors, lookEvery).pipe(Effect.repeat({ until: (now) => now !== first }))
})

const ancestors = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const shell = process.ppid
  const stat = yield* Effect.orElseSucceed(fs.readFileString(`/proc/${shell}/stat`), () => "")
  // The name of the program stands in parentheses and may contain blanks.
  const npm = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]
  return `${shell} ${npm}`
})
