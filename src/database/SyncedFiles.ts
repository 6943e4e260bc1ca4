import { fdatasyncSync, fsyncSync } from "node:fs"
import type { PGlite } from "@electric-sql/pglite"
import { NodeFS } from "@electric-sql/pglite/nodefs"

type Options = Awaited<ReturnType<NodeFS["init"]>>["emscriptenOpts"]

/** The used part of PGlite's file objects. */
interface FolderFiles {
  readonly tryFSOperation: <A>(call: () => A) => A
  readonly stream_ops: {
    fsync?: (stream: { readonly nfd: number; readonly node: { readonly mode: number } }) => number
  }
}

/** The calls that sync a file and a folder. */
export interface SyncCalls {
  readonly file: (descriptor: number) => void
  readonly folder: (descriptor: number) => void
}

// fdatasync omits only the times of a file (fdatasync(2)).
const ofNode: SyncCalls = { file: fdatasyncSync, folder: fsyncSync }

/** PGlite's files in a folder, with a real `fsync`. PGlite's own reports success without one. */
export class SyncedFiles extends NodeFS {
  /** Why PostgreSQL must stop: a sync failed, or it panicked. */
  failure: Error | undefined
  /** PostgreSQL's last output. */
  lastWords: string | undefined
  readonly #calls: SyncCalls

  constructor(folder: string, calls: SyncCalls = ofNode) {
    super(folder)
    this.#calls = calls
  }

  override init(database: PGlite, options: Options): Promise<{ emscriptenOpts: Options }> {
    return super.init(database, options).then(({ emscriptenOpts }) => ({
      emscriptenOpts: {
        ...emscriptenOpts,
        preRun: [
          ...(emscriptenOpts.preRun ?? []),
          ({ FS, NODEFS }) => {
            // The types describe a file system only as something to mount.
            const files = NODEFS as unknown as FolderFiles
            files.stream_ops.fsync = ({ nfd, node }) => {
              try {
                files.tryFSOperation(() => (FS.isDir(node.mode) ? this.#calls.folder(nfd) : this.#calls.file(nfd)))
                return 0
              } catch (error) {
                // The kernel drops pages it could not write, so a second sync would falsely succeed.
                this.failure ??= new Error("A file of the database could not be synced", { cause: error })
                throw error
              }
            }
          }
        ],
        printErr: (line: string) => {
          const [, words] = /(?:FATAL|PANIC): +(.+)/.exec(line) ?? []
          if (words !== undefined) this.lastWords = words
        },
        // After a PANIC PostgreSQL's memory is invalid.
        onAbort: () => {
          this.failure ??= new Error(`PostgreSQL stopped: ${this.lastWords ?? "it printed no reason"}`)
        }
      }
    }))
  }
}
