import { request as ask, createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { Deferred, Effect } from "effect"
import * as Ports from "./Ports.ts"

/** An exchange that is held. */
export interface Held {
  /** Waits until an exchange is held. */
  readonly reached: Effect.Effect<void>
  readonly letGo: Effect.Effect<void>
}

/** A loopback proxy in front of another server that passes everything except exchanges to hold. */
export interface Gate {
  /** The other server's URL with the gate's port. */
  readonly url: string
  /**
   * Holds the next exchange with a matching path or body: the request before it reaches the server, or the answer
   * after the server acted.
   */
  hold(what: RegExp, which: "request" | "answer"): Effect.Effect<Held>
}

interface Hold {
  readonly what: RegExp
  readonly which: "request" | "answer"
  readonly reached: Deferred.Deferred<void>
  goOn: () => void
}

export const before = Effect.fnUntraced(function* (target: string) {
  const port = yield* Ports.free
  const behind = new URL(target)
  const holds: Array<Hold> = []

  const stop = (hold: Hold, goOn: () => void) => {
    hold.goOn = goOn
    Deferred.doneUnsafe(hold.reached, Effect.void)
  }

  const pass = ({ headers, method, url: path = "" }: IncomingMessage, response: ServerResponse, body: Buffer) => {
    const index = holds.findIndex(({ what }) => what.test(path) || what.test(body.toString()))
    const [hold] = index < 0 ? [] : holds.splice(index, 1)
    const forward = () => {
      const onward = ask({ host: behind.hostname, port: behind.port, method, path, headers }, (answer) => {
        const chunks: Array<Buffer> = []
        answer.on("data", (chunk: Buffer) => chunks.push(chunk))
        answer.on("end", () => {
          const reply = () =>
            void response.writeHead(answer.statusCode ?? 502, answer.headers).end(Buffer.concat(chunks))
          if (hold?.which === "answer") stop(hold, reply)
          else reply()
        })
      })
      onward.on("error", () => response.destroy())
      onward.end(body)
    }
    if (hold?.which === "request") stop(hold, forward)
    else forward()
  }

  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("error", () => {})
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => pass(request, response, Buffer.concat(chunks)))
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(port, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.callback<void>((resume) => {
        server.closeAllConnections()
        server.close(() => resume(Effect.void))
      })
  )

  const url = new URL(target)
  url.port = `${port}`
  const gate: Gate = {
    url: url.href.replace(/\/$/, ""),
    hold: Effect.fnUntraced(function* (what, which) {
      const hold: Hold = { what, which, reached: yield* Deferred.make<void>(), goOn: () => {} }
      holds.push(hold)
      return {
        reached: Deferred.await(hold.reached).pipe(
          Effect.timeoutOrElse({
            duration: "1 minute",
            orElse: () => Effect.die(new Error(`Nothing came that matches ${what}`))
          })
        ),
        letGo: Effect.sync(() => hold.goOn())
      }
    })
  }
  return gate
})
