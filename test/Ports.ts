import { randomInt } from "node:crypto"
import { createServer } from "node:net"
import { Effect } from "effect"

/** Below the ports that the system gives to clients: one of those could take it before its server does. */
const lowest = 10_000
const highest = 32_000

/** A loopback port that nobody listens on now. */
export const free: Effect.Effect<number> = Effect.callback<number | undefined>((resume) => {
  const port = randomInt(lowest, highest)
  const probe = createServer()
  probe.once("error", () => resume(Effect.succeed(undefined)))
  probe.listen(port, "127.0.0.1", () => probe.close(() => resume(Effect.succeed(port))))
}).pipe(Effect.flatMap((port) => (port === undefined ? Effect.suspend(() => free) : Effect.succeed(port))))
