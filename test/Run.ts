import { inject } from "@effect/vitest"
import { Clock, Effect, FileSystem } from "effect"
import { eventually } from "./Eventually.ts"

/** One run of the suite, shared by its files. */
export interface Run {
  /** Removed at the end of the run. */
  readonly folder: string
  /** The name of a database, dropped at the end of the run. */
  readonly template: string
}

/**
 * Creates a file or folder once in a run and returns its path. The first test that needs it creates it while the
 * others wait.
 */
export const once = Effect.fnUntraced(function* <E, R>(
  name: string,
  make: (path: string) => Effect.Effect<void, E, R>
) {
  const fs = yield* FileSystem.FileSystem
  const path = `${inject("run").folder}/${name}`
  const isFirst = yield* fs.writeFile(`${path}.claimed`, new Uint8Array(), { flag: "wx" }).pipe(
    Effect.as(true),
    Effect.catchReason("PlatformError", "AlreadyExists", () => Effect.succeed(false))
  )
  if (isFirst) {
    yield* make(`${path}.partial`)
    yield* fs.rename(`${path}.partial`, path)
  }
  // Uses real time, whatever clock the test has.
  yield* eventually(fs.exists(path), (isThere) => isThere, "300 seconds").pipe(
    Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())
  )
  return path
})
