import type { SMTPServerDataStream } from "smtp-server"
import { SMTPConnection } from "smtp-server/lib/smtp-connection.js"
import { SMTPStream } from "smtp-server/lib/smtp-stream.js"
import * as QuotedPath from "./QuotedPath.ts"

/** Where the bytes of a message go. */
export interface Receiver {
  /** The next of them, without the dots that were added for the wire. */
  take(piece: Uint8Array): void
  /** That was all. */
  end(): void
  /** The client disconnected during the message. */
  cut(): void
}

/** The part of a stream that smtp-server uses, in place of its PassThrough. */
class Incoming {
  byteLength = 0
  sizeExceeded = false
  /** The answer waits for no event of it. */
  readonly readable = false
  writableEnded = false
  destroyed = false
  receiver: Receiver | undefined

  listenerCount() {
    return 0
  }

  destroy() {
    this.destroyed = true
    this.receiver?.cut()
  }
}

/** Sets the consumer of a message's bytes before the first one arrives. */
export const receive = (stream: SMTPServerDataStream, receiver: Receiver) => {
  // DataParser has made it.
  const incoming = stream as unknown as Incoming
  incoming.receiver = receiver
}

const cr = 0x0d
const lf = 0x0a
const dot = 0x2e
const lineEndAndDot = "\r\n."

/** A read of this size means that the client has more to send. Node reads up to 64 KiB. */
const largeRead = 32 * 1024

/** Bytes of messages that all connections may bring in one turn of the event loop before large reads wait for the next. */
const mostOfTurn = 2 * 1024 * 1024

/** Counts the bytes of messages that the connections of a server have brought in this turn of the event loop. */
export class ReadTurn {
  #bytes = 0

  /** Returns whether the turn has had its bytes. */
  add(bytes: number): boolean {
    if (this.#bytes === 0) setImmediate(() => (this.#bytes = 0))
    this.#bytes += bytes
    return this.#bytes > mostOfTurn
  }
}

/** What the bytes so far end with: all that the meaning of the next one depends on. */
type Place = "in a line" | "behind CR" | "at a line's start" | "behind its dot" | "behind its dot and CR"

const placeBehind = (chunk: Buffer): Place => {
  const last = chunk.at(-1)
  if (last === cr) return "behind CR"
  return last === lf && chunk.at(-2) === cr ? "at a line's start" : "in a line"
}

/**
 * Finds the end of a message (RFC 5321, section 4.1.1.4) and the dots that were added
 * (section 4.5.2) by the platform's search. A line ends with CR LF alone: bare CR and
 * bare LF are content, and so is a dot behind them.
 */
export class DataParser extends SMTPStream {
  readonly #turn: () => ReadTurn
  #incoming = new Incoming()
  #place: Place = "at a line's start"

  constructor(turn: () => ReadTurn, options?: ConstructorParameters<typeof SMTPStream>[0]) {
    super(options)
    this.#turn = turn
  }

  override startDataMode(maxBytes?: number | string | null): SMTPServerDataStream {
    this.#incoming = new Incoming()
    this.#place = "at a line's start"
    // The connection asks for no more of it than there is.
    const stream = this.#incoming as unknown as SMTPServerDataStream
    this._dataStream = stream
    this._dataMode = true
    this._maxBytes = Number(maxBytes) || Number.POSITIVE_INFINITY
    this.dataBytes = 0
    return stream
  }

  override _feedDataStream(...[chunk, done]: Parameters<SMTPStream["_feedDataStream"]>) {
    let place = this.#place
    let from = 0
    let at = 0
    for (;;) {
      if (place === "in a line") {
        const found = chunk.indexOf(lineEndAndDot, at, "latin1")
        place = found < 0 ? placeBehind(chunk) : "at a line's start"
        at = found < 0 ? chunk.length : found + 2
      }
      const byte = chunk[at]
      if (byte === undefined) break
      if (place === "behind CR" && byte === lf) {
        place = "at a line's start"
        at++
      } else if (place === "at a line's start" && byte === dot) {
        place = "behind its dot"
        this.#take(chunk.subarray(from, at))
        from = ++at
      } else if (place === "behind its dot" && byte === cr) {
        place = "behind its dot and CR"
        at++
      } else {
        if (place === "behind its dot and CR") {
          if (byte === lf) return this.#end(chunk.subarray(at + 1), done)
          if (at === 0) this.#take(Buffer.of(cr))
        }
        place = "in a line"
      }
    }
    // The CR belongs to the end sequence, or is emitted with the next byte.
    this.#take(chunk.subarray(from, place === "behind its dot and CR" ? -1 : undefined))
    this.#place = place
    // The socket is paused until then, so that many large messages delay no other reply.
    if (chunk.length >= largeRead && this.#turn().add(chunk.length)) setImmediate(done)
    else done()
  }

  #take(piece: Buffer) {
    if (piece.length === 0) return
    this._countDataBytes(piece.length)
    this.#incoming.receiver?.take(piece)
  }

  /** What came behind the end waits until the message has been answered. */
  #end(rest: Buffer, done: (error?: Error | null) => void) {
    if (this.isClosed) return done()
    this._dataMode = false
    this._dataStream = null
    this._remainder = ""
    // Not at once: the library forgets its callback after the call, and the next message may be in the rest.
    this._continueCallback = () => queueMicrotask(() => this._write(rest, "buffer", done))
    this.#incoming.writableEnded = true
    this.#incoming.receiver?.end()
  }
}

/** The reply behind which TLS may begin on the same socket. */
const ready = 220

/**
 * Reads messages with DataParser, before STARTTLS and after it, and quoted local parts as they stand.
 * The replies of one turn go out in one packet, for commands that came in one (RFC 2920, section 3.2).
 */
export class DataConnection extends SMTPConnection {
  /** Of all connections of the server. */
  turn = new ReadTurn()

  override send(...reply: Parameters<SMTPConnection["send"]>) {
    const socket = this._socket
    const isFirst = socket.writableCorked === 0
    if (isFirst) socket.cork()
    super.send(...reply)
    if (reply[0] === ready) while (socket.writableCorked > 0) socket.uncork()
    else if (isFirst) setImmediate(() => socket.uncork())
  }

  override _parseAddressCommand(
    ...[name, line]: Parameters<SMTPConnection["_parseAddressCommand"]>
  ): ReturnType<SMTPConnection["_parseAddressCommand"]> {
    const quoted = QuotedPath.replace(line.toString())
    if (quoted === undefined) return super._parseAddressCommand(name, line)
    const parsed = super._parseAddressCommand(name, quoted.command)
    return parsed && { ...parsed, address: quoted.localPart + parsed.address.slice(parsed.address.indexOf("@")) }
  }

  override _createParser(): SMTPStream {
    const { maxCommandLength } = this._server.options
    const parser = new DataParser(() => this.turn, { maxCommandLength })
    parser.oncommand = (command, callback) => this._onCommand(command, callback)
    parser.on("error", (error) => this.send(421, `Error: ${error.message}`))
    return parser
  }
}
