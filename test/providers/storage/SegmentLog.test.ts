import { readFileSync, renameSync, rmSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, FileSystem, Scope } from "effect"
import { TestClock } from "effect/testing"
import { DomainId } from "../../../src/model/Domain.ts"
import { InboundEmailId } from "../../../src/model/InboundEmail.ts"
import * as Platform from "../../../src/process/Platform.ts"
import * as FileCalls from "../../../src/providers/storage/FileCalls.ts"
import type * as Place from "../../../src/providers/storage/Place.ts"
import * as SegmentLog from "../../../src/providers/storage/SegmentLog.ts"
import * as Segments from "../../../src/providers/storage/Segments.ts"
import { eventually } from "../../Eventually.ts"
import * as RawLog from "../../RawLog.ts"

const domainId = DomainId.make("01981c9e-0000-7000-8000-000000000001")
const ownerOf = (number: number) => ({
  id: InboundEmailId.make(`01981c9e-1111-7000-8000-${`${number}`.padStart(12, "0")}`),
  domainId
})

/** A log in a separate folder with these faults. `restarted` is the log of another process. */
const world = (faults: Partial<FileCalls.FileCalls> = {}) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const root = yield* fs.makeTempDirectoryScoped({ prefix: "inlet-log-" })
    yield* fs.makeDirectory(Segments.folderOf(root))
    const segments = yield* Segments.make(root)
    const open = (calls: FileCalls.FileCalls) =>
      Effect.map(SegmentLog.make(Segments.folderOf(root), calls), (log) => ({
        put: (number: number, content = `mail ${number}`) =>
          log.put({ ...ownerOf(number), message: [Buffer.from(content)] }),
        append: log.append
      }))
    const log = yield* open({ ...FileCalls.ofNode, ...faults })
    const read = (number: number, place: Place.Place) =>
      Effect.map(segments.read(place, ownerOf(number)), (message) => Buffer.from(message).toString())
    const fileOf = ({ segment }: Place.Place) => `${Segments.folderOf(root)}/${Segments.nameOf(segment)}`
    return { ...log, root, read, fileOf, restarted: Effect.provide(open(FileCalls.ofNode), Platform.layer) }
  }).pipe(Effect.provide(Platform.layer))

const all = { concurrency: "unbounded" } as const

/** The text of its failure. */
const refusal = <A, E extends { readonly cause: unknown }>(put: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(put), ({ cause }) => String(cause))

describe("The log of raw messages", () => {
  it.live("writes and syncs all waiting messages at once, and later ones in the next write", () =>
    Effect.gen(function* () {
      const counts = { folder: 0, sync: 0, write: [] as Array<number> }
      const { put, read } = yield* world({
        syncFolder: (folder, told) => {
          counts.folder++
          FileCalls.ofNode.syncFolder(folder, told)
        },
        write: (descriptor, content, told) => {
          counts.write.push(content.length / 2)
          FileCalls.ofNode.write(descriptor, content, told)
        },
        sync: (descriptor, told) => {
          counts.sync++
          FileCalls.ofNode.sync(descriptor, told)
        }
      })
      const numbers = Array.from({ length: 40 }, (_, number) => number)
      const places = yield* Effect.forEach(numbers, (number) => put(number), all)
      assert.deepStrictEqual(counts, { folder: 1, sync: 1, write: [40] })
      yield* Effect.forEach(numbers, (number) => Effect.andThen(put(number), put(number)), all)
      assert.deepStrictEqual(counts, { folder: 1, sync: 3, write: [40, 40, 40] })
      for (const [number, place] of places.entries()) assert.strictEqual(yield* read(number, place), `mail ${number}`)
    })
  )

  it.live("writes up to 256 messages and 2 MiB at once, and a larger message alone", () =>
    Effect.gen(function* () {
      const writes: Array<number> = []
      const { put } = yield* world({
        write: (descriptor, content, told) => {
          writes.push(content.length / 2)
          FileCalls.ofNode.write(descriptor, content, told)
        }
      })
      yield* Effect.forEach(Array.from({ length: 300 }), (_, number) => put(number), all)
      assert.deepStrictEqual(writes.splice(0), [256, 44])
      const half = "x".repeat(512 * 1024)
      yield* Effect.all([put(1), put(2, half.repeat(5)), put(3), put(4, half.repeat(3)), put(5, half)], all)
      assert.deepStrictEqual(writes, [1, 1, 2, 1])
    })
  )

  it.live("writes a message of another domain before those of a domain with many bytes", () =>
    Effect.gen(function* () {
      const { append } = yield* world()
      const order: Array<string> = []
      const put = (name: string, domainId: DomainId, bytes: number) =>
        Effect.callback<void>((resume) => {
          append({ ...ownerOf(1), domainId, message: [Buffer.alloc(bytes)] }, () => {
            order.push(name)
            resume(Effect.void)
          })
        })
      const large = Array.from({ length: 6 }, (_, number) => put(`large ${number}`, ownerOf(1).domainId, 1_500_000))
      yield* Effect.all([...large, put("small", DomainId.make("01981c9e-0000-7000-8000-000000000099"), 4_096)], all)
      assert.deepStrictEqual(order.slice(0, 3), ["large 0", "small", "large 1"])
    })
  )

  it.effect("starts a segment after 64 MiB, after an hour, and when the clock is set back", () =>
    Effect.gen(function* () {
      const { put, read } = yield* world()
      yield* TestClock.setTime(Date.UTC(2026, 0, 1))
      const large = "x".repeat(31 * 1024 * 1024)
      const places = [yield* put(1, large), yield* put(2, large), yield* put(3, large)]
      yield* TestClock.adjust("59 minutes")
      places.push(yield* put(4))
      yield* TestClock.adjust("1 minute")
      places.push(yield* put(5))
      yield* TestClock.setTime(Date.UTC(2025, 0, 1))
      places.push(yield* put(6))
      const [first, second, third, fourth, fifth, sixth] = places.map(({ segment }) => segment)
      assert.strictEqual(first, second)
      assert.strictEqual(third, fourth)
      assert.lengthOf(new Set([first, third, fifth, sixth]), 4)
      // Its name contains its start time.
      assert.isTrue(sixth !== undefined && first !== undefined && sixth < first)
      assert.strictEqual(yield* read(3, places[2] ?? assert.fail()), large)
      assert.strictEqual(yield* read(6, places[5] ?? assert.fail()), "mail 6")
    })
  )

  it.live("stores no message without disk space, and continues after the last complete one", () =>
    Effect.gen(function* () {
      let room = 1_000
      const { fileOf, put, read } = yield* world({
        write: (descriptor, content, told) => {
          const fitting = Buffer.concat(content).subarray(0, room)
          room -= fitting.byteLength
          FileCalls.ofNode.write(descriptor, [fitting], told)
        }
      })
      const first = yield* put(1)
      const whole = readFileSync(fileOf(first)).byteLength
      const large = "x".repeat(2_000)
      const failures = yield* Effect.all([refusal(put(2)), refusal(put(3, large))], all)
      for (const failure of failures) assert.match(failure, /The disk is full: it took \d+ of \d+ bytes/)
      assert.strictEqual(readFileSync(fileOf(first)).byteLength, whole)
      room = 10_000
      const next = yield* put(4, large)
      assert.deepStrictEqual({ segment: next.segment, at: next.at }, { segment: first.segment, at: whole })
      assert.strictEqual(yield* read(1, first), "mail 1")
      assert.strictEqual(yield* read(4, next), large)
    })
  )

  it.live("abandons a segment that it cannot truncate, and removes a segment without a message", () =>
    Effect.gen(function* () {
      let isFull = true
      const { put, read, root } = yield* world({
        write: (descriptor, content, told) =>
          isFull ? told(new Error("ENOSPC"), 0) : FileCalls.ofNode.write(descriptor, content, told),
        truncate: (_, __, told) => told(new Error("EIO"))
      })
      assert.match(yield* refusal(put(1)), /ENOSPC/)
      isFull = false
      const place = yield* put(2)
      isFull = true
      assert.match(yield* refusal(put(3)), /ENOSPC/)
      isFull = false
      assert.notStrictEqual((yield* put(4)).segment, place.segment)
      assert.strictEqual(yield* read(2, place), "mail 2")
      yield* eventually(RawLog.segments(root), (names) => names.length === 2)
    })
  )

  it.live("never syncs a file again after a failed sync: its messages fail and the next go to another segment", () =>
    Effect.gen(function* () {
      const synced: Array<number> = []
      let fails = false
      const { put, read } = yield* world({
        sync: (descriptor, told) => {
          synced.push(descriptor)
          if (fails) told(new Error("EIO: i/o error, fdatasync"))
          else FileCalls.ofNode.sync(descriptor, told)
        },
        // Identifies files by descriptor.
        close: () => {}
      })
      const first = yield* put(1)
      fails = true
      for (const failure of yield* Effect.all([refusal(put(2)), refusal(put(3))], all)) assert.match(failure, /EIO/)
      fails = false
      const next = yield* put(4)
      assert.notStrictEqual(next.segment, first.segment)
      const [good, bad, another] = synced
      assert.strictEqual(good, bad)
      assert.notStrictEqual(another, bad)
      assert.strictEqual(yield* read(1, first), "mail 1")
      assert.strictEqual(yield* read(4, next), "mail 4")
    })
  )

  it.live("stores nothing in a segment that was removed or moved, and starts another", () =>
    Effect.gen(function* () {
      const { fileOf, put, read } = yield* world()
      const first = yield* put(1)
      rmSync(fileOf(first))
      assert.match(yield* refusal(put(2)), /is missing or was replaced/)
      const second = yield* put(3)
      renameSync(fileOf(second), `${fileOf(second)}.away`)
      assert.match(yield* refusal(put(4)), /is missing or was replaced/)
      assert.strictEqual(yield* read(5, yield* put(5)), "mail 5")
    })
  )

  it.live("stores nothing while it cannot open a segment or sync its name, and recovers", () =>
    Effect.gen(function* () {
      let trouble: "open" | "name" | undefined = "open"
      const { put, read, root } = yield* world({
        open: (file, told) =>
          trouble === "open" ? told(new Error("EMFILE"), FileCalls.unopened) : FileCalls.ofNode.open(file, told),
        syncFolder: (folder, told) =>
          trouble === "name" ? told(new Error("EIO")) : FileCalls.ofNode.syncFolder(folder, told)
      })
      assert.match(yield* refusal(put(1)), /EMFILE/)
      trouble = "name"
      assert.match(yield* refusal(put(2)), /EIO/)
      trouble = undefined
      assert.strictEqual(yield* read(3, yield* put(3)), "mail 3")
      yield* eventually(RawLog.segments(root), (names) => names.length === 1)
    })
  )

  it.live("does not write a message that was withdrawn before its write", () =>
    Effect.gen(function* () {
      const held: Array<() => void> = []
      const { put, root } = yield* world({
        write: (descriptor, content, told) => void held.push(() => FileCalls.ofNode.write(descriptor, content, told))
      })
      const letGo = Effect.andThen(
        eventually(
          Effect.sync(() => held.length),
          (length) => length === 1
        ),
        Effect.sync(() => held.pop()?.())
      )
      const [first, second, third] = yield* Effect.forEach([1, 2, 3], (number) =>
        Effect.tap(Effect.forkChild(put(number), { startImmediately: true }), () =>
          // The first write has started, and the others wait for it.
          number === 1
            ? eventually(
                Effect.sync(() => held.length),
                (length) => length === 1
              )
            : Effect.void
        )
      )
      yield* Fiber.interrupt(second ?? assert.fail())
      yield* letGo
      yield* Fiber.join(first ?? assert.fail())
      yield* letGo
      yield* Fiber.join(third ?? assert.fail())
      const ids = (yield* RawLog.records(root)).map(({ id }) => id)
      assert.deepStrictEqual(ids, [ownerOf(1).id, ownerOf(3).id])
    })
  )

  it.live("stores nothing after it is closed, and finishes the running write", () =>
    Effect.gen(function* () {
      const { restarted, root } = yield* world()
      const scope = yield* Scope.make()
      const log = yield* Scope.provide(restarted, scope)
      const begun = yield* Effect.forkChild(log.put(1), { startImmediately: true })
      yield* log.put(2)
      const late = yield* Effect.forkChild(Effect.exit(log.put(3)), { startImmediately: true })
      yield* Scope.close(scope, Exit.void)
      yield* Fiber.join(begun)
      assert.isTrue(Exit.isFailure(yield* Fiber.join(late)))
      assert.match(yield* refusal(log.put(4)), /The log of raw messages is closed/)
      assert.lengthOf(yield* RawLog.records(root), 2)
    })
  )
})

describe("kill -9", () => {
  it.live("during a write leaves a torn tail without a row that is neither read nor extended", () =>
    Effect.gen(function* () {
      let isKilled = false
      const { fileOf, put, read, restarted, root } = yield* world({
        write: (descriptor, content, told) => {
          if (!isKilled) return FileCalls.ofNode.write(descriptor, content, told)
          const all = Buffer.concat(content)
          // Nothing follows it.
          FileCalls.ofNode.write(descriptor, [all.subarray(0, all.byteLength - 3)], () => {})
        }
      })
      const kept = yield* put(1)
      const whole = readFileSync(fileOf(kept)).byteLength
      isKilled = true
      yield* Effect.forkChild(put(2), { startImmediately: true })
      yield* eventually(
        Effect.sync(() => readFileSync(fileOf(kept)).byteLength),
        (bytes) => bytes > whole
      )

      const next = yield* (yield* restarted).put(3)
      assert.notStrictEqual(next.segment, kept.segment)
      assert.strictEqual(yield* read(1, kept), "mail 1")
      assert.strictEqual(yield* read(3, next), "mail 3")
      assert.lengthOf(yield* RawLog.records(root), 2)
      // A row with its reference would not make it readable.
      const torn = yield* Effect.flip(read(2, { segment: kept.segment, at: whole, bytes: "mail 2".length }))
      assert.strictEqual(torn._tag, "RawDamaged")
    })
  )

  it.live(
    "between the sync and the row leaves a complete message without a row, and the next start opens another segment",
    () =>
      Effect.gen(function* () {
        const { append, restarted, root } = yield* world()
        const places: Array<Place.Place> = []
        append({ ...ownerOf(1), message: [Buffer.from("mail 1")] }, (_, place) => void (place && places.push(place)))
        yield* eventually(Effect.succeed(places), ({ length }) => length === 1)
        const next = yield* (yield* restarted).put(1, "mail 1, sent again")
        assert.notStrictEqual(next.segment, places[0]?.segment)
        assert.lengthOf(yield* RawLog.records(root), 2)
      })
  )
})
