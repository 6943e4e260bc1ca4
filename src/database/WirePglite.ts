import { setFlagsFromString } from "node:v8"
import { PGlite, type PGliteOptions } from "@electric-sql/pglite"

// PostgreSQL's buffers are touched at its start, and stay in memory whether they are used or not.
const startParams = [...PGlite.defaultStartParams, "-c", "shared_buffers=32MB"]

/** The simple query `;`: the shortest text that PostgreSQL's parser runs for. */
const emptyQuery = Uint8Array.from([0x51, 0, 0, 0, 6, 0x3b, 0])

// Whether a function may be optimized later is decided when the quick compiler makes its code.
const noneOptimized = "--wasm-tier-up-filter=0"
const allOptimized = "--wasm-tier-up-filter=-1"

/** A PGlite that is spoken to in Postgres' wire protocol, and in nothing else. */
export class WirePglite extends PGlite {
  static open(options: PGliteOptions): Promise<WirePglite> {
    const database = new WirePglite({ startParams, ...options })
    return database.waitReady.then(() => database)
  }

  /** Passes a piece of the protocol on. `execProtocolRaw` would keep each message of each answer for ever. */
  exchange(piece: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
    const parts: Array<Uint8Array> = []
    return this.execProtocolRawStream(piece, { onRawData: (part) => parts.push(part.slice()) }).then(() => whole(parts))
  }

  /**
   * Runs once between PostgreSQL's start and its first statement. Only PGlite's
   * own API needs the types that it would look up. In its place the parser runs
   * while V8 leaves code as its quick compiler makes it: for the one function
   * that is most of the parser, the optimizing compiler takes 600 MB for a second.
   */
  override _initArrayTypes(): Promise<void> {
    setFlagsFromString(noneOptimized)
    this.execProtocolRawSync(emptyQuery)
    setFlagsFromString(allOptimized)
    return Promise.resolve()
  }
}

const whole = (parts: ReadonlyArray<Uint8Array>): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.byteLength, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.byteLength
  }
  return bytes
}
