import { linkSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { Effect } from "effect"

/** Leaves a Unix socket at a path whose owner is no more, as a process does that is killed. */
export const leave = (path: string) =>
  Effect.callback<void>((resume) => {
    rmSync(path, { force: true })
    const made = `${path}~`
    const server = createServer()
    server.listen(made, () => {
      // A server takes away the name alone that it was given.
      linkSync(made, path)
      server.close(() => resume(Effect.void))
    })
  })
