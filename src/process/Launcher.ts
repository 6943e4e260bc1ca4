import { Config, Effect, FileSystem, Option } from "effect"

const lookEvery = "1 second"

/**
 * Completes within 1 s after the npm that runs this process has ended, also after SIGKILL, which npm cannot forward.
 * Never completes for a process without npm. npm starts a shell that starts this process, so a new parent of either
 * one shows the end. Only Linux shows the parent of the shell (proc(5), /proc/pid/stat).
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
  // The program's name is in parentheses and may contain spaces.
  const npm = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]
  return `${shell} ${npm}`
})
