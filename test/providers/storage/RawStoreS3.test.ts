import { assert, describe, it } from "@effect/vitest"
import { Context, DateTime, Duration, Effect, Layer, Logger, Redacted, Stream } from "effect"
import type { NotFound } from "../../../src/model/ApiError.ts"
import { DomainId } from "../../../src/model/Domain.ts"
import { InboundEmailId, rawRef } from "../../../src/model/InboundEmail.ts"
import { RawStore } from "../../../src/providers/storage/RawStore.ts"
import type { RawDamaged, RawStoreError } from "../../../src/providers/storage/RawStoreError.ts"
import * as RawStoreS3 from "../../../src/providers/storage/RawStoreS3.ts"
import * as Segments from "../../../src/providers/storage/Segments.ts"
import { eventually } from "../../Eventually.ts"
import { type Mishap, type Operation, S3Server } from "../../simulators/S3Server.ts"

const domainId = DomainId.make("01981c9e-0000-7000-8000-000000000001")
const ref = (number: number) =>
  rawRef(domainId, InboundEmailId.make(`01981c9e-1111-7000-8000-${`${number}`.padStart(12, "0")}`))

const message = Buffer.from("Subject: Hello\r\n\r\nHi\r\n")

const optionsOf = (server: S3Server["Service"]): RawStoreS3.Options => ({
  endpoint: server.endpoint,
  region: server.region,
  name: server.bucket,
  accessKeyId: server.accessKeyId,
  secretAccessKey: server.secretAccessKey,
  patience: "10 seconds",
  largest: 1_024 * 1_024,
  segments: Segments.none
})

/** A store and its bucket. */
const world = Effect.fnUntraced(function* (patience: Duration.Input = "10 seconds") {
  const server = yield* S3Server.make
  const context = yield* Layer.build(RawStoreS3.layer({ ...optionsOf(server), patience }))
  return { server, raw: Context.get(context, RawStore) }
})

/** Starts a store, and returns what it logs. */
const logOf = Effect.fnUntraced(function* (server: S3Server["Service"], patience: Duration.Input) {
  const lines: Array<string> = []
  const logger = Logger.make(
    ({ message }) => void lines.push(String(message).replaceAll(server.endpoint, "<endpoint>"))
  )
  const start = yield* Layer.build(RawStoreS3.layer(optionsOf(server))).pipe(
    Effect.provideService(RawStoreS3.StartPatience, Duration.fromInputUnsafe(patience)),
    Effect.provide(Logger.layer([logger])),
    Effect.result
  )
  return { lines, start }
})

/** The error of a start with one changed property of the bucket. */
const refusal = Effect.fnUntraced(function* (
  change: (server: S3Server["Service"]) => Partial<RawStoreS3.Options>,
  prepare: (server: S3Server["Service"]) => Effect.Effect<void> = () => Effect.void
) {
  const server = yield* S3Server.make
  yield* prepare(server)
  const error = yield* Effect.flip(Layer.build(RawStoreS3.layer({ ...optionsOf(server), ...change(server) })))
  assert.strictEqual(error._tag, "BucketUnusable")
  assert.notInclude(error.message, Redacted.value(server.secretAccessKey))
  return error.message.replaceAll(server.endpoint, "<endpoint>")
})

const passing: ReadonlyArray<Mishap> = [
  "internal error",
  "slow down",
  "bad gateway",
  "hang",
  "cut request",
  "cut answer",
  "half an answer"
]

/** Faults that end in a timeout. */
const silent: ReadonlySet<Mishap> = new Set(["hang", "half an answer"])

const operations: ReadonlyArray<Operation> = ["put", "get", "remove", "removeAll", "list"]

/** Each store operation, by its S3 requests. */
const doing = (raw: RawStore["Service"]) => ({
  put: raw.put(ref(1), [message]),
  get: raw.get(ref(1), null),
  remove: raw.remove(ref(1)),
  removeAll: raw.removeDomain(domainId),
  list: Effect.flatMap(DateTime.now, (now) => Stream.runCollect(raw.olderThan(now)))
})

/** The store's error as logged. */
const failure = Effect.fnUntraced(function* <A>(effect: Effect.Effect<A, NotFound | RawDamaged | RawStoreError>) {
  const error = yield* Effect.flip(effect)
  return error._tag === "RawStoreError" ? String(error.cause) : yield* Effect.die(error)
})

describe("An unreliable bucket", { concurrent: true }, () => {
  for (const operation of operations) {
    for (const mishap of passing) {
      it.live(`is retried when it answers ${operation} with: ${mishap}`, () =>
        Effect.gen(function* () {
          const { raw, server } = yield* world(silent.has(mishap) ? "1 second" : "10 seconds")
          yield* raw.put(ref(1), [message])
          const before = yield* server.asked(operation)
          yield* server.mishaps(operation, mishap)
          yield* doing(raw)[operation]
          const asked = (yield* server.asked(operation)) - before
          // On a busy machine the second attempt may also exceed 1 s.
          if (silent.has(mishap)) assert.isAtLeast(asked, 2)
          else assert.strictEqual(asked, 2)
        })
      )
    }

    it.live(`fails ${operation} after three attempts, and not with "not there"`, () =>
      Effect.gen(function* () {
        const { raw, server } = yield* world()
        yield* raw.put(ref(1), [message])
        const before = yield* server.asked(operation)
        yield* server.mishaps(operation, "internal error", "slow down", "cut answer")
        yield* failure<unknown>(doing(raw)[operation])
        assert.strictEqual((yield* server.asked(operation)) - before, 3)
        yield* doing(raw)[operation]
      })
    )

    for (const mishap of ["login page", "page not found"] as const) {
      it.live(`fails ${operation} at once after a ${mishap}`, () =>
        Effect.gen(function* () {
          const { raw, server } = yield* world()
          yield* raw.put(ref(1), [message])
          const before = yield* server.asked(operation)
          yield* server.mishaps(operation, mishap)
          yield* failure<unknown>(doing(raw)[operation])
          assert.strictEqual((yield* server.asked(operation)) - before, 1)
        })
      )
    }

    it.live(`fails ${operation} while the key is revoked, and works afterwards`, () =>
      Effect.gen(function* () {
        const { raw, server } = yield* world()
        yield* raw.put(ref(1), [message])
        yield* server.withdraw(true)
        assert.include(yield* failure<unknown>(doing(raw)[operation]), "the key was withdrawn")
        yield* server.withdraw(false)
        yield* doing(raw)[operation]
      })
    )

    it.live(`fails ${operation} while the bucket is gone, not as a missing message`, () =>
      Effect.gen(function* () {
        const { raw, server } = yield* world()
        yield* raw.put(ref(1), [message])
        yield* server.drop(true)
        yield* failure<unknown>(doing(raw)[operation])
      })
    )
  }

  it.live("is not writable while it can be listed and refuses uploads", () =>
    Effect.gen(function* () {
      const { raw, server } = yield* world()
      yield* server.mishaps("put", "quota exceeded")
      assert.include(yield* failure(raw.writable), "QuotaExceeded")
      yield* raw.writable
      yield* raw.writable
      // One of the start, one that failed, and one that is cached.
      assert.strictEqual(yield* server.asked("put"), 3)
    })
  )

  it.live("has no object left of a write check", () =>
    Effect.gen(function* () {
      const { raw, server } = yield* world()
      yield* raw.writable
      assert.deepStrictEqual(yield* server.keys, [])
    })
  )

  it.live("stores nothing of an upload damaged in transit, and stores the retry", () =>
    Effect.gen(function* () {
      const { raw, server } = yield* world()
      yield* server.mishaps("put", "damaged request", "damaged request", "damaged request")
      yield* failure(raw.put(ref(1), [message]))
      assert.deepStrictEqual(yield* server.keys, [])
      yield* server.mishaps("put", "damaged request")
      yield* raw.put(ref(1), [message])
      assert.isTrue(message.equals((yield* server.bytes(ref(1))) ?? Buffer.alloc(0)))
    })
  )

  it.live("returns no message with a flipped bit, and says that it is damaged if it stays so", () =>
    Effect.gen(function* () {
      const { raw, server } = yield* world()
      yield* raw.put(ref(1), [message])
      yield* server.mishaps("get", "damaged answer")
      assert.isTrue(message.equals(yield* raw.get(ref(1), null)))
      yield* server.mishaps("get", "damaged answer", "damaged answer", "damaged answer")
      const damaged = yield* Effect.flip(raw.get(ref(1), null))
      assert.deepInclude(damaged, { _tag: "RawDamaged", reason: "it answered with other bytes than were put there" })
    })
  )

  it.live("is read up to the maximum message size, then the connection is closed", () =>
    Effect.gen(function* () {
      const { raw, server } = yield* world()
      yield* raw.put(ref(1), [message])
      yield* server.mishaps("get", "endless answer", "endless answer", "endless answer")
      yield* failure(raw.get(ref(1), null))
      yield* eventually(server.connections, (count) => count <= 1)
    })
  )

  it.live("closes a connection with an incomplete answer", () =>
    Effect.gen(function* () {
      const { raw, server } = yield* world("1 second")
      yield* raw.put(ref(1), [message])
      yield* server.mishaps("get", "hang", "half an answer", "half an answer")
      yield* failure(raw.get(ref(1), null))
      yield* eventually(server.connections, (count) => count <= 1)
    })
  )
})

describe("A bucket", () => {
  it.live("is listed and emptied page by page, without foreign objects", () =>
    Effect.gen(function* () {
      const { raw, server } = yield* world()
      const numbers = Array.from({ length: 25 }, (_, number) => number)
      yield* Effect.forEach(numbers, (number) => raw.put(ref(number), [message]), { concurrency: 8 })
      yield* server.place("inbound/notes & <more>.txt", message)
      yield* server.place(`inbound/${domainId}/a & b <c>+.eml`, message)
      yield* server.place("elsewhere/1.eml", message)
      yield* server.pages(10)
      const later = DateTime.add(yield* DateTime.now, { hours: 1 })
      assert.deepStrictEqual(yield* Stream.runCollect(raw.olderThan(later)), numbers.map(ref))

      yield* raw.removeDomain(domainId)
      assert.deepStrictEqual(yield* server.keys, ["elsewhere/1.eml", "inbound/notes & <more>.txt"])
    })
  )

  it.live("reports the age of a message by the clock of the store", () =>
    Effect.gen(function* () {
      const { raw, server } = yield* world()
      const now = yield* DateTime.now
      yield* server.place(ref(1), message, DateTime.subtract(now, { hours: 2 }))
      yield* raw.put(ref(2), [message])
      assert.deepStrictEqual(yield* Stream.runCollect(raw.olderThan(DateTime.subtract(now, { hours: 1 }))), [ref(1)])
    })
  )

  it.live("returns a message copied by a tool that dropped the hash", () =>
    Effect.gen(function* () {
      const { raw, server } = yield* world()
      yield* server.place(ref(1), message)
      assert.isTrue(message.equals(yield* raw.get(ref(1), null)))
      yield* server.mishaps("get", "damaged answer")
      assert.isTrue(message.equals(yield* raw.get(ref(1), null)))
    })
  )
})

describe("The start with a bucket that is away", () => {
  const away = "S3_ENDPOINT: The bucket mail.in at <endpoint> does not answer requests"
  const why = "Please reduce your request rate. (SlowDown, HTTP status 503)"

  it.live("succeeds once it answers again, with one warning", () =>
    Effect.gen(function* () {
      const server = yield* S3Server.make
      // Three attempts of each request fail, and two requests.
      yield* server.mishaps("list", ...Array.from({ length: 6 }, () => "slow down" as const))
      const { lines, start } = yield* logOf(server, "1 minute")
      assert.strictEqual(start._tag, "Success")
      assert.deepStrictEqual(lines, [`${away} yet: ${why}. Inlet retries for a minute`])
    })
  )

  it.live("fails in the end, and says that the bucket does not answer", () =>
    Effect.gen(function* () {
      const server = yield* S3Server.make
      yield* server.always("slow down")
      const { lines, start } = yield* logOf(server, "2 seconds")
      assert.lengthOf(lines, 1)
      assert.strictEqual(
        start._tag === "Failure" && start.failure.message.replaceAll(server.endpoint, "<endpoint>"),
        `${away}: ${why}. Start the store, or correct the setting`
      )
    })
  )
})

describe("The start with a bucket fails at once with one line about", () => {
  it.live("a missing bucket", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* refusal(() => ({ name: "other" })), "S3_BUCKET: No bucket other at <endpoint>")
    })
  )

  it.live("an unknown key, a wrong secret, and a key without permission to list", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* refusal(() => ({ accessKeyId: "GK0" })),
        "S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY: The AWS Access Key Id you provided does not exist in our records. (InvalidAccessKeyId, HTTP status 403)"
      )
      assert.strictEqual(
        yield* refusal(() => ({ secretAccessKey: Redacted.make("wrong") })),
        "S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY: The request signature we calculated does not match the signature you provided. (SignatureDoesNotMatch, HTTP status 403)"
      )
      assert.strictEqual(
        yield* refusal(
          () => ({}),
          (server) => server.withdraw(true)
        ),
        "S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY: Forbidden: the key was withdrawn (AccessDenied, HTTP status 403)"
      )
    })
  )

  it.live("a key without permission to put or delete objects", () =>
    Effect.gen(function* () {
      for (const operation of ["put", "remove"] as const) {
        assert.strictEqual(
          yield* refusal(
            () => ({}),
            (server) => server.mishaps(operation, "access denied")
          ),
          "S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY: The key may not do this. (AccessDenied, HTTP status 403)"
        )
      }
    })
  )

  it.live("a wrong region, with the right one", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* refusal(() => ({ region: "there-2" })),
        "S3_REGION: The authorization header is malformed; the region 'there-2' is wrong; expecting 'here-1' (AuthorizationHeaderMalformed, HTTP status 400)"
      )
    })
  )

  it.live("an unreachable address or a server other than S3", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* Effect.provideService(
          refusal(() => ({ endpoint: "http://127.0.0.1:9" })),
          RawStoreS3.StartPatience,
          Duration.zero
        ),
        "S3_ENDPOINT: The bucket mail.in at http://127.0.0.1:9 does not answer requests: no answer (ECONNREFUSED). Start the store, or correct the setting"
      )
      assert.strictEqual(
        yield* refusal(
          () => ({}),
          (server) => server.always("login page")
        ),
        "S3_ENDPOINT: Requested <endpoint>: it answered with what is no list"
      )
    })
  )
})
