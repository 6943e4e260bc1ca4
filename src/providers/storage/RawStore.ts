import { Context, DateTime, Effect, Layer, Stream } from "effect"
import type { NotFound } from "../../model/ApiError.ts"
import type { DomainId } from "../../model/Domain.ts"
import type { RawRef } from "../../model/InboundEmail.ts"
import type * as Place from "./Place.ts"
import { missing, type RawDamaged, type RawStoreError } from "./RawStoreError.ts"
import * as Segments from "./Segments.ts"

/** Stores raw messages. References are generated, never a sender's. */
export class RawStore extends Context.Service<
  RawStore,
  {
    /**
     * Stores the whole message durably, or nothing. Returns its position in the log, or null for a file or object of
     * its own.
     */
    put(ref: RawRef, message: ReadonlyArray<Uint8Array>): Effect.Effect<Place.Place | null, RawStoreError>
    /** Fails while writes fail: full or read-only disk, missing bucket. */
    readonly writable: Effect.Effect<void, RawStoreError>
    get(ref: RawRef, place: Place.Place | null): Effect.Effect<Uint8Array, NotFound | RawDamaged | RawStoreError>
    /** Removes the file or object. Idempotent. */
    remove(ref: RawRef): Effect.Effect<void, RawStoreError>
    removeDomain(domainId: DomainId): Effect.Effect<void, RawStoreError>
    /**
     * The id of the database to which the files and objects belong. A store without an owner is marked with this one.
     */
    owner(database: string): Effect.Effect<string, RawStoreError>
    /** The files and objects stored before `time`, for the sweeper. */
    olderThan(time: DateTime.Utc): Stream.Stream<RawRef, RawStoreError>
    /** The log, also if it was written before another store was configured. */
    readonly segments: Segments.Segments
  }
>()("inlet/providers/storage/RawStore") {
  static readonly layerMemory = Layer.sync(RawStore, () => {
    const messages = new Map<RawRef, { readonly bytes: Uint8Array; readonly keptAt: DateTime.Utc }>()
    let owner: string | undefined
    return RawStore.of({
      put: Effect.fn("RawStore.put")(function* (ref, message) {
        messages.set(ref, { bytes: Buffer.concat(message), keptAt: yield* DateTime.now })
        return null
      }),
      writable: Effect.void,
      get: Effect.fn("RawStore.get")(function* (ref) {
        const message = messages.get(ref)
        return message === undefined ? yield* missing() : message.bytes
      }),
      remove: (ref) => Effect.sync(() => void messages.delete(ref)),
      removeDomain: (domainId) =>
        Effect.sync(() => {
          for (const ref of messages.keys()) if (ref.startsWith(`inbound/${domainId}/`)) messages.delete(ref)
        }),
      owner: (database) => Effect.sync(() => (owner ??= database)),
      olderThan: (time) =>
        Stream.suspend(() =>
          Stream.fromIterable(
            [...messages].flatMap(([ref, { keptAt }]) => (DateTime.isLessThan(keptAt, time) ? [ref] : []))
          )
        ),
      segments: Segments.none
    })
  })
}
