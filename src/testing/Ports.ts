import { randomInt } from "node:crypto"
import { createSocket } from "node:dgram"
import { createServer } from "node:net"
import { Effect } from "effect"

// Below the kernel's range for clients, which could take a port before its server does.
const first = 10_000
const size = 11_000
let next = randomInt(size)

const ignore = () => {}

/**
 * Reserves a port against all other processes of this machine until this one ends: the kernel gives the UDP port
 * `size` above it to one process. Succeeds with false if another process has it.
 */
const reserve = (port: number) =>
  Effect.callback<boolean>((resume) => {
    const guard = createSocket("udp4").unref()
    const isTaken = () => guard.close(() => resume(Effect.succeed(false)))
    guard.once("error", isTaken)
    guard.bind({ port: port + size, address: "127.0.0.1", exclusive: true }, () => {
      // That listener retains the fiber, whose result contains the whole service that has the port.
      guard.off("error", isTaken).on("error", ignore)
      resume(Effect.succeed(true))
    })
  })

const isUnused = (port: number) =>
  Effect.callback<boolean>((resume) => {
    const probe = createServer()
    probe.once("error", () => resume(Effect.succeed(false)))
    probe.listen(port, "127.0.0.1", () => probe.close(() => resume(Effect.succeed(true))))
  })

/** Finds a free loopback port. No other process finds it as long as this one runs. */
export const free: Effect.Effect<number> = Effect.suspend(() => {
  const port = first + (next++ % size)
  return Effect.flatMap(Effect.all([reserve(port), isUnused(port)]), (answers) =>
    answers.every(Boolean) ? Effect.succeed(port) : free
  )
})
