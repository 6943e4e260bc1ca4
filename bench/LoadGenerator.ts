import { connect, type Socket } from "node:net"
import { Duration, Effect } from "effect"
import * as Marker from "./Marker.ts"
import * as Messages from "./Messages.ts"

export interface Receiver {
  readonly smtpPort: number
  readonly recipient: string
}

export interface Mail {
  /** Unique for each run. */
  readonly run: number
  readonly messages: number
  readonly mix: Messages.Mix
}

/** Timestamps of each message, from `performance.now()`. Zero means never. */
export interface Sent {
  /** When its last byte was handed to the kernel. */
  readonly dataEndedAt: Float64Array
  /** When its 250 arrived. */
  readonly acceptedAt: Float64Array
}

/** Sends messages in sequence on each connection, and opens the next connection when one ends. */
export const closedLoop = (
  receiver: Receiver,
  mail: Mail,
  { connections, messagesPerConnection }: { readonly connections: number; readonly messagesPerConnection: number }
) =>
  Effect.callback<Sent>((resume) => {
    const sent = nothing(mail)
    const open = new Set<Socket>()
    let next = 0

    const begin = () => {
      if (next >= mail.messages) {
        if (open.size === 0) resume(Effect.succeed(sent))
        return
      }
      const first = next
      next = Math.min(next + messagesPerConnection, mail.messages)
      const socket = converse(receiver, mail, sent, first, next)
      open.add(socket)
      socket.once("close", () => {
        open.delete(socket)
        begin()
      })
    }
    for (let connection = 0; connection < connections; connection++) begin()

    return Effect.sync(() => {
      next = mail.messages
      for (const socket of open) socket.destroy()
    })
  })

/** Starts messages at a constant rate, each on a new connection, however long earlier ones take. */
export const openLoop = Effect.fnUntraced(function* (receiver: Receiver, mail: Mail, perSecond: number) {
  const sent = nothing(mail)
  const open = new Set<Socket>()
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const socket of open) socket.destroy()
    })
  )
  const started = performance.now()
  for (let next = 0; next < mail.messages; next++) {
    const early = started + (next * 1_000) / perSecond - performance.now()
    if (early > 0) yield* Effect.sleep(Duration.millis(early))
    const socket = converse(receiver, mail, sent, next, next + 1)
    open.add(socket)
    socket.once("close", () => open.delete(socket))
  }
  while (open.size > 0) yield* Effect.sleep("5 millis")
  return sent
}, Effect.scoped)

const nothing = ({ messages }: Mail): Sent => ({
  dataEndedAt: new Float64Array(messages),
  acceptedAt: new Float64Array(messages)
})

/** One SMTP connection. It speaks SMTP itself, so that the generator uses little CPU beside the measured server. */
const converse = (
  { recipient, smtpPort }: Receiver,
  { mix, run }: Mail,
  sent: Sent,
  first: number,
  end: number
): Socket => {
  const socket = connect(smtpPort, "127.0.0.1").setNoDelay(true)
  let number = first
  let step: "greeting" | "hello" | "envelope" | "data" | "quit" = "greeting"
  let answers = 0
  let buffered = ""

  const transaction = () => {
    answers = 0
    step = "envelope"
    socket.write(`MAIL FROM:<sender@sender.example>\r\nRCPT TO:<${recipient}>\r\nDATA\r\n`)
  }
  const message = () => {
    const own = number
    step = "data"
    socket.cork()
    socket.write(Messages.head(Marker.make(run, own), recipient), "latin1")
    socket.write(Messages.body[Messages.kindOf(mix, own)])
    socket.write(".\r\n", () => {
      sent.dataEndedAt[own] = performance.now()
    })
    socket.uncork()
  }
  const onReply = (code: number) => {
    if (code >= 400) return socket.destroy()
    switch (step) {
      case "greeting":
        step = "hello"
        return socket.write("EHLO generator.example\r\n")
      case "hello":
        return transaction()
      case "envelope":
        return ++answers === 3 && message()
      case "data":
        sent.acceptedAt[number] = performance.now()
        if (++number < end) return transaction()
        step = "quit"
        return socket.end("QUIT\r\n")
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
  // Messages without a 250 are counted at the end.
  socket.on("error", () => {})
  return socket
}
