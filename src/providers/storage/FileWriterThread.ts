import { closeSync, fsync, fsyncSync, mkdirSync, open, openSync, rmSync, writevSync } from "node:fs"
import { dirname } from "node:path"
import { promisify } from "node:util"
import { parentPort } from "node:worker_threads"

/** A file to be written, which must not be there yet. */
export interface WriteTask {
  readonly id: number
  readonly file: string
  readonly content: ReadonlyArray<Uint8Array>
}

/** Its outcome: written and synced, with its folder, unless there is an error. */
export interface Written {
  readonly id: number
  readonly error: unknown
}

/** The calls that a file is written with. */
export interface FileCalls {
  readonly open: (file: string) => number
  /** Writes some of it, and returns how many bytes. */
  readonly write: (descriptor: number, content: ReadonlyArray<Uint8Array>) => number
  readonly close: (descriptor: number) => void
  readonly remove: (file: string) => void
}

export const calls: FileCalls = {
  open: (file) => openSync(file, "wx", 0o600),
  write: writevSync,
  close: closeSync,
  remove: (file) => rmSync(file, { force: true })
}

/** Writes a new file whole, or leaves none, and returns its descriptor. Throws what the file system says. */
export const writeFile = ({ close, open, remove, write }: FileCalls, { content, file }: WriteTask): number => {
  const descriptor = open(file)
  let isWhole = false
  try {
    let left = content.filter(({ byteLength }) => byteLength > 0)
    while (left.length > 0) left = behind(left, write(descriptor, left))
    isWhole = true
    return descriptor
  } finally {
    if (!isWhole) {
      close(descriptor)
      remove(file)
    }
  }
}

/** The rest of the pieces, behind so many bytes. */
const behind = (pieces: ReadonlyArray<Uint8Array>, bytes: number): Array<Uint8Array> => {
  let passed = bytes
  return pieces.flatMap((piece) => {
    const rest = piece.subarray(Math.min(passed, piece.byteLength))
    passed -= piece.byteLength - rest.byteLength
    return rest.byteLength === 0 ? [] : [rest]
  })
}

const isMissing = (error: unknown) => error instanceof Error && "code" in error && error.code === "ENOENT"

const syncFolder = (folder: string): void => {
  const descriptor = openSync(folder, "r")
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** In a folder that may have to be made. */
const written = (task: WriteTask): number => {
  try {
    return writeFile(calls, task)
  } catch (error) {
    if (!isMissing(error)) throw error
    const folder = dirname(task.file)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    syncFolder(dirname(folder))
    return writeFile(calls, task)
  }
}

/** Syncs what is open and closes it. */
const synced = (descriptor: number): Promise<void> => promisify(fsync)(descriptor).finally(() => closeSync(descriptor))

/**
 * Files that came in the same turn are synced together, each beside its folder, which is
 * what makes a new name last: the file system makes one commit of calls that come at once.
 */
const serve = (port: NonNullable<typeof parentPort>) => {
  let turn: Array<{ readonly id: number; readonly file: string; readonly descriptor: number }> = []
  let told: Array<Written> = []

  const tell = (result: Written) => {
    if (told.length === 0) {
      setImmediate(() => {
        port.postMessage(told)
        told = []
      })
    }
    told.push(result)
  }
  const endTurn = () => {
    const files = turn
    turn = []
    const folders = new Map<string, Promise<void>>()
    for (const { descriptor, file, id } of files) {
      const folder = dirname(file)
      const folderSynced = folders.get(folder) ?? promisify(open)(folder, "r").then(synced)
      folders.set(folder, folderSynced)
      Promise.all([synced(descriptor), folderSynced]).then(
        () => tell({ id, error: undefined }),
        (error) => {
          calls.remove(file)
          tell({ id, error })
        }
      )
    }
  }
  port.on("message", (task: WriteTask) => {
    try {
      const descriptor = written(task)
      if (turn.length === 0) setImmediate(endTurn)
      turn.push({ id: task.id, file: task.file, descriptor })
    } catch (error) {
      tell({ id: task.id, error })
    }
  })
}

// Started by FileWriter alone.
if (parentPort !== null) serve(parentPort)
