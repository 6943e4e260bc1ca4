import { NodeServices } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import { Context, DateTime, Effect, Fiber, FileSystem, Layer, PlatformError, Stream } from "effect"
import { DomainId } from "../../../src/model/Domain.ts"
import { InboundEmailId, type RawRef, rawRef } from "../../../src/model/InboundEmail.ts"
import * as FileWriterThread from "../../../src/providers/storage/FileWriterThread.ts"
import { RawStore } from "../../../src/providers/storage/RawStore.ts"
import * as RawStoreS3 from "../../../src/providers/storage/RawStoreS3.ts"
import { eventually } from "../../Eventually.ts"
import { S3Server } from "../../simulators/S3Server.ts"

const domain = (number: number) => DomainId.make(`01981c9e-0000-7000-8000-${`${number}`.padStart(12, "0")}`)
const ref = (domainNumber: number, number: number): RawRef =>
  rawRef(domain(domainNumber), InboundEmailId.make(`01981c9e-1111-7000-8000-${`${number}`.padStart(12, "0")}`))

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (kept: Uint8Array) => new TextDecoder().decode(kept)

const inAnHour = Effect.map(DateTime.now, (now) => DateTime.add(now, { hours: 1 }))
const anHourAgo = Effect.map(DateTime.now, (now) => DateTime.subtract(now, { hours: 1 }))

/** What every raw store promises. Each test has domains of its own. */
const contract = <E>(name: string, store: Layer.Layer<RawStore, E>) =>
  layer(store, { excludeTestServices: true })(name, (it) => {
    it.effect("gives back what it keeps, byte for byte, however it came in pieces", () =>
      Effect.gen(function* () {
        const raw = yield* RawStore
        yield* raw.put(ref(1, 1), [bytes("Return-Path: <>\r\n"), bytes(""), Uint8Array.of(0, 128, 255)])
        assert.deepStrictEqual([...(yield* raw.get(ref(1, 1)))], [...bytes("Return-Path: <>\r\n"), 0, 128, 255])
        const large = new Uint8Array(3 * 1_024 * 1_024).fill(7)
        yield* raw.put(ref(1, 2), [large])
        assert.isTrue(Buffer.from(large).equals(yield* raw.get(ref(1, 2))))
      })
    )

    it.effect("keeps an empty message", () =>
      Effect.gen(function* () {
        const raw = yield* RawStore
        yield* raw.put(ref(2, 1), [])
        assert.strictEqual((yield* raw.get(ref(2, 1))).byteLength, 0)
      })
    )

    it.effect("says that what was never kept is missing", () =>
      Effect.gen(function* () {
        const raw = yield* RawStore
        yield* raw.put(ref(3, 1), [bytes("another")])
        assert.strictEqual((yield* Effect.flip(raw.get(ref(3, 2))))._tag, "NotFound")
        assert.strictEqual((yield* Effect.flip(raw.get(ref(99, 1))))._tag, "NotFound")
      })
    )

    it.effect("removes a message, and does not mind doing it twice", () =>
      Effect.gen(function* () {
        const raw = yield* RawStore
        yield* raw.put(ref(4, 1), [bytes("one")])
        yield* raw.put(ref(4, 2), [bytes("two")])
        yield* raw.remove(ref(4, 1))
        yield* raw.remove(ref(4, 1))
        yield* raw.remove(ref(98, 1))
        assert.strictEqual((yield* Effect.flip(raw.get(ref(4, 1))))._tag, "NotFound")
        assert.strictEqual(text(yield* raw.get(ref(4, 2))), "two")
      })
    )

    it.effect("removes everything of a domain and nothing of another, and does not mind doing it twice", () =>
      Effect.gen(function* () {
        const raw = yield* RawStore
        yield* raw.put(ref(5, 1), [bytes("one")])
        yield* raw.put(ref(5, 2), [bytes("two")])
        yield* raw.put(ref(6, 1), [bytes("another's")])
        yield* raw.removeDomain(domain(5))
        yield* raw.removeDomain(domain(5))
        assert.strictEqual((yield* Effect.flip(raw.get(ref(5, 1))))._tag, "NotFound")
        assert.strictEqual((yield* Effect.flip(raw.get(ref(5, 2))))._tag, "NotFound")
        assert.strictEqual(text(yield* raw.get(ref(6, 1))), "another's")
        yield* raw.put(ref(5, 1), [bytes("again")])
        assert.strictEqual(text(yield* raw.get(ref(5, 1))), "again")
      })
    )

    it.effect("names what it has kept since before a time, and nothing younger or removed", () =>
      Effect.gen(function* () {
        const raw = yield* RawStore
        yield* raw.put(ref(7, 1), [bytes("one")])
        yield* raw.put(ref(7, 2), [bytes("two")])
        yield* raw.put(ref(8, 1), [bytes("three")])
        yield* raw.remove(ref(7, 2))
        const old = yield* Stream.runCollect(raw.olderThan(yield* inAnHour))
        assert.includeMembers(old, [ref(7, 1), ref(8, 1)])
        assert.notInclude(old, ref(7, 2))
        assert.deepStrictEqual(yield* Stream.runCollect(raw.olderThan(yield* anHourAgo)), [])
      })
    )

    it.effect("keeps many messages at once", () =>
      Effect.gen(function* () {
        const raw = yield* RawStore
        const numbers = Array.from({ length: 50 }, (_, number) => number)
        yield* Effect.forEach(numbers, (number) => raw.put(ref(9, number), [bytes(`${number}`)]), {
          concurrency: "unbounded"
        })
        for (const number of numbers) assert.strictEqual(text(yield* raw.get(ref(9, number))), `${number}`)
      })
    )
  })

contract("RawStore in memory", RawStore.layerMemory)

const temporary = Layer.unwrap(
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    return RawStore.layerFile(yield* fs.makeTempDirectoryScoped({ prefix: "inlet-raw-" }))
  })
)

contract("RawStore in files", temporary.pipe(Layer.provide(NodeServices.layer)))

const bucket = Layer.unwrap(
  Effect.map(S3Server, ({ accessKeyId, bucket, endpoint, region, secretAccessKey }) =>
    RawStoreS3.layer({
      endpoint,
      region,
      name: bucket,
      accessKeyId,
      secretAccessKey,
      patience: "5 seconds",
      largest: 8 * 1_024 * 1_024
    })
  )
)

contract("RawStore in a bucket", bucket.pipe(Layer.provide(S3Server.layer)))

/** A store of files in a folder of its own, over a file system with these faults. */
const inFiles = (faults: (fs: FileSystem.FileSystem) => Partial<FileSystem.FileSystem> = () => ({})) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const root = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-raw-" })
    const faulty = Layer.succeed(FileSystem.FileSystem, { ...fs, ...faults(fs) })
    const raw = Context.get(yield* Layer.build(RawStore.layerFile(root).pipe(Layer.provide(faulty))), RawStore)
    return { fs, root, raw, folder: `${root}/inbound/${domain(1)}` }
  }).pipe(Effect.provide(NodeServices.layer))

const mode = (info: FileSystem.File.Info) => (info.mode & 0o777).toString(8)

describe("RawStore in files", () => {
  it.live("keeps each message under its reference, for its owner's eyes only, and leaves nothing beside it", () =>
    Effect.gen(function* () {
      const { folder, fs, raw, root } = yield* inFiles()
      yield* raw.put(ref(1, 1), [bytes("one")])
      assert.deepStrictEqual(yield* fs.readDirectory(folder), [`${ref(1, 1).split("/").at(-1)}`])
      assert.strictEqual(yield* fs.readFileString(`${root}/${ref(1, 1)}`), "one")
      assert.strictEqual(mode(yield* fs.stat(`${root}/${ref(1, 1)}`)), "600")
      assert.strictEqual(mode(yield* fs.stat(folder)), "700")
      assert.strictEqual(mode(yield* fs.stat(`${root}/inbound`)), "700")
    })
  )

  it.live("leaves nothing of a message that the disk has no room for, and writes what is written in pieces", () =>
    Effect.gen(function* () {
      const { fs, root } = yield* inFiles()
      const file = `${root}/message.eml`
      const content = [bytes("fits"), bytes(""), bytes(" at last")]
      let room = 6
      const smallDisk: FileWriterThread.FileCalls = {
        ...FileWriterThread.calls,
        write: (descriptor, [piece = bytes("")]) => {
          if (room === 0) throw new Error("ENOSPC: no space left on device")
          const fitting = piece.subarray(0, Math.min(3, room))
          room -= fitting.byteLength
          return FileWriterThread.calls.write(descriptor, [fitting])
        }
      }
      assert.throws(() => FileWriterThread.writeFile(smallDisk, { id: 1, file, content }), /ENOSPC/)
      assert.isFalse(yield* fs.exists(file))
      room = 100
      FileWriterThread.calls.close(FileWriterThread.writeFile(smallDisk, { id: 2, file, content }))
      assert.strictEqual(yield* fs.readFileString(file), "fits at last")
    })
  )

  it.live("tells of a message that can't be written, and keeps the one that has its name", () =>
    Effect.gen(function* () {
      const { fs, raw, root } = yield* inFiles()
      yield* raw.put(ref(1, 1), [bytes("one")])
      assert.strictEqual((yield* Effect.flip(raw.put(ref(1, 1), [bytes("other")])))._tag, "RawStoreError")
      assert.strictEqual(text(yield* raw.get(ref(1, 1))), "one")
      yield* fs.writeFileString(`${root}/inbound/${domain(2)}`, "not a folder")
      assert.strictEqual((yield* Effect.flip(raw.put(ref(2, 1), [bytes("one")])))._tag, "RawStoreError")
    })
  )

  it.live("leaves nothing of a message that is interrupted", () =>
    Effect.gen(function* () {
      const { folder, fs, raw } = yield* inFiles()
      yield* raw.put(ref(1, 1), [bytes("kept")])
      const put = yield* Effect.forkChild(raw.put(ref(1, 2), [bytes("one")]), { startImmediately: true })
      yield* Fiber.interrupt(put)
      yield* raw.put(ref(1, 3), [bytes("kept")])
      yield* eventually(fs.readDirectory(folder), (names) => names.length === 2)
    })
  )

  it.live("takes away what a crash left half written once it is old", () =>
    Effect.gen(function* () {
      const { fs, raw, root } = yield* inFiles()
      yield* raw.put(ref(1, 1), [bytes("whole")])
      yield* fs.writeFileString(`${root}/${ref(1, 2)}`, "ha")
      assert.deepStrictEqual(yield* Stream.runCollect(raw.olderThan(yield* anHourAgo)), [])
      assert.sameMembers(yield* Stream.runCollect(raw.olderThan(yield* inAnHour)), [ref(1, 1), ref(1, 2)])
    })
  )

  it.live("passes over a message that vanishes while it lists them, and only that one", () =>
    Effect.gen(function* () {
      const gone = PlatformError.systemError({ _tag: "NotFound", module: "FileSystem", method: "stat" })
      const { raw } = yield* inFiles((fs) => ({
        stat: (path) => (path.endsWith(`${ref(1, 2)}`) ? Effect.fail(gone) : fs.stat(path))
      }))
      yield* Effect.forEach([1, 2, 3], (number) => raw.put(ref(1, number), [bytes(`${number}`)]))
      const listed = yield* Stream.runCollect(raw.olderThan(yield* inAnHour))
      assert.deepStrictEqual(listed.toSorted(), [ref(1, 1), ref(1, 3)])
    })
  )

  it.live("passes over files that are not its own", () =>
    Effect.gen(function* () {
      const { folder, fs, raw, root } = yield* inFiles()
      yield* raw.put(ref(1, 1), [bytes("its own")])
      yield* fs.writeFileString(`${root}/inbound/notes.txt`, "a person's")
      yield* fs.writeFileString(`${folder}/copy.eml`, "a person's")
      yield* fs.makeDirectory(`${root}/inbound/lost+found`)
      yield* fs.writeFileString(`${root}/inbound/lost+found/1.eml`, "the system's")
      assert.deepStrictEqual(yield* Stream.runCollect(raw.olderThan(yield* inAnHour)), [ref(1, 1)])
      assert.isTrue(yield* fs.exists(`${folder}/copy.eml`))
    })
  )
})
