import { DateTime, Effect, FileSystem, Layer, Option, Path, Schema, Stream } from "effect"
import * as DurableFolder from "../../files/DurableFolder.ts"
import { DomainId } from "../../model/Domain.ts"
import { ownerOf, RawRef } from "../../model/InboundEmail.ts"
import type * as FileCalls from "./FileCalls.ts"
import { RawStore } from "./RawStore.ts"
import { failed, missing } from "./RawStoreError.ts"
import * as SegmentLog from "./SegmentLog.ts"
import * as Segments from "./Segments.ts"

/** A log of segments below `root`. Also reads files of one message each, as copied back from a bucket, named by reference. */
export const layer = (root: string, calls?: FileCalls.FileCalls) =>
  Layer.effect(
    RawStore,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      yield* DurableFolder.make(Segments.folderOf(root))
      const log = yield* SegmentLog.make(Segments.folderOf(root), calls)
      const segments = yield* Segments.make(root)
      const fileOf = (ref: string) => path.join(root, ref)

      /** The files of a folder above an age. A file that vanishes meanwhile was removed by another process. */
      const oldIn = (domainId: DomainId, time: DateTime.Utc) =>
        Stream.fromIterableEffect(fs.readDirectory(fileOf(`inbound/${domainId}`))).pipe(
          Stream.filterEffect((name) =>
            fs.stat(fileOf(`inbound/${domainId}/${name}`)).pipe(
              Effect.map(({ mtime }) =>
                Option.exists(mtime, (modified) => modified.getTime() < DateTime.toEpochMillis(time))
              ),
              Effect.catchReason("PlatformError", "NotFound", () => Effect.succeed(false))
            )
          ),
          Stream.catchReason("PlatformError", "NotFound", () => Stream.empty),
          Stream.map((name) => `inbound/${domainId}/${name}`),
          Stream.filter(Schema.is(RawRef))
        )

      return RawStore.of({
        // No span for a message, because one write of the log stores many.
        put: (ref, message) => log.put({ ...ownerOf(ref), message }),
        writable: Effect.mapError(trial(fs, path.join(Segments.folderOf(root), "writable")), failed),
        get: Effect.fn("RawStore.get")((ref, place) =>
          place === null
            ? fs.readFile(fileOf(ref)).pipe(Effect.catchReason("PlatformError", "NotFound", missing, failed))
            : segments.read(place, ownerOf(ref))
        ),
        remove: Effect.fn("RawStore.remove")((ref) =>
          fs.remove(fileOf(ref), { force: true }).pipe(Effect.mapError(failed))
        ),
        removeDomain: Effect.fn("RawStore.removeDomain")((domainId) =>
          fs.remove(fileOf(`inbound/${domainId}`), { recursive: true, force: true }).pipe(Effect.mapError(failed))
        ),
        owner: segments.owner,
        olderThan: (time) =>
          Stream.fromIterableEffect(fs.readDirectory(fileOf("inbound"))).pipe(
            // Nothing was copied back from a bucket.
            Stream.catchReason("PlatformError", "NotFound", () => Stream.empty),
            // Other files there are foreign.
            Stream.filter(Schema.is(DomainId)),
            Stream.flatMap((domainId) => oldIn(domainId, time)),
            Stream.mapError(failed)
          ),
        segments
      })
    })
  )

/** The size of a few small messages. */
const trialBytes = 64 * 1024

/** Writes a file, syncs it and removes it. */
const trial = (fs: FileSystem.FileSystem, name: string) =>
  Effect.gen(function* () {
    const file = yield* fs.open(name, { flag: "w", mode: 0o600 })
    yield* file.writeAll(new Uint8Array(trialBytes))
    yield* file.sync
  }).pipe(Effect.scoped, Effect.ensuring(Effect.ignore(fs.remove(name, { force: true }))))
