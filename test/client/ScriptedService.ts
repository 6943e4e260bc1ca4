import { createServer, type IncomingHttpHeaders } from "node:http"
import { buffer } from "node:stream/consumers"
import { setTimeout as pause } from "node:timers/promises"
import { Effect } from "effect"

/** An answer: status, headers and body, or no answer. */
export interface Scripted {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly isSilent?: boolean
  /** Milliseconds until the answer. */
  readonly delay?: number
}

export interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A service that gives these answers in sequence and then repeats the last one. */
export const serve = Effect.fnUntraced(function* (...answers: ReadonlyArray<Scripted>) {
  const requests: Array<Asked> = []
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const { headers, method = "", url = "" } = request
      requests.push({ method, url, headers, body: body.toString() })
      const answer = answers[Math.min(requests.length, answers.length) - 1] ?? {}
      if (answer.isSilent === true) return
      const isText = typeof answer.body === "string"
      const type = isText ? "text/html" : "application/json"
      const own = { "content-type": type, "x-request-id": `request-${requests.length}` }
      void pause(answer.delay ?? 0).then(() =>
        response
          .writeHead(answer.status ?? 200, { ...own, ...answer.headers })
          .end(isText ? answer.body : JSON.stringify(answer.body ?? {}))
      )
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.closeAllConnections()
        server.close(() => resume(Effect.void))
      })
  )
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return { url: `http://127.0.0.1:${port}`, requests }
})
