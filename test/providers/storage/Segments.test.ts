import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, FileSystem, Logger } from "effect"
import { DomainId } from "../../../src/model/Domain.ts"
import { InboundEmailId } from "../../../src/model/InboundEmail.ts"
import * as Platform from "../../../src/process/Platform.ts"
import type * as Place from "../../../src/providers/storage/Place.ts"
import * as SegmentLog from "../../../src/providers/storage/SegmentLog.ts"
import { headBytes } from "../../../src/providers/storage/SegmentRecord.ts"
import * as Segments from "../../../src/providers/storage/Segments.ts"
import * as RawLog from "../../RawLog.ts"

const domain = (number: number) => DomainId.make(`01981c9e-0000-7000-8000-${`${number}`.padStart(12, "0")}`)
const id = (number: number) => InboundEmailId.make(`01981c9e-1111-7000-8000-${`${number}`.padStart(12, "0")}`)
const ownerOf = (number: number) => ({ id: id(number), domainId: domain(1) })

const secret = "All work and no play makes Jack a dull boy."

/** Three messages in a segment. */
const world = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const root = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-segments-" })
  const folder = Segments.folderOf(root)
  yield* fs.makeDirectory(folder)
  const log = yield* SegmentLog.make(folder)
  const put = (number: number, content = `${secret} ${number}`) =>
    log.put({ ...ownerOf(number), message: [Buffer.from(content)] })
  const places = yield* Effect.forEach([0, 1, 2], (number) => put(number), { concurrency: "unbounded" })
  const segments = yield* Segments.make(root)
  const file = `${folder}/${Segments.nameOf(places[0]?.segment ?? "")}`
  return { fs, root, folder, file, put, segments, place: (number: number) => places[number] ?? assert.fail() }
}).pipe(Effect.provide(Platform.layer))

type World = Effect.Success<typeof world>

const readable = ({ place, segments }: World) =>
  Effect.filter([0, 1, 2], (number) =>
    segments.read(place(number), ownerOf(number)).pipe(
      Effect.map((message) => Buffer.from(message).toString() === `${secret} ${number}`),
      Effect.catchTag(["NotFound", "RawDamaged", "RawStoreError"], () => Effect.succeed(false))
    )
  )

/** Writes into the segment directly. */
const damage = Effect.fnUntraced(function* ({ file }: World, at: number, bytes: Uint8Array) {
  const fs = yield* FileSystem.FileSystem
  const content = Buffer.from(yield* fs.readFile(file))
  content.set(bytes, at)
  yield* fs.writeFile(file, content)
}, Effect.provide(NodeServices.layer))

const erasable = (place: Place.Place, number: number) => ({ id: id(number), at: place.at, bytes: place.bytes })

describe("A message in the log", () => {
  const refusals: ReadonlyArray<
    readonly [what: string, change: (world: World) => Effect.Effect<unknown, unknown>, says: RegExp]
  > = [
    [
      "with a changed byte",
      (world) => damage(world, world.place(1).at + headBytes + 5, Buffer.from("!")),
      /its bytes have changed/
    ],
    [
      "with the record of another message",
      (world) => damage(world, world.place(1).at + 16, Buffer.from(id(2).replaceAll("-", ""), "hex")),
      /the record there is another message's/
    ],
    [
      "with the record of another domain",
      (world) => damage(world, world.place(1).at + 32, Buffer.from(domain(2).replaceAll("-", ""), "hex")),
      /the record there is another domain's/
    ],
    [
      "with a length other than in its row",
      (world) => damage(world, world.place(1).at + 8, Uint8Array.of(1)),
      /the record there has another length/
    ],
    [
      "with an unknown record kind",
      (world) => damage(world, world.place(1).at + 4, Uint8Array.of(9)),
      /a record of kind 9 is unknown/
    ],
    [
      "without a record at its offset",
      (world) => damage(world, world.place(1).at, Buffer.from("rubbish")),
      /no record begins there/
    ],
    [
      "in a truncated segment",
      (world) => world.fs.truncate(world.file, world.place(1).at + headBytes + 5),
      /the segment ends in the middle of it/
    ],
    [
      "after the end of a truncated segment",
      (world) => world.fs.truncate(world.file, world.place(1).at),
      /no record begins/
    ]
  ]
  for (const [what, change, says] of refusals) {
    it.live(`${what} is an error, not a message removed by retention`, () =>
      Effect.gen(function* () {
        const own = yield* world
        yield* change(own)
        const error = yield* Effect.flip(own.segments.read(own.place(1), ownerOf(1)))
        if (error._tag !== "RawDamaged") return assert.fail(error._tag)
        assert.match(error.reason, says)
        assert.include(error.reason, own.place(1).segment)
        assert.include(yield* readable(own), 0)
      })
    )
  }

  it.live("is missing if its segment is gone", () =>
    Effect.gen(function* () {
      const { file, fs, place, segments } = yield* world
      yield* fs.remove(file)
      assert.strictEqual((yield* Effect.flip(segments.read(place(1), ownerOf(1))))._tag, "NotFound")
    })
  )

  it.live("is zeros on disk and missing once erased, and its neighbors are unchanged", () =>
    Effect.gen(function* () {
      const own = yield* world
      const { file, fs, place, root, segments } = own
      yield* segments.erase(place(1).segment, [erasable(place(1), 1)])
      assert.strictEqual((yield* Effect.flip(segments.read(place(1), ownerOf(1))))._tag, "NotFound")
      assert.deepStrictEqual(yield* readable(own), [0, 2])
      const left = Buffer.from(yield* fs.readFile(file)).subarray(place(1).at, place(2).at)
      assert.isTrue(left.subarray(headBytes).equals(Buffer.alloc(place(1).bytes)))
      assert.isFalse(left.includes(Buffer.from(domain(1).replaceAll("-", ""), "hex")))
      assert.deepStrictEqual(
        (yield* RawLog.records(root)).map((record) => record.id),
        [id(0), id(2)]
      )
    })
  )

  it.live("is erased again without harm, also after an interruption and without its segment", () =>
    Effect.gen(function* () {
      const own = yield* world
      const { file, fs, place, segments } = own
      const both = [erasable(place(0), 0), erasable(place(2), 2)]
      yield* segments.erase(place(0).segment, both)
      // The head was written, but not the zeros.
      yield* damage(own, place(2).at + headBytes, Buffer.from(secret))
      yield* segments.erase(place(0).segment, both)
      assert.isFalse(Buffer.from(yield* fs.readFile(file)).includes(`${secret} 2`))
      assert.deepStrictEqual(yield* readable(own), [1])
      yield* fs.remove(file)
      assert.isFalse(yield* segments.erase(place(0).segment, both))
    })
  )

  it.live("is erased in full over several writes while its segment grows", () =>
    Effect.gen(function* () {
      const { file, fs, put, segments } = yield* world
      const large = yield* put(7, "x".repeat(2_500_000))
      const [last] = yield* Effect.all([put(8, "the last"), segments.erase(large.segment, [erasable(large, 7)])], {
        concurrency: "unbounded"
      })
      assert.strictEqual(last.segment, large.segment)
      assert.isFalse(Buffer.from(yield* fs.readFile(file)).includes("xx"))
      assert.strictEqual(Buffer.from(yield* segments.read(last, ownerOf(8))).toString(), "the last")
    })
  )

  it.live("is unchanged by an erasure with a wrong reference, which is logged", () =>
    Effect.gen(function* () {
      const own = yield* world
      const told: Array<string> = []
      const logger = Logger.layer([Logger.make(({ message }) => void told.push([message].flat().join(": ")))])
      yield* own.segments
        .erase(own.place(1).segment, [erasable(own.place(1), 2), erasable({ ...own.place(1), at: 3 }, 1)])
        .pipe(Effect.provide(logger))
      assert.deepStrictEqual(yield* readable(own), [0, 1, 2])
      assert.deepStrictEqual(told, [
        "Another record is at the position to erase: the record there is another message's",
        "Another record is at the position to erase: no record begins there"
      ])
    })
  )
})

describe("The segments of the log", () => {
  it.live("are listed oldest first by name, after an hour without a write", () =>
    Effect.gen(function* () {
      const { folder, fs, segments } = yield* world
      const now = yield* DateTime.now
      const made = (hours: number, untouchedMinutes: number) =>
        Effect.gen(function* () {
          const opened = DateTime.toEpochMillis(DateTime.subtract(now, { hours }))
          const name = Segments.idAt(opened, new Uint8Array(10).fill(hours))
          yield* fs.writeFileString(`${folder}/${Segments.nameOf(name)}`, "")
          const touched = (DateTime.toEpochMillis(now) - untouchedMinutes * 60_000) / 1_000
          yield* fs.utimes(`${folder}/${Segments.nameOf(name)}`, touched, touched)
          return { id: name, openedAt: DateTime.makeUnsafe(opened) }
        })
      const young = yield* made(3, 90)
      const old = yield* made(50, 61)
      yield* made(60, 59)
      const oldest = yield* made(70, 120)
      yield* fs.writeFileString(`${folder}/notes.seg`, "a person's")
      const olderThan = (hours: number) => segments.openedBefore(DateTime.subtract(now, { hours }))
      assert.deepStrictEqual(yield* olderThan(2), [oldest, old, young])
      assert.deepStrictEqual(yield* olderThan(4), [oldest, old])
      assert.deepStrictEqual(yield* olderThan(100), [])
      yield* segments.remove(old.id)
      yield* segments.remove(old.id)
      assert.deepStrictEqual(yield* olderThan(2), [oldest, young])
    })
  )

  it.live("are empty without a log", () =>
    Effect.gen(function* () {
      const segments = yield* Segments.make("/no/such/folder")
      assert.deepStrictEqual(yield* segments.openedBefore(yield* DateTime.now), [])
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
