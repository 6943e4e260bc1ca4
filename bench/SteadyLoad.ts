import { createServer } from "node:http"
import { connect } from "node:net"
import { Effect, Latch } from "effect"
import * as Messages from "./Messages.ts"

export interface Load {
  readonly port: number
  /** One address, or one by the number of the message. */
  readonly recipient: string | ((number: number) => string)
  readonly run: string
  readonly messages: number
  /**
   * Either a number of concurrent connections with one message each, or a new connection every given number of
   * milliseconds.
   */
  readonly pace: { readonly concurrency: number } | { readonly everyMillis: number }
}

/** Milliseconds from the end of DATA, one for each message. */
export interface Times {
  readonly toReply: ReadonlyArray<number>
  readonly toWebhook: ReadonlyArray<number>
}

/** A webhook that records the send time of each message, and a sender of 4 KB mails to it. */
export const make = Effect.gen(function* () {
  const sentAt = new Map<string, number>()
  const arrivals = new Map<string, number>()
  let expected = Number.POSITIVE_INFINITY
  const allArrived = Latch.makeUnsafe(false)

  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      response.writeHead(200).end("ok")
      const [, id = ""] = /"message_id":"<([^>]+)>"/.exec(Buffer.concat(chunks).toString("latin1")) ?? []
      if (!sentAt.has(id) || arrivals.has(id)) return
      arrivals.set(id, performance.now())
      if (arrivals.size >= expected) allArrived.openUnsafe()
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

  /** Sends one message in a session of its own. Returns the milliseconds to its 250, or undefined. */
  const deliver = (load: Load, number: number) =>
    Effect.callback<number | undefined>((resume) => {
      const socket = connect(load.port, "127.0.0.1").setNoDelay(true).setEncoding("latin1")
      const id = `${load.run}-${number}@sender.example`
      const recipient = typeof load.recipient === "string" ? load.recipient : load.recipient(number)
      const says = [
        "EHLO generator.example\r\n",
        "MAIL FROM:<sender@sender.example>\r\n",
        `RCPT TO:<${recipient}>\r\n`,
        "DATA\r\n",
        `${Messages.head(`${load.run}-${number}`, recipient)}${Messages.body.small.toString("latin1")}.\r\n`
      ]
      let toReply: number | undefined
      let step = 0
      socket.on("data", (reply: unknown) => {
        if (!/^\d{3} .*\r\n$/m.test(String(reply))) return
        const next = says[step++]
        if (step === says.length) sentAt.set(id, performance.now())
        if (next !== undefined) return void socket.write(next)
        if (step > says.length + 1) return
        if (String(reply).startsWith("250")) toReply = performance.now() - (sentAt.get(id) ?? 0)
        else sentAt.delete(id)
        socket.end("QUIT\r\n")
      })
      socket.on("error", () => {})
      socket.on("close", () => resume(Effect.succeed(toReply)))
    })

  const run = (load: Load) =>
    Effect.gen(function* () {
      sentAt.clear()
      arrivals.clear()
      expected = load.messages
      allArrived.closeUnsafe()
      const { pace } = load
      const numbers = Array.from({ length: load.messages }, (_, number) => number)
      const replies = yield* Effect.forEach(
        numbers,
        (number) =>
          "everyMillis" in pace
            ? Effect.delay(deliver(load, number), number * pace.everyMillis)
            : deliver(load, number),
        { concurrency: "everyMillis" in pace ? "unbounded" : pace.concurrency }
      )
      yield* Effect.timeoutOption(allArrived.await, "60 seconds")
      const times: Times = {
        toReply: replies.filter((took) => took !== undefined),
        toWebhook: [...arrivals].map(([id, arrived]) => arrived - (sentAt.get(id) ?? 0))
      }
      return times
    })

  return { url: `http://127.0.0.1:${port}/`, run }
})

export type SteadyLoad = Effect.Success<typeof make>
