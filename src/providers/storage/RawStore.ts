import { Context, DateTime, Effect, FileSystem, Layer, Option, Path, Schema, Stream } from "effect"
import { NotFound } from "../../model/ApiError.ts"
import { DomainId } from "../../model/Domain.ts"
import { RawRef } from "../../model/InboundEmail.ts"
import * as FileWriter from "./FileWriter.ts"

/** The store could not do it: full, read-only, out of reach. */
export class RawStoreError extends Schema.TaggedError<RawStoreError>()("RawStoreError", { cause: Schema.Defect() }) {}

/** Where raw messages are kept. References are ours, never a sender's. */
export class RawStore extends Context.Service<
  RawStore,
  {
    /** Keeps the whole message, durably, or nothing. */
    put(ref: RawRef, message: ReadonlyArray<Uint8Array>): Effect.Effect<void, RawStoreError>
    get(ref: RawRef): Effect.Effect<Uint8Array, NotFound | RawStoreError>
    /** Removing a message that is not there is no error. */
    remove(ref: RawRef): Effect.Effect<void, RawStoreError>
    removeDomain(domainId: DomainId): Effect.Effect<void, RawStoreError>
    /** Everything that has been kept since before `time`, for the sweeper. */
    olderThan(time: DateTime.Utc): Stream.Stream<RawRef, RawStoreError>
  }
>()("inlet/providers/storage/RawStore") {
  static readonly layerMemory = Layer.sync(RawStore, () => {
    const messages = new Map<RawRef, { readonly bytes: Uint8Array; readonly keptAt: DateTime.Utc }>()
    return RawStore.of({
      put: Effect.fn("RawStore.put")(function* (ref, message) {
        messages.set(ref, { bytes: Buffer.concat(message), keptAt: yield* DateTime.now })
      }),
      get: Effect.fn("RawStore.get")(function* (ref) {
        const message = messages.get(ref)
        return message === undefined ? yield* missing() : message.bytes
      }),
      remove: (ref) => Effect.sync(() => void messages.delete(ref)),
      removeDomain: (domainId) =>
        Effect.sync(() => {
          for (const ref of messages.keys()) if (ref.startsWith(`inbound/${domainId}/`)) messages.delete(ref)
        }),
      olderThan: (time) =>
        Stream.suspend(() =>
          Stream.fromIterable(
            [...messages].flatMap(([ref, { keptAt }]) => (DateTime.isLessThan(keptAt, time) ? [ref] : []))
          )
        )
    })
  })

  /** Files below `root`, named by their reference. */
  static readonly layerFile = (root: string) =>
    Layer.effect(
      RawStore,
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        yield* fs.makeDirectory(path.join(root, "inbound"), { recursive: true, mode: 0o700 })
        const fileOf = (ref: string) => path.join(root, ref)

        const write = yield* FileWriter.make()

        // Under its own name at once: a file is a message only when a row says so.
        const put = (ref: RawRef, message: ReadonlyArray<Uint8Array>) =>
          Effect.mapError(write(fileOf(ref), message), failed)

        const get = Effect.fn("RawStore.get")((ref: RawRef) =>
          fs.readFile(fileOf(ref)).pipe(Effect.catchReason("PlatformError", "NotFound", missing, failed))
        )

        const remove = Effect.fn("RawStore.remove")((ref: RawRef) =>
          fs.remove(fileOf(ref), { force: true }).pipe(Effect.mapError(failed))
        )

        const removeDomain = Effect.fn("RawStore.removeDomain")((domainId: DomainId) =>
          fs.remove(fileOf(`inbound/${domainId}`), { recursive: true, force: true }).pipe(Effect.mapError(failed))
        )

        /** The files of one folder that are old enough; a file that vanishes meanwhile was removed by another process. */
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
          put,
          get,
          remove,
          removeDomain,
          olderThan: (time) =>
            Stream.fromIterableEffect(fs.readDirectory(fileOf("inbound"))).pipe(
              // Other files there are not ours.
              Stream.filter(Schema.is(DomainId)),
              Stream.flatMap((domainId) => oldIn(domainId, time)),
              Stream.mapError(failed)
            )
        })
      })
    )
}

const failed = (cause: unknown) => new RawStoreError({ cause })

export const missing = () => new NotFound({ message: "The raw message is no longer kept" })
