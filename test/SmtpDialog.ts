import { connect } from "node:net"
import { Effect, Queue, type Scope } from "effect"

/** One SMTP session over a raw socket, line by line. */
export interface SmtpDialog {
  /** Sends a line with CRLF and waits for the whole reply, which may have several lines. */
  say(line: string): Effect.Effect<string>
  /** Sends raw bytes without waiting. */
  write(bytes: string | Uint8Array): Effect.Effect<void>
  /** The next reply, or the empty string when the server has closed the connection. */
  readonly reply: Effect.Effect<string>
  /** Closes the connection, with RST if `hard`. */
  hangUp(hard?: boolean): Effect.Effect<void>
}

/** Opens a session and reads its greeting. `first` is sent before the greeting. */
export const open = Effect.fnUntraced(function* (
  port: number,
  { first = "", localAddress }: { readonly first?: string; readonly localAddress?: string | undefined } = {}
): Effect.fn.Return<SmtpDialog & { readonly greeting: string; readonly localPort: number }, never, Scope.Scope> {
  const replies = yield* Queue.unbounded<string>()
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() =>
      connect({ port, host: "127.0.0.1", ...(localAddress === undefined ? {} : { localAddress }) })
        .setNoDelay(true)
        .setEncoding("utf8")
    ),
    (socket) => Effect.sync(() => socket.destroy())
  )
  let text = ""
  socket.on("data", (chunk) => {
    text += chunk
    for (let end = endOfReply(text); end > 0; end = endOfReply(text)) {
      Queue.offerUnsafe(replies, text.slice(0, end).trimEnd())
      text = text.slice(end)
    }
  })
  socket.on("close", () => Queue.offerUnsafe(replies, ""))
  socket.on("error", () => {})
  if (first !== "") socket.write(first)

  const reply = Queue.take(replies).pipe(
    Effect.timeoutOrElse({ duration: "30 seconds", orElse: () => Effect.succeed("no reply within 30 s") })
  )
  const write = (bytes: string | Uint8Array) => Effect.sync(() => void socket.write(bytes))
  return {
    greeting: yield* reply,
    localPort: socket.localPort ?? 0,
    reply,
    write,
    say: (line) => Effect.andThen(write(`${line}\r\n`), reply),
    hangUp: (hard = false) => Effect.sync(() => void (hard ? socket.resetAndDestroy() : socket.end()))
  }
})

/** The end of the first complete reply, whose last line has a space after the code (RFC 5321, section 4.2.1). */
const endOfReply = (text: string) => {
  const last = /^\d{3}(?: [^\n]*)?\r\n/m.exec(text)
  return last === null ? 0 : last.index + last[0].length
}
