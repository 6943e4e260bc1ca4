import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, type Scope } from "effect"
import * as Program from "../test/Program.ts"

/** Where a service writes, and what can be done to it. */
export interface Disk {
  readonly folder: string
  /** Whether it is a file system of its own; where mounting is not permitted it is an ordinary folder. */
  readonly isMounted: boolean
  /** Not a byte fits any more for as long as the scope lasts; without a file system of its own, no file can be made. */
  readonly full: Effect.Effect<void, never, Scope.Scope>
}

/** A small disk in this folder. */
export const make = Effect.fn("Disk.make")(
  function* (folder: string) {
    const fs = yield* FileSystem.FileSystem
    yield* fs.makeDirectory(folder, { recursive: true })
    const { code } = yield* Effect.acquireRelease(
      Program.run("mount", ["-t", "tmpfs", "-o", "size=64m,mode=0700", "inlet-raw", folder]),
      ({ code }) => (code === 0 ? Effect.ignore(Program.run("umount", ["--lazy", folder])) : Effect.void)
    )

    const filler = `${folder}/filler`
    const fill = Effect.acquireRelease(Program.run("dd", ["if=/dev/zero", `of=${filler}`, "bs=64k"]), () =>
      Effect.orDie(fs.remove(filler, { force: true }))
    )
    const segments = `${folder}/segments`
    // A file where the folder should be stops root, too.
    const obstruct = Effect.acquireRelease(
      Effect.andThen(fs.rename(segments, `${segments}.away`), fs.writeFileString(segments, "")),
      () => Effect.orDie(Effect.andThen(fs.remove(segments), fs.rename(`${segments}.away`, segments)))
    )
    const isMounted = code === 0
    const disk: Disk = {
      folder,
      isMounted,
      full: Effect.asVoid(isMounted ? fill : obstruct).pipe(Effect.orDie, Effect.provide(NodeServices.layer))
    }
    return disk
  },
  Effect.provide(NodeServices.layer),
  Effect.orDie
)
