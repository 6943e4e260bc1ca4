import { connect } from "node:net"
import { Effect } from "effect"

export interface Load {
  readonly port: number
  readonly recipient: string
  readonly messages: number
  /** Connections at a time. */
  readonly concurrency: number
  readonly messagesPerConnection: number
  readonly message: (number: number) => string
}

export interface Result {
  readonly accepted: number
  /** Milliseconds from the end of DATA to its reply, one for each message. */
  readonly replyTimes: ReadonlyArray<number>
}

/**
 * Sends all messages in a closed loop: each connection sends its share, one
 * after the other, and the next opens when one has ended. Speaks SMTP itself,
 * so that the generator costs little beside what it measures.
 */
export const run = (load: Load) =>
  Effect.callback<Result>((resume) => {
    const replyTimes: Array<number> = []
    let accepted = 0
    let next = 0
    let ended = 0

    const session = () => {
      if (next >= load.messages) return
      let left = Math.min(load.messagesPerConnection, load.messages - next)
      const numbers = Array.from({ length: left }, () => next++)
      const socket = connect(load.port, "127.0.0.1").setNoDelay(true)
      let sentAt = 0
      let step: "greeting" | "hello" | "envelope" | "data" | "quit" = "greeting"
      let answers = 0
      let buffered = ""

      const transaction = () => {
        answers = 0
        step = "envelope"
        socket.write(`MAIL FROM:<sender@sender.example>\r\nRCPT TO:<${load.recipient}>\r\nDATA\r\n`)
      }
      const onReply = (code: number) => {
        switch (step) {
          case "greeting":
            step = "hello"
            socket.write("EHLO generator.example\r\n")
            return
          case "hello":
            return transaction()
          case "envelope":
            if (++answers < 3) return
            step = "data"
            if (code !== 354) return socket.destroy()
            socket.write(`${load.message(numbers[numbers.length - left] ?? 0)}\r\n.\r\n`)
            sentAt = performance.now()
            return
          case "data":
            replyTimes.push(performance.now() - sentAt)
            if (code === 250) accepted++
            if (--left > 0) return transaction()
            step = "quit"
            socket.end("QUIT\r\n")
        }
      }
      socket.setEncoding("latin1")
      socket.on("data", (chunk) => {
        buffered += chunk
        for (let end = buffered.indexOf("\n"); end >= 0; end = buffered.indexOf("\n")) {
          const line = buffered.slice(0, end)
          buffered = buffered.slice(end + 1)
          if (line[3] !== "-") onReply(Number(line.slice(0, 3)))
        }
      })
      socket.on("error", () => {})
      socket.on("close", () => {
        ended += numbers.length
        if (ended >= load.messages) resume(Effect.succeed({ accepted, replyTimes }))
        else session()
      })
    }
    for (let connection = 0; connection < load.concurrency; connection++) session()
  })
