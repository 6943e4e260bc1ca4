import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Context, Effect, Stream } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Asker } from "../../database/Turns.ts"
import type { TooManyRequests } from "../../model/ApiError.ts"

/** One request from its header until the last byte of its answer is on its way, or its client is gone. */
export interface Answer {
  /** Who is to be counted for it: a client address, and once that is known a workspace or demo inbox. */
  owner: string
  /** Bytes of it that there is room for. */
  reserved: number
  /** Counts so many bytes of it among what its owner asks for. Nobody is charged before the owner is known. */
  charge: (bytes: number) => Effect.Effect<void, TooManyRequests>
  /** Gives back its place among the requests under way. */
  leave: () => void
  /** Headers that are told whatever the answer is. */
  readonly headers: Map<string, string>
  /** Calls this once, when it is over. */
  readonly whenOver: (listener: () => void) => void
}

/** The answer to the request of this fiber; none outside of a request. */
export const CurrentAnswer = Context.Reference<Answer | undefined>("inlet/http/CurrentAnswer", {
  defaultValue: () => undefined
})

/** A stream that is run outside of the request, as the body of an answer is, and is counted as if it were inside. */
export const kept = <A, E, R>(stream: Stream.Stream<A, E, R>) =>
  Effect.gen(function* () {
    const answer = yield* CurrentAnswer
    const asker = yield* Asker
    return stream.pipe(Stream.provideService(CurrentAnswer, answer), Stream.provideService(Asker, asker))
  })

export const begin = (request: HttpServerRequest.HttpServerRequest, owner: string): Answer => {
  const { socket } = NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage // The server speaks HTTP/1.1 alone.
  const response = NodeHttpServerRequest.toServerResponse(request) as ServerResponse // As above.
  const listeners: Array<() => void> = []
  let isOver = response.closed || socket.destroyed
  const end = () => {
    isOver = true
    endsOf(socket).delete(end)
    for (const listener of listeners.splice(0)) listener()
  }
  if (!isOver) {
    response.once("close", end)
    endsOf(socket).add(end)
  }
  return {
    owner,
    reserved: 0,
    charge: () => Effect.void,
    leave: () => {},
    headers: new Map(),
    whenOver: (listener) => {
      if (isOver) listener()
      else listeners.push(listener)
    }
  }
}

const ends = new WeakMap<Socket, Set<() => void>>()

/** An answer that waits behind another one on its connection is not told when that closes. */
const endsOf = (socket: Socket): Set<() => void> => {
  const known = ends.get(socket)
  if (known !== undefined) return known
  const made = new Set<() => void>()
  ends.set(socket, made)
  socket.once("close", () => {
    for (const end of [...made]) end()
  })
  return made
}
