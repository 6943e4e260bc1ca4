import { createServer } from "node:http"
import { Effect, Latch } from "effect"

/** A webhook that counts what it is sent and answers 200. */
export const make = Effect.gen(function* () {
  let received = 0
  let expected = Number.POSITIVE_INFINITY
  const reached = Latch.makeUnsafe(false)

  const server = createServer((request, response) => {
    request.on("data", () => {})
    request.on("end", () => {
      response.writeHead(200, { "Content-Type": "application/json" }).end('{"ok":true}')
      if (++received >= expected) reached.openUnsafe()
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  )
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0

  return {
    url: `http://127.0.0.1:${port}/`,
    /** Counts from zero; the effect ends when this many have come. */
    expect: (count: number) =>
      Effect.sync(() => {
        received = 0
        expected = count
        reached.closeUnsafe()
        return reached.await
      }),
    received: Effect.sync(() => received)
  }
})
