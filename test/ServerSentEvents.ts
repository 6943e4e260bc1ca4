import { type IncomingMessage, request } from "node:http"
import { Deferred, Effect, Queue } from "effect"
import type * as Mailbox from "./Mailbox.ts"
import { TestInlet } from "./TestInlet.ts"

interface ServerSentEvent {
  readonly id: string
  readonly event: string
  readonly data: string
}

/** A stream on a connection of its own, for the lifetime of the scope. */
export const follow = Effect.fnUntraced(function* (inbox: Mailbox.Inbox, lastEventId?: string, query = "") {
  const inlet = yield* TestInlet
  const events = yield* Queue.unbounded<ServerSentEvent>()
  const response = yield* Effect.acquireRelease(
    Effect.callback<IncomingMessage>((resume) => {
      request(
        `${inlet.url}/api/domains/${inbox.domainId}/events/stream${query}`,
        {
          agent: false,
          headers: {
            authorization: `Bearer ${inbox.key}`,
            ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId })
          }
        },
        (response) => resume(Effect.succeed(response))
      ).end()
    }),
    (response) => Effect.sync(() => response.destroy())
  )
  let text = ""
  const ended = yield* Deferred.make<void>()
  response.setEncoding("utf8").on("error", () => {})
  response.on("close", () => Deferred.doneUnsafe(ended, Effect.void))
  response.on("data", (chunk) => {
    const blocks = (text + chunk).split("\n\n")
    text = blocks.pop() ?? ""
    for (const block of blocks) {
      // LF alone ends a line.
      const field = (name: string) => new RegExp(`(?:^|\\n)${name}: ([^\\n]*)`).exec(block)?.[1]
      const data = field("data")
      if (data !== undefined) {
        Queue.offerUnsafe(events, { id: field("id") ?? "", event: field("event") ?? "", data })
      }
    }
  })
  return {
    status: response.statusCode,
    headers: response.headers,
    next: Effect.orDie(Effect.timeout(Queue.take(events), "10 seconds")),
    ended: Effect.orDie(Effect.timeout(Deferred.await(ended), "10 seconds")),
    hangUp: Effect.sync(() => response.destroy())
  }
})
