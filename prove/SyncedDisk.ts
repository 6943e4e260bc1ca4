import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { descriptorOf, foldersOf, type SystemCall, stringsOf } from "./SystemCalls.ts"

/** A change that is not synced yet. */
type Change<A> = (to: A) => void

/** The synced content of a file or folder, and its content after a sync. */
class Synced<A> {
  content: A
  private pending: Array<Change<A>> = []
  private done = 0

  constructor(content: A) {
    this.content = content
  }

  change(how: Change<A>) {
    this.pending.push(how)
  }

  /** The number of changes so far. A sync that starts now covers them. */
  get mark() {
    return this.done + this.pending.length
  }

  sync(mark: number) {
    const covered = this.pending.splice(0, Math.max(0, mark - this.done))
    for (const how of covered) how(this.content)
    this.done += covered.length
  }

  /** The content after a cut: only synced changes, or also some unsynced ones at random. */
  found(copy: (content: A) => A, isWritten: (() => boolean) | undefined): A {
    const found = copy(this.content)
    if (isWritten !== undefined) for (const how of this.pending) if (isWritten()) how(found)
    return found
  }
}

class Bytes {
  private memory: Buffer
  length: number

  constructor(bytes: Buffer) {
    this.memory = bytes
    this.length = bytes.length
  }

  private room(length: number) {
    if (length <= this.memory.length) return
    const grown = Buffer.alloc(Math.max(length, this.memory.length * 2))
    this.memory.copy(grown, 0, 0, this.length)
    this.memory = grown
  }

  write(at: number, bytes: Buffer) {
    this.room(at + bytes.length)
    bytes.copy(this.memory, at)
    this.length = Math.max(this.length, at + bytes.length)
  }

  resize(length: number) {
    this.room(length)
    if (length < this.length) this.memory.fill(0, length, this.length)
    this.length = length
  }

  get all() {
    return this.memory.subarray(0, this.length)
  }

  static copy = ({ all }: Bytes) => new Bytes(Buffer.from(all))
}

class File {
  readonly synced: Synced<Bytes>
  /** The content as processes see it. */
  length: number
  /** The position of a write without an offset, by descriptor. */
  readonly positions = new Map<string, number | "end">()

  constructor(bytes: Buffer) {
    this.synced = new Synced(new Bytes(bytes))
    this.length = bytes.length
  }
}

type Names = Map<string, File | Folder>

class Folder {
  readonly synced: Synced<Names>
  readonly now: Names

  constructor(names: Names = new Map()) {
    this.synced = new Synced(new Map(names))
    this.now = new Map(names)
  }

  set(name: string, node: File | Folder) {
    this.now.set(name, node)
    this.synced.change((names) => names.set(name, node))
  }

  remove(name: string) {
    this.now.delete(name)
    this.synced.change((names) => names.delete(name))
  }

  rename(from: string, to: string, node: File | Folder) {
    this.now.delete(from)
    this.now.set(to, node)
    // A rename is one journal entry.
    this.synced.change((names) => {
      names.delete(from)
      names.set(to, node)
    })
  }
}

const ofDisk = (path: string): Folder =>
  new Folder(
    new Map(
      readdirSync(path, { withFileTypes: true }).flatMap((entry): ReadonlyArray<readonly [string, File | Folder]> => {
        const at = join(path, entry.name)
        if (entry.isDirectory()) return [[entry.name, ofDisk(at)]]
        return entry.isFile() ? [[entry.name, new File(readFileSync(at))]] : []
      })
    )
  )

/**
 * Replays recorded calls on the folder `root`: its state for processes, and its state after a power cut. A file keeps
 * the writes that completed before the start of a completed sync. A folder keeps its names by the same rule. The
 * current content counts as synced.
 */
export class SyncedDisk {
  readonly #root: string
  readonly #top: Folder
  readonly #points: Array<{ readonly at: number; readonly order: number; readonly run: () => void }> = []
  #next = 0

  constructor(root: string) {
    this.#root = root
    this.#top = ofDisk(root)
  }

  /** Accepts the calls of any number of processes. */
  record(calls: ReadonlyArray<SystemCall>, cwd: string) {
    for (const call of calls) {
      if (call.result < 0) continue
      if (call.name === "fsync" || call.name === "fdatasync") this.#sync(call)
      else this.#points.push({ at: call.ended, order: 0, run: () => this.#done(call, cwd) })
    }
    this.#points.sort((one, other) => one.at - other.at || one.order - other.order)
  }

  /** Replays up to this time, inclusive. */
  runUntil(time: number) {
    for (
      let point = this.#points[this.#next];
      point !== undefined && point.at <= time;
      point = this.#points[this.#next]
    ) {
      point.run()
      this.#next++
    }
  }

  /**
   * Writes the state after a power cut into an empty folder. `isWritten` decides for each unsynced write whether the
   * disk has it, and of unsynced names the first ones. Without it, nothing unsynced survives.
   */
  leave(folder: string, isWritten?: () => boolean) {
    const put = (from: Folder, path: string) => {
      mkdirSync(path, { recursive: true, mode: 0o700 })
      let isOn = true
      const inOrder = isWritten === undefined ? undefined : () => (isOn &&= isWritten())
      for (const [name, node] of from.synced.found((names) => new Map(names), inOrder)) {
        const at = join(path, name)
        if (node instanceof Folder) put(node, at)
        else writeFileSync(at, node.synced.found(Bytes.copy, isWritten).all, { mode: 0o600 })
      }
    }
    put(this.#top, folder)
  }

  #find(path: string) {
    const parts = relative(this.#root, path).split("/")
    if (parts[0] === "..") return
    const name = parts.pop() ?? ""
    let folder = this.#top
    for (const part of parts) {
      const next = folder.now.get(part)
      if (!(next instanceof Folder)) return
      folder = next
    }
    return { folder, name, node: path === this.#root ? this.#top : folder.now.get(name) }
  }

  #sync({ args, begun, ended }: SystemCall) {
    let covered: (() => void) | undefined
    const begin = () => {
      const { of } = descriptorOf(args)
      const node = of === null ? undefined : this.#find(of)?.node
      if (node === undefined) return
      const { mark } = node.synced
      covered = () => node.synced.sync(mark)
    }
    this.#points.push({ at: begun, order: 1, run: begin }, { at: ended, order: 2, run: () => covered?.() })
  }

  #done({ args, name, opened, result }: SystemCall, cwd: string) {
    const strings = stringsOf(args)
    const folders = foldersOf(args)
    const path = (index: number) => resolve(folders[index] ?? cwd, `${strings[index]}`)
    switch (name) {
      case "open":
      case "openat":
      case "creat":
        return opened === undefined ? undefined : this.#open(opened, `${result}`, args)
      case "write":
      case "pwrite64":
      case "writev":
      case "pwritev": {
        const { file, number } = this.#file(args)
        if (file === undefined) return
        const bytes = Buffer.concat(strings).subarray(0, result)
        const [, place] = name.startsWith("p") ? (/, (\d+)$/.exec(args) ?? []) : []
        this.#write(file, number, bytes, place)
        return
      }
      case "ftruncate":
        return this.#resize(this.#file(args).file, Number(/, (\d+)$/.exec(args)?.[1]))
      case "truncate": {
        const node = this.#find(path(0))?.node
        return node instanceof File ? this.#resize(node, Number(/, (\d+)$/.exec(args)?.[1])) : undefined
      }
      case "fallocate": {
        const [, at = "", length = ""] = /, (\d+), (\d+)$/.exec(args) ?? []
        const { file } = this.#file(args)
        return file === undefined ? undefined : this.#resize(file, Math.max(file.length, Number(at) + Number(length)))
      }
      case "rename":
      case "renameat":
      case "renameat2":
        return this.#rename(path(0), path(1))
      case "link":
      case "linkat": {
        const node = this.#find(path(0))?.node
        const to = this.#find(path(1))
        return node === undefined ? undefined : to?.folder.set(to.name, node)
      }
      case "unlink":
      case "unlinkat":
      case "rmdir": {
        const found = this.#find(path(0))
        return found?.node === undefined ? undefined : found.folder.remove(found.name)
      }
      case "mkdir":
      case "mkdirat": {
        const found = this.#find(path(0))
        return found?.folder.set(found.name, new Folder())
      }
      case "pwritev2":
      case "copy_file_range":
      case "sendfile":
      case "symlink":
      case "symlinkat":
        if (args.includes(Buffer.from(this.#root).toString("hex").replace(/../g, "\\x$&"))) {
          throw new Error(`The effect of ${name} on a disk is unknown`)
        }
    }
  }

  #open(path: string, descriptor: string, args: string) {
    const found = this.#find(path)
    if (found === undefined) return
    if (found.node === undefined && args.includes("O_CREAT")) found.folder.set(found.name, new File(Buffer.alloc(0)))
    const node = found.folder.now.get(found.name)
    if (!(node instanceof File)) return
    if (args.includes("O_TRUNC") && node.length > 0) this.#resize(node, 0)
    node.positions.set(descriptor, args.includes("O_APPEND") ? "end" : 0)
  }

  #file(args: string) {
    const { number, of } = descriptorOf(args)
    const node = of === null ? undefined : this.#find(of)?.node
    return { number, file: node instanceof File ? node : undefined }
  }

  #write(file: File, descriptor: string, bytes: Buffer, place: string | undefined) {
    const position = file.positions.get(descriptor) ?? 0
    const at = place === undefined ? (position === "end" ? file.length : position) : Number(place)
    if (place === undefined && position !== "end") file.positions.set(descriptor, at + bytes.length)
    file.length = Math.max(file.length, at + bytes.length)
    file.synced.change((content) => content.write(at, bytes))
  }

  #resize(file: File | undefined, length: number) {
    if (file === undefined) return
    file.length = length
    file.synced.change((content) => content.resize(length))
  }

  #rename(from: string, to: string) {
    const [old, next] = [this.#find(from), this.#find(to)]
    if (old?.node === undefined || next === undefined) return
    if (dirname(from) === dirname(to)) return old.folder.rename(old.name, next.name, old.node)
    next.folder.set(next.name, old.node)
    old.folder.remove(old.name)
  }
}
