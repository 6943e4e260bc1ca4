import { DateTime, Effect, FileSystem, Option, Path, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { NotFound } from "../../model/ApiError.ts"
import type { InboundEmailId } from "../../model/InboundEmail.ts"
import type * as Place from "./Place.ts"
import { failed, missing, RawDamaged, type RawStoreError } from "./RawStoreError.ts"
import * as SegmentRecord from "./SegmentRecord.ts"

/** A segment file. Its name, a UUIDv7, has its start time. */
export interface Segment {
  readonly id: string
  readonly openedAt: DateTime.Utc
}

/** A record to overwrite. */
export interface Erasable {
  readonly id: InboundEmailId
  readonly at: number
  readonly bytes: number
}

/** Reads and erases the segments of all processes. */
export interface Segments {
  /** A missing segment or erased record means an expired message. Damage is a separate error. */
  read(place: Place.Place, owner: SegmentRecord.Owner): Effect.Effect<Uint8Array, NotFound | RawDamaged | RawStoreError>
  /** Overwrites records with zeros and syncs. Repeating it is no error. Succeeds with false without this segment. */
  erase(segment: string, records: ReadonlyArray<Erasable>): Effect.Effect<boolean, RawStoreError>
  /** The segments started before this time without a write for an hour, oldest first. */
  openedBefore(time: DateTime.Utc): Effect.Effect<ReadonlyArray<Segment>, RawStoreError>
  /** Counts the intact messages of a segment, 0 if it is missing. */
  records(segment: string): Effect.Effect<number, RawStoreError>
  /** Removes a segment. Idempotent. */
  remove(segment: string): Effect.Effect<void, RawStoreError>
  /** The id of the database to which the log belongs. A log without an owner is marked with this one. */
  owner(database: string): Effect.Effect<string, RawStoreError>
}

/** Maximum age of a segment for new records, and minimum idle time before its removal. */
export const openMillis = 60 * 60 * 1_000

/** The folder of a raw store's segments. */
export const folderOf = (root: string) => `${root}/segments`

export const nameOf = (segment: string) => `${segment}.seg`

const Name = Schema.String.check(Schema.isPattern(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}\.seg$/))

/** The id of a new segment: a UUIDv7, whose first 48 bits are its time (RFC 9562, section 5.7). */
export const idAt = (millis: number, random: Uint8Array): string => {
  const bytes = Buffer.alloc(16)
  bytes.writeUIntBE(millis, 0, 6)
  bytes.set(random.subarray(0, 10), 6)
  bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 0x0f), 6)
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8)
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")
}

/** The time of a segment's start, in milliseconds since 1970. */
export const openedMillis = (segment: string): number => Number.parseInt(segment.slice(0, 13).replace("-", ""), 16)

const ofName = (name: string): Segment => ({
  id: name.slice(0, -".seg".length),
  openedAt: DateTime.makeUnsafe(openedMillis(name))
})

/** Bytes overwritten by one call. */
const mostZeros = 1024 * 1024

/** Without a log. */
export const none: Segments = {
  read: () => missing(),
  erase: () => Effect.succeed(false),
  openedBefore: () => Effect.succeed([]),
  records: () => Effect.succeed(0),
  remove: () => Effect.void,
  owner: Effect.succeed
}

/** The name of the file or object with the id of the database to which a raw store belongs. */
export const ownerName = "database-id"

/** The segments below the folder of a raw store, which may be missing. */
export const make = Effect.fnUntraced(function* (root: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = folderOf(root)
  const fileOf = (segment: string) => path.join(folder, nameOf(segment))

  const read: Segments["read"] = Effect.fn("Segments.read")(
    function* ({ at, bytes, segment }, owner) {
      const file = yield* fs.open(fileOf(segment), { flag: "r" })
      const record = yield* readAt(file, at, SegmentRecord.headBytes + bytes)
      const found = SegmentRecord.read(record, owner, bytes)
      switch (found.tag) {
        case "message":
          return found.message
        case "erased":
          return yield* missing()
        case "damaged":
          return yield* new RawDamaged({ reason: `${nameOf(segment)}, byte ${at}: ${found.reason}` })
      }
    },
    Effect.scoped,
    Effect.catchReason("PlatformError", "NotFound", missing),
    Effect.catchTag("PlatformError", failed)
  )

  const eraseIn = Effect.fnUntraced(function* (file: FileSystem.File, { at, bytes, id }: Erasable) {
    const head = yield* readAt(file, at, SegmentRecord.headBytes)
    const reason = SegmentRecord.mismatch(head, id, bytes)
    // It stays, rather than overwriting another message.
    if (reason !== undefined) return yield* Effect.logError("Another record is at the position to erase", reason)
    yield* file.seek(BigInt(at), "start")
    const record = Buffer.alloc(Math.min(SegmentRecord.headBytes + bytes, mostZeros))
    SegmentRecord.erasedHead(id, bytes).copy(record)
    yield* file.writeAll(record)
    for (let left = SegmentRecord.headBytes + bytes - record.byteLength; left > 0; left -= mostZeros) {
      yield* file.writeAll(Buffer.alloc(Math.min(left, mostZeros)))
    }
  })

  const erase: Segments["erase"] = Effect.fn("Segments.erase")(
    function* (segment, records) {
      // Uses its own descriptor, because the log's always appends.
      const file = yield* fs.open(fileOf(segment), { flag: "r+" })
      yield* Effect.forEach(records, (record) => eraseIn(file, record), { discard: true })
      yield* file.sync
      return true
    },
    Effect.scoped,
    Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed(false)),
    Effect.catchTag("PlatformError", failed)
  )

  /** The clock may have been wrong when the segment was named, so a recent write also keeps it. */
  const isLeftAlone = Effect.fnUntraced(
    function* ({ id }: Segment) {
      const untouched = DateTime.subtract(yield* DateTime.now, { milliseconds: openMillis })
      const { mtime } = yield* fs.stat(fileOf(id))
      return Option.exists(mtime, (modified) => modified.getTime() < DateTime.toEpochMillis(untouched))
    },
    Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed(false))
  )

  const openedBefore: Segments["openedBefore"] = Effect.fn("Segments.openedBefore")(
    function* (time) {
      const names = yield* fs
        .readDirectory(folder)
        .pipe(Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed<Array<string>>([])))
      const old = names
        .filter(Schema.is(Name))
        .sort()
        .map(ofName)
        .filter(({ openedAt }) => DateTime.isLessThan(openedAt, time))
      return yield* Effect.filter(old, isLeftAlone)
    },
    Effect.catchTag("PlatformError", failed)
  )

  const records: Segments["records"] = Effect.fn("Segments.records")(
    function* (segment) {
      const file = yield* fs.open(fileOf(segment), { flag: "r" })
      const size = Number((yield* file.stat).size)
      let count = 0
      for (let at = 0; ; ) {
        const head = SegmentRecord.readHead(yield* readAt(file, at, SegmentRecord.headBytes))
        if (head === undefined) return count
        at += SegmentRecord.headBytes + head.bytes
        if (at > size) return count
        if (head.isMessage) count++
      }
    },
    Effect.scoped,
    Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed(0)),
    Effect.catchTag("PlatformError", failed)
  )

  const remove: Segments["remove"] = Effect.fn("Segments.remove")((segment) =>
    fs.remove(fileOf(segment), { force: true }).pipe(Effect.mapError(failed))
  )

  /** A crash leaves the whole mark or none. Of two databases that mark at the same time, the last one is the owner. */
  const mark = Effect.fnUntraced(function* (database: string) {
    const partial = path.join(root, `${ownerName}.${SecureRandom.uuidV4Unsafe()}`)
    yield* Effect.gen(function* () {
      const file = yield* fs.open(partial, { flag: "wx", mode: 0o600 })
      yield* file.writeAll(new TextEncoder().encode(`${database}\n`))
      yield* file.sync
      yield* fs.rename(partial, path.join(root, ownerName))
    }).pipe(Effect.scoped, Effect.ensuring(Effect.ignore(fs.remove(partial, { force: true }))))
  })

  const owner: Segments["owner"] = Effect.fn("Segments.owner")(function* (database) {
    if (!(yield* fs.exists(folder))) return database
    const known = Effect.map(fs.readFileString(path.join(root, ownerName)), (text) => text.trim())
    return yield* Effect.catchReason(known, "PlatformError", "NotFound", () => Effect.andThen(mark(database), known))
  }, Effect.mapError(failed))

  const segments: Segments = { read, erase, openedBefore, records, remove, owner }
  return segments
})

/** The bytes at an offset, fewer at the end of the file. */
const readAt = Effect.fnUntraced(function* (file: FileSystem.File, at: number, bytes: number) {
  const buffer = Buffer.allocUnsafeSlow(bytes)
  let length = 0
  while (length < bytes) {
    const more = yield* file.read(buffer.subarray(length), { position: BigInt(at + length) })
    if (more === 0) break
    length += more
  }
  return buffer.subarray(0, length)
})
