import { setFlagsFromString } from "node:v8"
import { PGlite, type PGliteOptions } from "@electric-sql/pglite"
import * as Planner from "./Planner.ts"
import { type SyncCalls, SyncedFiles } from "./SyncedFiles.ts"

const parameters = {
  ...Planner.settings,
  // PostgreSQL's buffers are touched at its start, and stay in memory whether they are used or not.
  shared_buffers: "32MB",
  // PGlite's fdatasync does nothing.
  wal_sync_method: "fsync"
}

const startParams = [
  // It turns all syncs off.
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== "-F"),
  ...Object.entries(parameters).flatMap(([name, value]) => ["-c", `${name}=${value}`])
]

/** The simple query `;`: the shortest text that PostgreSQL's parser runs for. */
const emptyQuery = Uint8Array.from([0x51, 0, 0, 0, 6, 0x3b, 0])

// Whether a function may be optimized later is decided when the quick compiler makes its code.
const noneOptimized = "--wasm-tier-up-filter=0"
const allOptimized = "--wasm-tier-up-filter=-1"

/** A PGlite that is spoken to in Postgres' wire protocol, and in nothing else. */
export class WirePglite extends PGlite {
  #files: SyncedFiles | undefined

  /** A database in memory. */
  static open(options: PGliteOptions): Promise<WirePglite> {
    const database = new WirePglite({ startParams, ...options })
    return database.waitReady.then(() => database)
  }

  /** A database in a folder, on the disk before a commit is answered. */
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
   * Forwards a piece of the protocol. `execProtocolRaw` would retain every answer. Fails for good once a sync failed or
   * PostgreSQL ended, because PGlite would continue and report commits.
   */
  exchange(piece: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
    if (this.isLost) return Promise.reject(this.#files?.failure)
    const parts: Array<Uint8Array> = []
    return this.execProtocolRawStream(piece, { onRawData: (part) => parts.push(part.slice()) }).then(() =>
      this.isLost ? Promise.reject(this.#files?.failure) : whole(parts)
    )
  }

  /** True once it must not be used any more. */
  get isLost(): boolean {
    return this.#files?.failure !== undefined
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
