import { closeSync, fsyncSync, mkdirSync, openSync, rmSync, writevSync } from "node:fs"
import { dirname } from "node:path"
import { parentPort } from "node:worker_threads"

/** A file to be written, which must not be there yet. */
export interface WriteTask {
  readonly id: number
  readonly file: string
  readonly content: ReadonlyArray<Uint8Array>
}

/** What became of it: written and synced, with its folder, unless there is an error. */
export interface Written {
  readonly id: number
  readonly error: unknown
}

/** The calls that a file is written with. */
export interface FileCalls {
  readonly open: (file: string) => number
  /** Writes some of it, and returns how many bytes. */
  readonly write: (descriptor: number, content: ReadonlyArray<Uint8Array>) => number
  readonly sync: (descriptor: number) => void
  readonly close: (descriptor: number) => void
  readonly remove: (file: string) => void
}

export const calls: FileCalls = {
  open: (file) => openSync(file, "wx", 0o600),
  write: writevSync,
  sync: fsyncSync,
  close: closeSync,
  remove: (file) => rmSync(file, { force: true })
}

/** Writes a file, whole and synced, or leaves none. Throws what the file system says. */
export const writeFile = ({ close, open, remove, sync, write }: FileCalls, { content, file }: WriteTask): void => {
  const descriptor = open(file)
  let isWhole = false
  try {
    let left = content.filter(({ byteLength }) => byteLength > 0)
    while (left.length > 0) left = behind(left, write(descriptor, left))
    sync(descriptor)
    isWhole = true
  } finally {
    close(descriptor)
    if (!isWhole) remove(file)
  }
}

/** What is left of the pieces behind so many bytes. */
const behind = (pieces: ReadonlyArray<Uint8Array>, bytes: number): Array<Uint8Array> => {
  let passed = bytes
  return pieces.flatMap((piece) => {
    const rest = piece.subarray(Math.min(passed, piece.byteLength))
    passed -= piece.byteLength - rest.byteLength
    return rest.byteLength === 0 ? [] : [rest]
  })
}

const syncFolder = (folder: string): void => {
  const descriptor = openSync(folder, "r")
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const isMissing = (error: unknown) => error instanceof Error && "code" in error && error.code === "ENOENT"

/** The error of what was tried, or undefined. */
const errorOf = (attempt: () => void): unknown => {
  try {
    attempt()
    return undefined
  } catch (error) {
    return error
  }
}

const written = (task: WriteTask): unknown => {
  const error = errorOf(() => writeFile(calls, task))
  if (!isMissing(error)) return error
  const folder = dirname(task.file)
  return errorOf(() => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    syncFolder(dirname(folder))
    writeFile(calls, task)
  })
}

/** Files that came in the same turn share the syncing of their folders, which is what makes new names last. */
const serve = (port: NonNullable<typeof parentPort>) => {
  let turn: Array<{ readonly task: WriteTask; readonly error: unknown }> = []
  const endTurn = () => {
    const synced = new Map<string, unknown>()
    const told = turn.map(({ error, task: { file, id } }): Written => {
      if (error !== undefined) return { id, error }
      const folder = dirname(file)
      if (!synced.has(folder))
        synced.set(
          folder,
          errorOf(() => syncFolder(folder))
        )
      return { id, error: synced.get(folder) }
    })
    turn = []
    port.postMessage(told)
  }
  port.on("message", (task: WriteTask) => {
    if (turn.length === 0) setImmediate(endTurn)
    turn.push({ task, error: written(task) })
  })
}

// Started by FileWriter alone.
if (parentPort !== null) serve(parentPort)
