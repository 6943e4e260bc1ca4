import type { MessageChannel, MessagePort } from "node:worker_threads"
import { type Ask, dnsError } from "./SenderDns.ts"

/** Records in the form of `node:dns`, or the code of its error. */
export type Answer = { readonly records: ReadonlyArray<unknown> } | { readonly code: string }

/** Answers a query on the main thread, once and within seconds. */
export type Resolve = (name: string, type: string, then: (answer: Answer) => void) => void

interface Query {
  readonly number: number
  readonly name: string
  readonly type: string
}

type Reply = Answer & { readonly number: number }

/** Sends the queries of a parser thread through a port. */
export const ask = (port: MessagePort): Ask => {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let last = 0
  port.on("message", (reply: Reply) => {
    const query = waiting.get(reply.number)
    waiting.delete(reply.number)
    if ("code" in reply) query?.reject(dnsError(reply.code, "the DNS layer has no answer"))
    else query?.resolve(reply.records)
  })
  return (name, type) => {
    const query = Promise.withResolvers<unknown>()
    const number = ++last
    waiting.set(number, query)
    port.postMessage({ number, name, type } satisfies Query)
    return query.promise
  }
}

/** Answers the queries of the second port of a channel, which is for a parser thread. Returns the channel. */
export const serve = (channel: MessageChannel, resolve: Resolve): MessageChannel => {
  const { port1 } = channel
  port1.on("message", ({ name, number, type }: Query) =>
    resolve(name, type, (answer) => port1.postMessage({ ...answer, number } satisfies Reply))
  )
  return channel
}
