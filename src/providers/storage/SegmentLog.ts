import { Clock, Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Elapsed from "../../schedule/Elapsed.ts"
import { FairQueue } from "../../schedule/FairQueue.ts"
import { whenQuiet } from "../../schedule/QuietTurn.ts"
import * as FileCalls from "./FileCalls.ts"
import type * as Place from "./Place.ts"
import { failed, type RawStoreError } from "./RawStoreError.ts"
import * as SegmentRecord from "./SegmentRecord.ts"
import * as Segments from "./Segments.ts"

/** A message to store. Its bytes must stay unchanged until it is stored. */
export interface NewRecord extends SegmentRecord.Owner {
  readonly message: ReadonlyArray<Uint8Array>
}

/** The message is synced at this position, or it failed. */
export type Done = (...outcome: [error: null, place: Place.Place] | [error: Error, place: null]) => void

/** The segment log of one process. */
export interface SegmentLog {
  /**
   * A plain function, without a fiber and a promise. Returns a function that withdraws the message before its write.
   */
  append(record: NewRecord, done: Done): () => void
  put(record: NewRecord): Effect.Effect<Place.Place, RawStoreError>
}

/** The maximum length of a segment. */
const mostSegmentBytes = 64 * 1024 * 1024

/** Limits of one write. A slow disk syncs 2 MiB in 20 ms, which the next message waits for. */
const mostRecords = 256
const mostBytes = 2 * 1024 * 1024

/** Domains share the disk by the bytes they wrote in the last seconds. */
const halfLifeMilliseconds = 2_000
const bytesPerKiB = 1_024

interface Waiting {
  readonly record: NewRecord
  readonly bytes: number
  readonly done: Done
}

interface OpenSegment {
  readonly id: string
  readonly file: string
  readonly openedAt: number
  readonly opened: FileCalls.OpenFile
  /** The offset up to which everything is synced. */
  end: number
}

/**
 * Appends messages to segments in this folder. One call writes the waiting messages, up to 2 MiB, and one call syncs
 * them. Domains with the fewest recent bytes come first. Messages that arrive meanwhile belong to the next write,
 * which starts after an event-loop turn without new ones (`whenQuiet`).
 */
export const make = Effect.fnUntraced(function* (folder: string, files: FileCalls.FileCalls = FileCalls.ofNode) {
  const clock = yield* Clock.Clock
  const random = yield* SecureRandom.SecureRandom
  const run = Effect.runSyncWith(yield* Effect.context())
  // Part of the names of segments, and so of what retention removes.
  const now = () => clock.currentTimeMillisUnsafe()
  const waiting = new FairQueue<Waiting>({ now: () => Elapsed.millisOf(clock), halfLifeMilliseconds })
  let bytesWaiting = 0
  let segment: OpenSegment | undefined
  let isBusy = false
  let isClosed = false

  const leave = () => {
    if (segment === undefined) return
    files.close(segment.opened.descriptor)
    if (segment.end === 0) files.remove(segment.file)
    segment = undefined
  }

  /** The name of a segment bounds the time of its records, also if the clock is set. */
  const takes = ({ end, openedAt }: OpenSegment, bytes: number) =>
    (end === 0 || end + bytes <= mostSegmentBytes) && now() >= openedAt && now() < openedAt + Segments.openMillis

  const withSegment = (bytes: number, use: (segment: OpenSegment) => void, fail: (error: Error) => void) => {
    if (segment !== undefined && takes(segment, bytes)) return use(segment)
    leave()
    const openedAt = now()
    const id = Segments.idAt(openedAt, run(random.randomBytes(10)))
    const file = `${folder}/${Segments.nameOf(id)}`
    files.open(file, (error, opened) => {
      if (error !== null) return fail(error)
      const fresh = { id, file, openedAt, opened, end: 0 }
      segment = fresh
      files.syncFolder(folder, (error) => {
        if (error === null) return use(fresh)
        leave()
        fail(error)
      })
    })
  }

  const take = () => {
    const batch: Array<Waiting> = []
    let bytes = 0
    const fits = (next: Waiting) => batch.length === 0 || bytes + next.bytes <= mostBytes
    while (batch.length < mostRecords) {
      const next = waiting.take((next) => (fits(next) ? "take" : "stop"))
      if (next === undefined) break
      waiting.charge(next.record.domainId, next.bytes / bytesPerKiB)
      batch.push(next)
      bytes += next.bytes
    }
    bytesWaiting -= bytes
    return { batch, bytes }
  }

  const begin = () => {
    const { batch, bytes } = take()
    if (batch.length === 0) return rest()
    const fail = (error: Error) => {
      for (const { done } of batch) done(error, null)
      rest()
    }
    withSegment(bytes, (into) => write(into, batch, bytes, fail), fail)
  }

  const write = (into: OpenSegment, batch: ReadonlyArray<Waiting>, bytes: number, fail: (error: Error) => void) => {
    const content = batch.flatMap(({ record }) => [SegmentRecord.head(record, record.message), ...record.message])
    files.write(into.opened.descriptor, content, (error, written) => {
      if (error !== null || written !== bytes) {
        return takeBack(
          into,
          error ?? new Error(`The disk is full: it took ${written} of ${bytes} bytes. Free space in RAW_DIR`),
          fail
        )
      }
      sync(into, (error) => {
        if (error !== null) {
          // The kernel has dropped the pages that it failed to write, so a second sync would wrongly succeed.
          leave()
          return fail(error)
        }
        let at = into.end
        into.end += bytes
        for (const { bytes, done } of batch) {
          done(null, { segment: into.id, at, bytes: bytes - SegmentRecord.headBytes })
          at += bytes
        }
        rest()
      })
    })
  }

  /** Checks the name too, because a descriptor keeps writing to a removed file. */
  const sync = ({ file, opened }: OpenSegment, told: (error: Error | null) => void) => {
    let left = 2
    let failure: Error | null = null
    const one = (error: Error | null) => {
      failure ??= error
      if (--left === 0) told(failure)
    }
    files.sync(opened.descriptor, one)
    files.isThere(file, opened, (isThere) => one(isThere ? null : new Error(`${file} is missing or was replaced`)))
  }

  /** Removes all bytes of a failed batch. The next one starts at the same offset. */
  const takeBack = (from: OpenSegment, reason: Error, fail: (error: Error) => void) =>
    files.truncate(from.opened.descriptor, from.end, (error) => {
      if (error !== null) leave()
      fail(reason)
    })

  const rest = () => {
    isBusy = false
    if (isClosed) leave()
    else if (waiting.size > 0) soon()
  }

  const isFull = () => waiting.size >= mostRecords || bytesWaiting >= mostBytes

  const soon = () => {
    if (isBusy) return
    isBusy = true
    whenQuiet({ count: () => waiting.size, isFull }, begin)
  }

  const closed = () => new Error("The log of raw messages is closed")

  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      isClosed = true
      for (let late = waiting.take(() => "take"); late !== undefined; late = waiting.take(() => "take")) {
        late.done(closed(), null)
      }
      bytesWaiting = 0
      if (!isBusy) leave()
    })
  )

  const append: SegmentLog["append"] = (record, done) => {
    if (isClosed) {
      done(closed(), null)
      return () => {}
    }
    const own = { record, bytes: SegmentRecord.headBytes + SegmentRecord.lengthOf(record.message), done }
    waiting.push(record.domainId, own)
    bytesWaiting += own.bytes
    soon()
    return () => {
      if (waiting.remove(record.domainId, own)) bytesWaiting -= own.bytes
    }
  }

  const log: SegmentLog = {
    append,
    put: (record) =>
      Effect.callback((resume) => {
        const takeBack = append(record, (error, place) =>
          resume(error === null ? Effect.succeed(place) : failed(error))
        )
        return Effect.sync(takeBack)
      })
  }
  return log
})
