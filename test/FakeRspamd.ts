import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { Context, Effect, Layer } from "effect"
import * as Ports from "./Ports.ts"

export type Reaction = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void

/** rspamd's place on a loopback port, with the last request. */
export class FakeRspamd extends Context.Service<
  FakeRspamd,
  {
    readonly url: string
    reacts(reaction: Reaction): Effect.Effect<void>
    readonly last: () => { readonly request: IncomingMessage; readonly body: Buffer } | undefined
    readonly open: () => number
  }
>()("inlet/test/FakeRspamd") {
  static readonly layer = Layer.effect(
    FakeRspamd,
    Effect.gen(function* () {
      const port = yield* Ports.free
      let reaction: Reaction = (_, response) => void response.end()
      let last: { readonly request: IncomingMessage; readonly body: Buffer } | undefined
      let open = 0
      const server = createServer((request, response) => {
        open++
        response.on("close", () => open--)
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          last = { request, body: Buffer.concat(chunks) }
          reaction(request, response, last.body)
        })
      })
      yield* Effect.acquireRelease(
        Effect.callback<void>((resume) => void server.listen(port, "127.0.0.1", () => resume(Effect.void))),
        () => Effect.sync(() => server.close().closeAllConnections())
      )
      return FakeRspamd.of({
        url: `http://127.0.0.1:${port}`,
        reacts: (next) =>
          Effect.sync(() => {
            reaction = next
          }),
        last: () => last,
        open: () => open
      })
    })
  )
}
