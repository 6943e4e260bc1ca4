import { NodeServices } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import { Context, DateTime, Effect, FileSystem, Layer, PlatformError, Stream } from "effect"
import { DomainId } from "../../../src/model/Domain.ts"
import { InboundEmailId, type RawRef, rawRef } from "../../../src/model/InboundEmail.ts"
import * as Platform from "../../../src/process/Platform.ts"
import { RawStore } from "../../../src/providers/storage/RawStore.ts"
import * as RawStoreFile from "../../../src/providers/storage/RawStoreFile.ts"
import * as RawStoreS3 from "../../../src/providers/storage/RawStoreS3.ts"
import * as Segments from "../../../src/providers/storage/Segments.ts"
import { S3Server } from "../../simulators/S3Server.ts"

const domain = (number: number) => DomainId.make(`01981c9e-0000-7000-8000-${`${number}`.padStart(12, "0")}`)
const ref = (domainNumber: number, number: number): RawRef =>
  rawRef(domain(domainNumber), InboundEmailId.make(`01981c9e-1111-7000-8000-${`${number}`.padStart(12, "0")}`))

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (kept: Uint8Array) => new TextDecoder().decode(kept)

const inAnHour = Effect.map(DateTime.now, (now) => DateTime.add(now, { hours: 1 }))
const anHourAgo = Effect.map(DateTime.now, (now) => DateTime.subtract(now, { hours: 1 }))

/** The contract of every raw store. Each test has its own domains. */
const keeps = <E>(name: string, store: Layer.Layer<RawStore, E>) =>
  layer(store, { excludeTestServices: true })(name, (it) => {
    it.effect("returns a message byte for byte, from any number of pieces", () =>
      Effect.gen(function* () {
        const raw = yield* RawStore
        const place = yield* raw.put(ref(1, 1), [bytes("Return-Path: <>\r\n"), bytes(""), Uint8Array.of(0, 128, 255)])
        assert.deepStrictEqual([...(yield* raw.get(ref(1, 1), place))], [...bytes("Return-Path: <>\r\n"), 0, 128, 255])
        const large = new Uint8Array(3 * 1_024 * 1_024).fill(7)
        assert.isTrue(Buffer.from(large).equals(yield* raw.get(ref(1, 2), yield* raw.put(ref(1, 2), [large]))))
      })
    )

    it.effect("stores an empty message", () =>
      Effect.gen(function* () {
        const raw = yield* RawStore
        const place = yield* raw.put(ref(2, 1), [])
        assert.strictEqual((yield* raw.get(ref(2, 1), place)).byteLength, 0)
      })
    )

    it.effect("reports an unknown message as missing", () =>
      Effect.gen(function* () {
        const raw = yield* RawStore
        yield* raw.put(ref(3, 1), [bytes("another")])
        assert.strictEqual((yield* Effect.flip(raw.get(ref(3, 2), null)))._tag, "NotFound")
        assert.strictEqual((yield* Effect.flip(raw.get(ref(99, 1), null)))._tag, "NotFound")
      })
    )

    it.effect("stores many messages concurrently", () =>
      Effect.gen(function* () {
        const raw = yield* RawStore
        const numbers = Array.from({ length: 300 }, (_, number) => number)
        const places = yield* Effect.forEach(numbers, (number) => raw.put(ref(9, number), [bytes(`${number}`)]), {
          concurrency: "unbounded"
        })
        for (const number of numbers) {
          assert.strictEqual(text(yield* raw.get(ref(9, number), places[number] ?? null)), `${number}`)
        }
      })
    )
  })

/** The contract about the database of a store. */
const isOwned = <E>(name: string, store: Layer.Layer<RawStore, E>) =>
  layer(store, { excludeTestServices: true })(name, (it) => {
    it.effect("belongs to the first database that asks", () =>
      Effect.gen(function* () {
        const { owner } = yield* RawStore
        for (const database of ["first", "second", "first"]) assert.strictEqual(yield* owner(database), "first")
      })
    )
  })

/** The contract of a store with a name for each message. */
const removes = <E>(name: string, store: Layer.Layer<RawStore, E>) =>
  layer(store, { excludeTestServices: true })(name, (it) => {
    it.effect("removes a message, also repeatedly", () =>
      Effect.gen(function* () {
        const raw = yield* RawStore
        yield* raw.put(ref(4, 1), [bytes("one")])
        yield* raw.put(ref(4, 2), [bytes("two")])
        yield* raw.remove(ref(4, 1))
        yield* raw.remove(ref(4, 1))
        yield* raw.remove(ref(98, 1))
        assert.strictEqual((yield* Effect.flip(raw.get(ref(4, 1), null)))._tag, "NotFound")
        assert.strictEqual(text(yield* raw.get(ref(4, 2), null)), "two")
      })
    )

    it.effect("removes the messages of one domain only, also repeatedly", () =>
      Effect.gen(function* () {
        const raw = yield* RawStore
        yield* raw.put(ref(5, 1), [bytes("one")])
        yield* raw.put(ref(5, 2), [bytes("two")])
        yield* raw.put(ref(6, 1), [bytes("another's")])
        yield* raw.removeDomain(domain(5))
        yield* raw.removeDomain(domain(5))
        assert.strictEqual((yield* Effect.flip(raw.get(ref(5, 1), null)))._tag, "NotFound")
        assert.strictEqual((yield* Effect.flip(raw.get(ref(5, 2), null)))._tag, "NotFound")
        assert.strictEqual(text(yield* raw.get(ref(6, 1), null)), "another's")
        yield* raw.put(ref(5, 1), [bytes("again")])
        assert.strictEqual(text(yield* raw.get(ref(5, 1), null)), "again")
      })
    )

    it.effect("lists messages older than a time, without removed ones", () =>
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
  })

keeps("RawStore in memory", RawStore.layerMemory)
removes("RawStore in memory", RawStore.layerMemory)
isOwned("RawStore in memory", RawStore.layerMemory)

const temporary = Layer.unwrap(
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    return RawStoreFile.layer(yield* fs.makeTempDirectoryScoped({ prefix: "inlet-raw-" }))
  })
)

keeps("RawStore in a log", temporary.pipe(Layer.provide(Platform.layer)))
isOwned("RawStore in a log", temporary.pipe(Layer.provide(Platform.layer)))

const bucket = Layer.unwrap(
  Effect.map(S3Server, ({ accessKeyId, bucket, endpoint, region, secretAccessKey }) =>
    RawStoreS3.layer({
      endpoint,
      region,
      name: bucket,
      accessKeyId,
      secretAccessKey,
      patience: "5 seconds",
      largest: 8 * 1_024 * 1_024,
      segments: Segments.none
    })
  )
).pipe(Layer.provide(S3Server.layer))

keeps("RawStore in a bucket", bucket)
removes("RawStore in a bucket", bucket)
isOwned("RawStore in a bucket", bucket)

/** A store in a separate folder on a file system with these faults, and a file of an earlier version. */
const inFiles = (faults: (fs: FileSystem.FileSystem) => Partial<FileSystem.FileSystem> = () => ({})) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const root = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-raw-" })
    const faulty = Layer.succeed(FileSystem.FileSystem, { ...fs, ...faults(fs) })
    const store = RawStoreFile.layer(root).pipe(Layer.provide(faulty), Layer.provide(Platform.layer))
    const raw = Context.get(yield* Layer.build(store), RawStore)
    const leave = Effect.fnUntraced(function* (left: RawRef, content: string) {
      yield* fs.makeDirectory(`${root}/${left.slice(0, left.lastIndexOf("/"))}`, { recursive: true })
      yield* fs.writeFileString(`${root}/${left}`, content)
    })
    return { fs, root, raw, leave, folder: `${root}/inbound/${domain(1)}` }
  }).pipe(Effect.provide(NodeServices.layer))

const mode = (info: FileSystem.File.Info) => (info.mode & 0o777).toString(8)

describe("RawStore with a log", () => {
  it.live("stores messages in one file with mode 600, without a folder for each domain", () =>
    Effect.gen(function* () {
      const { fs, raw, root } = yield* inFiles()
      const place = yield* raw.put(ref(1, 1), [bytes("one")])
      yield* raw.put(ref(2, 1), [bytes("two")])
      assert.deepStrictEqual(yield* fs.readDirectory(root), ["segments"])
      assert.deepStrictEqual(yield* fs.readDirectory(`${root}/segments`), [`${place?.segment}.seg`])
      assert.strictEqual(mode(yield* fs.stat(`${root}/segments`)), "700")
      assert.strictEqual(mode(yield* fs.stat(`${root}/segments/${place?.segment}.seg`)), "600")
    })
  )

  it.live("has no file to remove for a logged message or without files of an earlier version", () =>
    Effect.gen(function* () {
      const { raw } = yield* inFiles()
      const place = yield* raw.put(ref(1, 1), [bytes("one")])
      yield* raw.remove(ref(1, 1))
      yield* raw.removeDomain(domain(1))
      assert.deepStrictEqual(yield* Stream.runCollect(raw.olderThan(yield* inAnHour)), [])
      assert.strictEqual(text(yield* raw.get(ref(1, 1), place)), "one")
    })
  )
})

describe("Files of an earlier version, one for each message,", () => {
  it.live("are read by reference, and removed by it or with their domain", () =>
    Effect.gen(function* () {
      const { fs, leave, raw, root } = yield* inFiles()
      yield* leave(ref(1, 1), "one")
      yield* leave(ref(1, 2), "two")
      yield* leave(ref(2, 1), "another's")
      assert.strictEqual(text(yield* raw.get(ref(1, 1), null)), "one")
      yield* raw.remove(ref(1, 1))
      yield* raw.remove(ref(1, 1))
      assert.strictEqual((yield* Effect.flip(raw.get(ref(1, 1), null)))._tag, "NotFound")
      yield* raw.removeDomain(domain(1))
      yield* raw.removeDomain(domain(1))
      assert.deepStrictEqual(yield* fs.readDirectory(`${root}/inbound`), [domain(2)])
      assert.strictEqual(text(yield* raw.get(ref(2, 1), null)), "another's")
    })
  )

  it.live("are listed once old, half-written ones included", () =>
    Effect.gen(function* () {
      const { leave, raw } = yield* inFiles()
      yield* leave(ref(1, 1), "whole")
      yield* leave(ref(1, 2), "ha")
      assert.deepStrictEqual(yield* Stream.runCollect(raw.olderThan(yield* anHourAgo)), [])
      assert.sameMembers(yield* Stream.runCollect(raw.olderThan(yield* inAnHour)), [ref(1, 1), ref(1, 2)])
    })
  )

  it.live("are skipped if they vanish during a listing", () =>
    Effect.gen(function* () {
      const gone = PlatformError.systemError({ _tag: "NotFound", module: "FileSystem", method: "stat" })
      const { leave, raw } = yield* inFiles((fs) => ({
        stat: (path) => (path.endsWith(`${ref(1, 2)}`) ? Effect.fail(gone) : fs.stat(path))
      }))
      yield* Effect.forEach([1, 2, 3], (number) => leave(ref(1, number), `${number}`))
      const listed = yield* Stream.runCollect(raw.olderThan(yield* inAnHour))
      assert.deepStrictEqual(listed.toSorted(), [ref(1, 1), ref(1, 3)])
    })
  )

  it.live("are distinguished from foreign files", () =>
    Effect.gen(function* () {
      const { folder, fs, leave, raw, root } = yield* inFiles()
      yield* leave(ref(1, 1), "its own")
      yield* fs.writeFileString(`${root}/inbound/notes.txt`, "a person's")
      yield* fs.writeFileString(`${folder}/copy.eml`, "a person's")
      yield* fs.makeDirectory(`${root}/inbound/lost+found`)
      yield* fs.writeFileString(`${root}/inbound/lost+found/1.eml`, "the system's")
      assert.deepStrictEqual(yield* Stream.runCollect(raw.olderThan(yield* inAnHour)), [ref(1, 1)])
      assert.isTrue(yield* fs.exists(`${folder}/copy.eml`))
    })
  )
})
