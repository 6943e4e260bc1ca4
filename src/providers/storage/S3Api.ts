import { createHash } from "node:crypto"
import { AwsV4Signer } from "aws4fetch"
import { DateTime, type Duration, Effect, Option, Redacted, Schedule, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { inTrouble, inWords, reasonOf } from "../vendor/VendorAnswer.ts"
import * as VendorXml from "../vendor/VendorXml.ts"

export interface Bucket {
  readonly endpoint: string
  readonly region: string
  readonly name: string
  readonly accessKeyId: string
  readonly secretAccessKey: Redacted.Redacted
  /** Timeout of a request, answer included. */
  readonly patience: Duration.Input
}

/** Why a request failed. */
export class S3Error extends Schema.TaggedError<S3Error>()("S3Error", {
  /** The store's error code, such as NoSuchKey, or `mismatch`. Null if the answer is not from an S3 store. */
  code: Schema.NullOr(Schema.String),
  /** Whether a retry may succeed. */
  isPassing: Schema.Boolean,
  message: Schema.String
}) {}

interface Call {
  readonly method: "GET" | "PUT" | "POST" | "DELETE"
  readonly key?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array
}

export interface Listed {
  readonly key: string
  readonly keptAt: DateTime.Utc
}

// Every request is idempotent.
const waits = Schedule.exponential("100 millis").pipe(Schedule.jittered)

/** Statuses below 500 that concern the connection and not the request. */
const passingCodes: ReadonlySet<string> = new Set([
  "BadDigest",
  "IncompleteBody",
  "RequestTimeout",
  "XAmzContentSHA256Mismatch"
])

/** The code of an object whose bytes differ from those that were put there. */
export const mismatch = "Mismatch"

/** The metadata header with the hash of an object, which a read must match. */
const hashHeader = "x-amz-meta-sha256"

/** The part of S3's API for small objects, with path-style requests, which every S3 store supports. */
export const make = Effect.fnUntraced(function* (bucket: Bucket) {
  const client = HttpClient.withScope(yield* HttpClient.HttpClient)
  const base = `${bucket.endpoint.replace(/\/+$/, "")}/${encoded(bucket.name)}`
  const signingKeys = new Map<string, ArrayBuffer>()
  let signingDay = ""

  /** The signing key of a UTC day. Those of earlier days are dropped. */
  const signingKeysOf = (day: string) => {
    if (day !== signingDay) signingKeys.clear()
    signingDay = day
    return signingKeys
  }

  /** Signs each attempt anew, because a signature expires after some minutes. */
  const signed = ({ body, headers = {}, key, method, query = {} }: Call) =>
    Effect.flatMap(DateTime.now, (now) =>
      Effect.promise(() =>
        new AwsV4Signer({
          method,
          url: `${base}${key === undefined ? "" : `/${key.split("/").map(encoded).join("/")}`}${search(query)}`,
          headers: { ...headers, "x-amz-content-sha256": hex("sha256", body ?? new Uint8Array()) },
          accessKeyId: bucket.accessKeyId,
          secretAccessKey: Redacted.value(bucket.secretAccessKey),
          service: "s3",
          region: bucket.region,
          datetime: DateTime.formatIso(now).replace(/[:-]|\.\d{3}/g, ""),
          cache: signingKeysOf(DateTime.formatIsoDateUtc(now))
        }).sign()
      )
    )

  const once = Effect.fnUntraced(
    function* (call: Call): Effect.fn.Return<Answer, S3Error> {
      const { headers, url } = yield* signed(call)
      const request = HttpClientRequest.make(call.method)(url.href, { headers: Object.fromEntries(headers) })
      return yield* client.execute(call.body ? HttpClientRequest.bodyUint8Array(request, call.body) : request).pipe(
        Effect.flatMap((response) =>
          Effect.map(response.arrayBuffer, (body) => ({
            status: response.status,
            headers: response.headers,
            body: new Uint8Array(body)
          }))
        ),
        // Drops the client's own error, which contains the request with its signature.
        Effect.mapError((error) => silent(reasonOf(error))),
        // Closes a connection whose answer is not awaited.
        Effect.scoped
      )
    },
    Effect.timeoutOrElse({ duration: bucket.patience, orElse: () => Effect.fail(silent("it took too long")) })
  )

  /** The store's message for a refusal. */
  const refusal = Effect.fnUntraced(function* ({ body, status }: Answer) {
    const isPassing = inTrouble(status)
    const unreadable = () => odd(`with HTTP status ${status}`, isPassing)
    const error = yield* VendorXml.parse(text(body), "Error", unreadable)
    const [code, message] = ["Code", "Message"].map((name) => VendorXml.at(error, name).map(VendorXml.textOf).join())
    if (!code) return yield* unreadable()
    return yield* new S3Error({
      code,
      isPassing: isPassing || passingCodes.has(code),
      message: inWords(`${message ?? ""} (${code}, HTTP status ${status})`, [bucket.secretAccessKey])
    })
  })

  /** Sends one request and decodes its answer with `understand`. */
  const ask = <A>(call: Call, understand: (answer: Answer) => Effect.Effect<A, S3Error>) =>
    once(call).pipe(
      Effect.flatMap((answer) => (answer.status < 300 ? understand(answer) : refusal(answer))),
      Effect.retry({ schedule: waits, times: 2, while: ({ isPassing }) => isPassing })
    )

  /** Succeeds only with S3's answer to a PUT, not with the page of a proxy. */
  const put = Effect.fn("S3Api.put")((key: string, body: Uint8Array) =>
    ask(
      { method: "PUT", key, headers: { "content-type": "message/rfc822", [hashHeader]: hex("sha256", body) }, body },
      ({ body: said, headers, status }) =>
        status === 200 && headers.etag !== undefined && said.byteLength === 0 ? Effect.void : odd("as no S3 store does")
    )
  )

  /**
   * Verifies that the bytes equal the stored ones. A copied object without the hash is verified by its ETag, which is
   * then the MD5.
   */
  const get = Effect.fn("S3Api.get")((key: string) =>
    ask({ method: "GET", key }, ({ body, headers, status }) => {
      const hash = headers[hashHeader]
      const etag = /^"([0-9a-f]{32})"$/.exec(headers.etag ?? "")?.[1]
      if (status !== 200 || (hash ?? etag) === undefined) return odd("as no S3 store does")
      const isWhole = hash === undefined ? etag === hex("md5", body) : hash === hex("sha256", body)
      return isWhole ? Effect.succeed(body) : Effect.fail(other)
    })
  )

  const remove = Effect.fn("S3Api.remove")((key: string) =>
    ask({ method: "DELETE", key }, ({ status }) => (status === 204 ? Effect.void : odd("as no S3 store does"))).pipe(
      Effect.catchIf(
        ({ code }) => code === "NoSuchKey",
        () => Effect.void
      )
    )
  )

  /** At most 1,000. */
  const removeAll = Effect.fn("S3Api.removeAll")(function* (keys: ReadonlyArray<string>) {
    const objects = keys.map((key) => `<Object><Key>${VendorXml.escape(key)}</Key></Object>`).join("")
    const body = Buffer.from(
      `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>${objects}</Delete>`
    )
    // Only this request requires it.
    const headers = {
      "content-type": "application/xml",
      "content-md5": createHash("md5").update(body).digest("base64")
    }
    return yield* ask({ method: "POST", query: { delete: "" }, headers, body }, ({ body: answer }) =>
      Effect.gen(function* () {
        const result = yield* VendorXml.parse(text(answer), "DeleteResult", () => odd("with what is no list"))
        const [left] = VendorXml.at(result, "Error", "Code").map(VendorXml.textOf)
        if (left !== undefined) return yield* odd(`that an object could not be removed (${left})`)
      })
    )
  })

  /** A page of the objects whose keys start with `prefix`, in order, with the token of the next. */
  const list = Effect.fn("S3Api.list")((prefix: string, after: Option.Option<string>, most = 1_000) =>
    ask(
      {
        method: "GET",
        query: {
          "list-type": "2",
          "max-keys": `${most}`,
          prefix,
          ...Option.match(after, { onNone: () => ({}), onSome: (token) => ({ "continuation-token": token }) })
        }
      },
      ({ body }) =>
        VendorXml.parse(text(body), "ListBucketResult", () => odd("with what is no list")).pipe(
          Effect.flatMap((result) => {
            const texts = (...path: ReadonlyArray<string>) => VendorXml.at(result, ...path).map(VendorXml.textOf)
            const times = texts("Contents", "LastModified")
            return decodePage({
              objects: texts("Contents", "Key").map((key, index) => ({ key, keptAt: times[index] })),
              isTruncated: texts("IsTruncated").join(),
              next: texts("NextContinuationToken")[0]
            })
          }),
          Effect.catchTag("SchemaError", () => odd("with what is no list")),
          Effect.map(({ isTruncated, next, objects }): readonly [ReadonlyArray<Listed>, Option.Option<string>] => [
            objects,
            isTruncated === "true" ? Option.fromNullishOr(next) : Option.none()
          ])
        )
    )
  )

  return { put, get, remove, removeAll, list }
})

const decodePage = Schema.decodeUnknownEffect(
  Schema.Struct({
    objects: Schema.Array(Schema.Struct({ key: Schema.NonEmptyString, keptAt: Schema.DateTimeUtcFromString })),
    isTruncated: Schema.Literals(["true", "false"]),
    next: Schema.optional(Schema.NonEmptyString)
  })
)

const silent = (reason: string) => new S3Error({ code: null, isPassing: true, message: `no answer (${reason})` })

const other = new S3Error({
  code: mismatch,
  isPassing: true,
  message: "it answered with other bytes than were put there"
})

const odd = (how: string, isPassing = false) => new S3Error({ code: null, isPassing, message: `it answered ${how}` })

const text = (body: Uint8Array) => Buffer.from(body).toString("utf8")

const hex = (algorithm: "sha256" | "md5", body: Uint8Array) => createHash(algorithm).update(body).digest("hex")

/** Encodes as SigV4 requires (RFC 3986): `encodeURIComponent` keeps these five characters. */
const encoded = (part: string) =>
  encodeURIComponent(part).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

const search = (query: Readonly<Record<string, string>>) => {
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${encoded(value)}`)
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`
}
