import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http"
import { Context, Effect, Layer, type Option, Queue } from "effect"
import * as Ports from "./Ports.ts"

export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** The parsed body of a JSON request. */
  // biome-ignore lint/suspicious/noExplicitAny: asserted field by field
  readonly event: any
}

/** An answer: a status, or a handler that controls the response. */
export type Reaction =
  | number
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | ((request: IncomingMessage, response: ServerResponse) => void)

/** A customer's server on a loopback socket that records its requests. */
export class WebhookReceiver extends Context.Service<
  WebhookReceiver,
  {
    readonly url: string
    /** Reactions to the next requests, one each, and 200 afterwards. */
    answerWith(...reactions: ReadonlyArray<Reaction>): Effect.Effect<void>
    /** The reaction to all requests from now on. */
    answerAlways(reaction: Reaction): Effect.Effect<void>
    /** The next request, within 20 s. */
    readonly next: Effect.Effect<ReceivedRequest>
    /** Every request so far. */
    readonly all: Effect.Effect<ReadonlyArray<ReceivedRequest>>
    /** The next request, if one arrives within this time. */
    within(milliseconds: number): Effect.Effect<Option.Option<ReceivedRequest>>
  }
>()("inlet/test/WebhookReceiver") {
  static readonly make = Effect.gen(function* () {
    const port = yield* Ports.free
    const requests = yield* Queue.unbounded<ReceivedRequest>()
    const all: Array<ReceivedRequest> = []
    const once: Array<Reaction> = []
    let always: Reaction = 200

    const server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const body = Buffer.concat(chunks)
        const received: ReceivedRequest = {
          method: request.method ?? "",
          path: request.url ?? "",
          headers: request.headers,
          body,
          event: /json/.test(`${request.headers["content-type"]}`) ? JSON.parse(body.toString()) : undefined
        }
        all.push(received)
        Queue.offerUnsafe(requests, received)
        const reaction = once.shift() ?? always
        if (typeof reaction === "function") return reaction(request, response)
        const {
          body: text = '{"ok":true}',
          headers = {},
          status
        } = typeof reaction === "number" ? { status: reaction } : reaction
        response.writeHead(status, headers).end(text)
      })
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => void server.listen(port, "127.0.0.1", () => resume(Effect.void))),
      () =>
        Effect.callback<void>((resume) => {
          server.closeAllConnections()
          server.close(() => resume(Effect.void))
        })
    )

    return WebhookReceiver.of({
      url: `http://127.0.0.1:${port}/hook`,
      answerWith: (...reactions) => Effect.sync(() => void once.push(...reactions)),
      answerAlways: (reaction) =>
        Effect.sync(() => {
          always = reaction
        }),
      next: Queue.take(requests).pipe(Effect.timeout("1 minute"), Effect.orDie),
      all: Effect.sync(() => [...all]),
      within: (milliseconds) => Effect.timeoutOption(Queue.take(requests), milliseconds)
    })
  })

  static readonly layer = Layer.effect(WebhookReceiver, WebhookReceiver.make)
}
