import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"
import { headBytes } from "../src/providers/storage/SegmentRecord.ts"

/** A log record with its message. */
export interface Kept {
  readonly segment: string
  readonly at: number
  readonly id: string
  readonly domainId: string
  readonly message: Buffer
}

const id = (record: Buffer, at: number) =>
  record.toString("hex", at, at + 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")

const recordsOf = (segment: string, bytes: Buffer): ReadonlyArray<Kept> => {
  const kept: Array<Kept> = []
  for (let at = 0; at + headBytes <= bytes.byteLength; ) {
    const [kind, length] = [bytes.readUInt8(at + 4), bytes.readUInt32LE(at + 8)]
    const record = bytes.subarray(at, at + headBytes + length)
    if (record.byteLength < headBytes + length) break
    if (kind === 1) {
      kept.push({ segment, at, id: id(record, 16), domainId: id(record, 32), message: record.subarray(headBytes) })
    }
    at += record.byteLength
  }
  return kept
}

/** The segment names below the folder of a raw store, oldest first. */
export const segments = Effect.fnUntraced(function* (root: string) {
  const fs = yield* FileSystem.FileSystem
  const names = yield* fs.readDirectory(`${root}/segments`).pipe(Effect.orElseSucceed((): Array<string> => []))
  return names.sort()
}, Effect.provide(NodeServices.layer))

/** Every message on disk, with or without a row. */
export const records = Effect.fnUntraced(function* (root: string) {
  const fs = yield* FileSystem.FileSystem
  const all: Array<Kept> = []
  for (const name of yield* segments(root)) {
    const bytes = yield* Effect.orDie(fs.readFile(`${root}/segments/${name}`))
    all.push(...recordsOf(name.slice(0, -".seg".length), Buffer.from(bytes)))
  }
  return all
}, Effect.provide(NodeServices.layer))
