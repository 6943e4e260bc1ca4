import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, type Scope } from "effect"
import * as Program from "../test/Program.ts"

/** The disk of a service, and its faults. */
export interface Disk {
  readonly folder: string
  /** Whether it is a separate file system. Where it cannot be mounted, it is an ordinary folder. */
  readonly isMounted: boolean
  /** Fills the disk for the lifetime of the scope. Without a separate file system, no file can be created. */
  readonly full: Effect.Effect<void, never, Scope.Scope>
}

/** A small disk in this folder. */
export const make = Effect.fn("Disk.make")(
  function* (folder: string) {
    const fs = yield* FileSystem.FileSystem
    yield* fs.makeDirectory(folder, { recursive: true })
    const { code } = yield* Effect.acquireRelease(
      Program.run("mount", ["-t", "tmpfs", "-o", "size=64m,mode=0700", "inlet-raw", folder]).pipe(
        // Not installed.
        Effect.orElseSucceed(() => ({ code: 1 }))
      ),
      ({ code }) => (code === 0 ? Effect.ignore(Program.run("umount", ["--lazy", folder])) : Effect.void)
    )

    const filler = `${folder}/filler`
    const fill = Effect.acquireRelease(Program.run("dd", ["if=/dev/zero", `of=${filler}`, "bs=64k"]), () =>
      Effect.orDie(fs.remove(filler, { force: true }))
    )
    const segments = `${folder}/segments`
    // A file in place of the folder also stops root.
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
