import { randomInt } from "node:crypto"
import { createServer } from "node:net"
import { Effect } from "effect"

// Below the kernel's range for clients, which could take a port before its server does. Each process walks through a
// block of its own, so that no two tests choose the same port.
const blockSize = 1_000
const block = 10_000 + (process.pid % 22) * blockSize
let next = randomInt(blockSize)

/** Finds a free loopback port. */
export const free: Effect.Effect<number> = Effect.callback<number | undefined>((resume) => {
  const port = block + (next++ % blockSize)
  const probe = createServer()
  probe.once("error", () => resume(Effect.undefined))
  probe.listen(port, "127.0.0.1", () => probe.close(() => resume(Effect.succeed(port))))
}).pipe(Effect.flatMap((port) => (port === undefined ? Effect.suspend(() => free) : Effect.succeed(port))))
