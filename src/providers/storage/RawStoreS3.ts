import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Context, DateTime, Duration, Effect, Layer, Option, Schedule, Schema, Semaphore, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import type { DomainId } from "../../model/Domain.ts"
import { ownerOf, RawRef } from "../../model/InboundEmail.ts"
import * as Elapsed from "../../schedule/Elapsed.ts"
import { RawStore } from "./RawStore.ts"
import { failed, missing, RawDamaged } from "./RawStoreError.ts"
import * as S3Api from "./S3Api.ts"
import { ownerName, type Segments } from "./Segments.ts"

/** The store refuses access. The message names the setting to check. */
export class BucketUnusable extends Schema.TaggedError<BucketUnusable>()("BucketUnusable", {
  message: Schema.String
}) {}

export interface Options extends S3Api.Bucket {
  /** Maximum bytes of an answer. */
  readonly largest: number
  /** The log from before the bucket was configured. */
  readonly segments: Segments
}

/** How long a start waits for a bucket that does not answer requests. */
export const StartPatience = Context.Reference<Duration.Duration>("inlet/providers/storage/StartPatience", {
  defaultValue: () => Duration.minutes(1)
})

/** Messages in pieces that are joined and sent at a time. One for 100 domains would otherwise take 100 times its memory. */
const mostJoined = 16

/**
 * The object that tells whether the bucket takes writes. Outside of the messages, so that no list has it, and of this
 * process alone, because some stores take one write a second of an object.
 */
const trialKeyOf = (process: string) => `writable/${process}`

/** Beside it, because a key may be limited to these prefixes. */
const ownerKey = `writable/${ownerName}`

const trialBytes = new TextEncoder().encode(
  "Inlet writes and removes this object to see whether the bucket takes mail\n"
)

/** How long a successful write is cached, because stores bill each one. */
const trialEvery = "1 minute"

/** Objects of an S3 store, named by their reference. */
export const layer = ({ largest, segments, ...bucket }: Options) =>
  Layer.effect(
    RawStore,
    Effect.gen(function* () {
      const s3 = yield* S3Api.make(bucket)
      const trialKey = trialKeyOf(SecureRandom.uuidV4Unsafe())
      const trialPut = s3.put(trialKey, trialBytes)
      const listed = Effect.asVoid(s3.list("inbound/", Option.none(), 1))
      yield* Effect.all([listed, trialPut, s3.remove(trialKey)], { discard: true }).pipe(
        patiently(bucket),
        Effect.mapError(unusable(bucket))
      )
      // Only the put tells whether the bucket takes mail.
      const trial = Effect.andThen(trialPut, Effect.ignore(s3.remove(trialKey)))
      const [written, forget] = yield* Effect.cachedInvalidateWithTTL(Elapsed.ofLookup(trial), trialEvery)
      const writable = Effect.all([listed, Effect.tapError(Elapsed.ofCache(written), () => forget)], {
        concurrency: "unbounded",
        discard: true
      }).pipe(Effect.mapError(failed))

      const joining = yield* Semaphore.make(mostJoined)
      const sent = (ref: RawRef, message: ReadonlyArray<Uint8Array>) => {
        const [whole, ...others] = message
        return whole !== undefined && others.length === 0
          ? s3.put(ref, whole)
          : joining.withPermits(1)(Effect.suspend(() => s3.put(ref, Buffer.concat(message))))
      }

      const put = Effect.fn("RawStore.put")((ref: RawRef, message: ReadonlyArray<Uint8Array>) =>
        sent(ref, message).pipe(Effect.as(null), Effect.mapError(failed))
      )

      const getObject = Effect.fn("RawStore.get")((ref: RawRef) =>
        // Recognizes the 404 for a missing object, as opposed to a missing bucket or a proxy.
        Effect.mapError(s3.get(ref), (error) =>
          error.code === "NoSuchKey"
            ? missing()
            : error.code === S3Api.mismatch
              ? new RawDamaged({ reason: error.message })
              : failed(error)
        )
      )

      const remove = Effect.fn("RawStore.remove")((ref: RawRef) => Effect.mapError(s3.remove(ref), failed))

      const below = (prefix: string) =>
        Stream.paginate(Option.none<string>(), (after) =>
          Effect.map(s3.list(prefix, after), ([objects, next]) => [objects, Option.map(next, Option.some)] as const)
        )

      const removeDomain = Effect.fn("RawStore.removeDomain")((domainId: DomainId) =>
        below(`inbound/${domainId}/`).pipe(
          Stream.grouped(1_000),
          Stream.runForEach((objects) => s3.removeAll(objects.map(({ key }) => key))),
          Effect.mapError(failed)
        )
      )

      /** Of two that mark it at the same time, the last one is the owner. */
      const owner = Effect.fn("RawStore.owner")(function* (database: string) {
        const known = Effect.map(s3.get(ownerKey), (bytes) => Buffer.from(bytes).toString("utf8").trim())
        return yield* Effect.catchIf(
          known,
          ({ code }) => code === "NoSuchKey",
          () => Effect.andThen(s3.put(ownerKey, new TextEncoder().encode(`${database}\n`)), known)
        )
      }, Effect.mapError(failed))

      return RawStore.of({
        owner,
        put,
        writable,
        get: (ref, place) => (place === null ? getObject(ref) : segments.read(place, ownerOf(ref))),
        remove,
        removeDomain,
        olderThan: (time) =>
          below("inbound/").pipe(
            Stream.filter(({ keptAt }) => DateTime.isLessThan(keptAt, time)),
            Stream.map(({ key }) => key),
            // Other objects there are foreign.
            Stream.filter(Schema.is(RawRef)),
            Stream.mapError(failed)
          ),
        segments
      })
    })
  ).pipe(Layer.provide(NodeHttpClient.layerUndiciOptions({ connections: 128, maxResponseSize: largest })))

/** Repeats the requests of a start while the bucket is away, as at the restart of both. They are idempotent. */
const patiently = (bucket: S3Api.Bucket) => (trial: Effect.Effect<void, S3Api.S3Error>) =>
  Effect.catchIf(
    trial,
    ({ isPassing }) => isPassing,
    Effect.fnUntraced(function* (error: S3Api.S3Error) {
      const patience = yield* StartPatience
      if (Duration.isZero(patience)) return yield* error
      yield* Effect.logWarning(`S3_ENDPOINT: ${isAway(bucket)} yet: ${error.message}. Inlet retries for a minute`)
      yield* Effect.retry(Effect.delay(trial, "1 second"), {
        while: ({ isPassing }) => isPassing,
        schedule: Schedule.during(patience)
      })
    })
  )

const isAway = ({ endpoint, name }: S3Api.Bucket) => `The bucket ${name} at ${endpoint} does not answer requests`

/** Errors that need an operator. Stores have different codes for an unknown key. */
const unusable =
  (bucket: S3Api.Bucket) =>
  ({ code, isPassing, message }: S3Api.S3Error) => {
    const { endpoint, name } = bucket
    if (isPassing) {
      return new BucketUnusable({
        message: `S3_ENDPOINT: ${isAway(bucket)}: ${message}. Start the store, or correct the setting`
      })
    }
    switch (code) {
      case null:
        return new BucketUnusable({ message: `S3_ENDPOINT: Requested ${endpoint}: ${message}` })
      case "NoSuchBucket":
        return new BucketUnusable({ message: `S3_BUCKET: No bucket ${name} at ${endpoint}` })
      case "AuthorizationHeaderMalformed":
      case "PermanentRedirect":
        return new BucketUnusable({ message: `S3_REGION: ${message}` })
      case "InvalidAccessKeyId":
      case "SignatureDoesNotMatch":
      case "AccessDenied":
        return new BucketUnusable({ message: `S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY: ${message}` })
      default:
        return new BucketUnusable({ message: `S3_ENDPOINT, S3_BUCKET: ${message}` })
    }
  }
