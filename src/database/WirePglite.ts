import { setFlagsFromString } from "node:v8"
import { PGlite, type PGliteOptions } from "@electric-sql/pglite"
import * as Planner from "./Planner.ts"
import { type SyncCalls, SyncedFiles } from "./SyncedFiles.ts"

const parameters = {
  ...Planner.settings,
  // PostgreSQL touches all of its buffers at its start, so they occupy memory.
  shared_buffers: "16MB",
  // PGlite's fdatasync does nothing.
  wal_sync_method: "fsync"
}

const startParams = [
  // PGlite turns all syncs off.
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== "-F"),
  ...Object.entries(parameters).flatMap(([name, value]) => ["-c", `${name}=${value}`])
]

// The smallest log segments, in MiB. A new database has one of zeros, which is copied, packed and read at a start.
const initDbStartParams = ["--wal-segsize=1"]

/** The simple query `;`, the shortest text for PostgreSQL's parser. */
const emptyQuery = Uint8Array.from([0x51, 0, 0, 0, 6, 0x3b, 0])

// V8 decides about later optimization when its baseline compiler compiles a function.
const noneOptimized = "--wasm-tier-up-filter=0"
const allOptimized = "--wasm-tier-up-filter=-1"

/** A PGlite used only through Postgres' wire protocol. */
export class WirePglite extends PGlite {
  #files: SyncedFiles | undefined

  /** Creates a database in memory. */
  static open(options: PGliteOptions): Promise<WirePglite> {
    const database = new WirePglite({ startParams, initDbStartParams, ...options })
    return database.waitReady.then(() => database)
  }

  /** Opens a database in a folder, with commits synced before they are answered. */
  static openIn(folder: string, calls?: SyncCalls): Promise<WirePglite> {
    const files = new SyncedFiles(folder, calls)
    return WirePglite.open({ fs: files }).then(
      (database) => {
        database.#files = files
        return database
      },
      (error: unknown) =>
        Promise.reject(files.lastWords === undefined ? error : new Error(files.lastWords, { cause: error }))
    )
  }

  /**
   * Forwards a chunk of the protocol. `execProtocolRaw` would retain every answer. Fails permanently once a sync
   * failed or PostgreSQL ended, because PGlite would continue and report commits.
   */
  exchange(piece: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
    if (this.isLost) return Promise.reject(this.#files?.failure)
    const parts: Array<Uint8Array> = []
    return this.execProtocolRawStream(piece, { onRawData: (part) => parts.push(part.slice()) }).then(() =>
      this.isLost ? Promise.reject(this.#files?.failure) : whole(parts)
    )
  }

  /** Whether the database must not be used anymore. */
  get isLost(): boolean {
    return this.#files?.failure !== undefined
  }

  /**
   * Runs once between PostgreSQL's start and its first statement, instead of the type look-up for PGlite's own API.
   * It runs the parser while V8's optimizing compiler is off, because optimizing the parser's largest function takes
   * 600 MB for 1 s.
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
