import { close, fdatasync, fstat, fsync, ftruncate, open, rm, stat, writev } from "node:fs"

type Told = (error: Error | null) => void
type ToldOf<A> = (error: Error | null, result: A) => void

/** An open file with its identity, which no other file has meanwhile. */
export interface OpenFile {
  readonly descriptor: number
  readonly inode: number
  readonly device: number
}

/** The system calls for segments of the log. */
export interface FileCalls {
  /** Creates a new file for appending. */
  readonly open: (file: string, told: ToldOf<OpenFile>) => void
  readonly syncFolder: (folder: string, told: Told) => void
  /** Writes all bytes unless an error occurs. Returns the number of written bytes. */
  readonly write: (descriptor: number, content: ReadonlyArray<Uint8Array>, told: ToldOf<number>) => void
  readonly sync: (descriptor: number, told: Told) => void
  /** Whether the name still refers to the open file. */
  readonly isThere: (file: string, opened: OpenFile, told: (isThere: boolean) => void) => void
  readonly truncate: (descriptor: number, bytes: number, told: Told) => void
  readonly close: (descriptor: number) => void
  readonly remove: (file: string) => void
}

/** Fails with an error. */
export const unopened: OpenFile = { descriptor: -1, inode: -1, device: -1 }

/** Node's calls, in its thread pool. */
export const ofNode: FileCalls = {
  open: (file, told) =>
    open(file, "ax", 0o600, (error, descriptor) =>
      error === null
        ? fstat(descriptor, (error, own) => {
            if (error === null) return told(null, { descriptor, inode: own.ino, device: own.dev })
            close(descriptor, () => rm(file, { force: true }, () => told(error, unopened)))
          })
        : told(error, unopened)
    ),
  syncFolder: (folder, told) =>
    open(folder, "r", (error, descriptor) =>
      error === null ? fsync(descriptor, (error) => close(descriptor, () => told(error))) : told(error)
    ),
  write: (descriptor, content, told) => writev(descriptor, content, null, told),
  // On Linux it syncs the size too, without which appended bytes could not be read (fdatasync(2)).
  sync: fdatasync,
  isThere: (file, { device, inode }, told) =>
    stat(file, (error, named) => told(error === null && named.ino === inode && named.dev === device)),
  truncate: ftruncate,
  close: (descriptor) => close(descriptor, () => {}),
  remove: (file) => rm(file, { force: true }, () => {})
}
