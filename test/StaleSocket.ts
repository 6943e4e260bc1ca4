import { linkSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { Effect } from "effect"

/** Leaves a Unix socket without an owner at a path, as a killed process does. */
export const leave = (path: string) =>
  Effect.callback<void>((resume) => {
    rmSync(path, { force: true })
    const made = `${path}~`
    const server = createServer()
    server.listen(made, () => {
      // A server removes only the name that it was given.
      linkSync(made, path)
      server.close(() => resume(Effect.void))
    })
  })
