import type { SMTPServerDataStream } from "smtp-server"
import { SMTPConnection } from "smtp-server/lib/smtp-connection.js"
import { SMTPStream } from "smtp-server/lib/smtp-stream.js"
import * as QuotedPath from "./QuotedPath.ts"
import type { ReadTurns } from "./ReadTurns.ts"

/** Receives the bytes of a message. */
export interface Receiver {
  /** Whose message it is, for a fair share of each event-loop turn. */
  readonly tenant: string
  /** The next bytes, without dot-stuffing. */
  take(piece: Uint8Array): void
  /** Called after the last byte of the message. */
  end(): void
  /** The client disconnected during the message. */
  cut(): void
}

/** The stream methods that smtp-server calls, instead of its PassThrough. */
class Incoming {
  byteLength = 0
  sizeExceeded = false
  /** The answer needs none of its events. */
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
  // Created by DataParser.
  const incoming = stream as unknown as Incoming
  incoming.receiver = receiver
}

const cr = 0x0d
const lf = 0x0a
const dot = 0x2e
const lineEndAndDot = "\r\n."

/** The end of the received bytes, which determines the meaning of the next one. */
type Place = "in a line" | "behind CR" | "at a line's start" | "behind its dot" | "behind its dot and CR"

const placeBehind = (chunk: Buffer): Place => {
  const last = chunk.at(-1)
  if (last === cr) return "behind CR"
  return last === lf && chunk.at(-2) === cr ? "at a line's start" : "in a line"
}

/**
 * Finds the end of a message (RFC 5321, section 4.1.1.4) and its stuffed dots (section 4.5.2) with the platform's
 * search. Only CR LF ends a line. Bare CR and bare LF are content, and so is a dot after them.
 */
export class DataParser extends SMTPStream {
  readonly #turns: () => ReadTurns
  #incoming = new Incoming()
  #place: Place = "at a line's start"

  constructor(turns: () => ReadTurns, options?: ConstructorParameters<typeof SMTPStream>[0]) {
    super(options)
    this.#turns = turns
  }

  override startDataMode(maxBytes?: number | string | null): SMTPServerDataStream {
    this.#incoming = new Incoming()
    this.#place = "at a line's start"
    // The connection reads no more than there is.
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
    // The socket is paused until then.
    this.#turns().readOn(this.#incoming.receiver?.tenant ?? "", chunk.length, done)
  }

  #take(piece: Buffer) {
    if (piece.length === 0) return
    this._countDataBytes(piece.length)
    this.#incoming.receiver?.take(piece)
  }

  /** Bytes after the end wait until the message has been answered. */
  #end(rest: Buffer, done: (error?: Error | null) => void) {
    if (this.isClosed) return done()
    this._dataMode = false
    this._dataStream = null
    this._remainder = ""
    // Deferred, because the library clears its callback after the call, and the rest may contain the next message.
    // A view would keep the whole chunk until the answer.
    const kept = Buffer.from(rest)
    this._continueCallback = () => queueMicrotask(() => this._write(kept, "buffer", done))
    const { receiver } = this.#incoming
    this.#incoming.writableEnded = true
    // The receiver holds the message, and an idle session would retain both.
    this.#incoming.receiver = undefined
    receiver?.end()
  }
}

/** The reply after which TLS starts on the same socket. */
const ready = 220

/**
 * Reads messages with DataParser, before and after STARTTLS, and quoted local parts as sent. Replies of one
 * event-loop turn are sent in one packet, for pipelined commands (RFC 2920, section 3.2).
 */
export class DataConnection extends SMTPConnection {
  readonly #turns: ReadTurns

  /** `turns` is shared by all connections of the server. */
  constructor(turns: ReadTurns, ...library: ConstructorParameters<typeof SMTPConnection>) {
    super(...library)
    this.#turns = turns
  }

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
    const parser = new DataParser(() => this.#turns, { maxCommandLength })
    parser.oncommand = (command, callback) => this._onCommand(command, callback)
    parser.on("error", (error) => this.send(421, `Error: ${error.message}`))
    return parser
  }
}
