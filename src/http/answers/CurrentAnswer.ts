import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Context, Effect, Stream } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Asker } from "../../database/Turns.ts"
import type { TooManyRequests } from "../../model/ApiError.ts"

/** One request from its header to the last byte of its answer, or to the end of the connection. */
export interface Answer {
  /** The owner of the request for limits: a client address, later the workspace or demo inbox. */
  owner: string
  /** Reserved bytes of the answer. */
  reserved: number
  /** Charges bytes to the owner of the request. Charges nothing before the owner is known. */
  charge: (bytes: number) => Effect.Effect<void, TooManyRequests>
  /** Releases its slot among the open requests. */
  leave: () => void
  /** Headers for every answer. */
  readonly headers: Map<string, string>
  /** Calls the listener once at the end of the request. */
  readonly whenOver: (listener: () => void) => void
}

/** The answer to the request of this fiber, or none outside of a request. */
export const CurrentAnswer = Context.Reference<Answer | undefined>("inlet/http/CurrentAnswer", {
  defaultValue: () => undefined
})

/** Runs a stream outside of its request, as the body of an answer is, and counts it as part of the request. */
export const kept = Effect.fnUntraced(function* <A, E, R>(stream: Stream.Stream<A, E, R>) {
  const answer = yield* CurrentAnswer
  const asker = yield* Asker
  return stream.pipe(Stream.provideService(CurrentAnswer, answer), Stream.provideService(Asker, asker))
})

/** Makes the function that begins answers. Keeps what is open on each connection. */
export const make = () => {
  const ends = new WeakMap<Socket, Set<() => void>>()

  /** Node does not report a closed connection to pipelined answers. */
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

  return (request: HttpServerRequest.HttpServerRequest, owner: string) => begin(request, owner, endsOf)
}

const begin = (
  request: HttpServerRequest.HttpServerRequest,
  owner: string,
  endsOf: (socket: Socket) => Set<() => void>
): Answer => {
  const { socket } = NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage // The server supports only HTTP/1.1.
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
