import { createHash } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { Context, DateTime, Effect, Layer, Redacted } from "effect"
import * as Ports from "../Ports.ts"
import * as SignatureV4 from "./SignatureV4.ts"

/** The S3 operations of the store. */
export type Operation = "put" | "get" | "remove" | "removeAll" | "list"

/**
 * A fault of a request. After `cut answer`, `half an answer` and `endless answer` the store has acted. After the
 * others it has not.
 */
export type Mishap =
  | "internal error"
  | "slow down"
  | "bad gateway"
  | "hang"
  | "cut request"
  | "damaged request"
  | "cut answer"
  | "half an answer"
  | "damaged answer"
  | "endless answer"
  | "login page"
  | "page not found"
  | "access denied"
  | "quota exceeded"

interface Kept {
  readonly bytes: Buffer
  readonly metadata: Readonly<Record<string, string>>
  readonly keptAt: DateTime.Utc
}

const region = "here-1"
const key: SignatureV4.Key = { id: "GK31c2f218a2e44f485b94239e", secret: "b892c0665f0ada8a4755dae98baa3b13", region }
const bucket = "mail.in"

/** A bucket on a loopback socket. It accepts only signatures that it can compute itself. */
export class S3Server extends Context.Service<
  S3Server,
  {
    readonly endpoint: string
    readonly region: string
    readonly bucket: string
    readonly accessKeyId: string
    readonly secretAccessKey: Redacted.Redacted
    /** The settings of a service with this bucket. */
    readonly settings: Readonly<Record<string, string>>
    /** Faults for the next requests of an operation, one each. */
    mishaps(operation: Operation, ...next: ReadonlyArray<Mishap>): Effect.Effect<void>
    /** A fault for every request from now on, or none. */
    always(mishap: Mishap | undefined): Effect.Effect<void>
    /** Whether the key is valid, initially true. */
    withdraw(isWithdrawn: boolean): Effect.Effect<void>
    /** Whether the bucket exists, initially true. */
    drop(isGone: boolean): Effect.Effect<void>
    /** The number of objects in a page of a list, initially the maximum of 1,000. */
    pages(size: number): Effect.Effect<void>
    readonly keys: Effect.Effect<ReadonlyArray<string>>
    bytes(key: string): Effect.Effect<Buffer | undefined>
    /** Puts an object directly, such as a copy without metadata. */
    place(key: string, bytes: Uint8Array, keptAt?: DateTime.Utc): Effect.Effect<void>
    /** The number of requests for an operation so far. */
    asked(operation: Operation): Effect.Effect<number>
    /** The number of times that an object was read so far. */
    reads(key: string): Effect.Effect<number>
    /** The number of open connections. */
    readonly connections: Effect.Effect<number>
  }
>()("inlet/test/simulators/S3Server") {
  static readonly make = Effect.gen(function* () {
    const port = yield* Ports.free
    const objects = new Map<string, Kept>()
    const mishaps = new Map<Operation, Array<Mishap>>()
    const asked = new Map<Operation, number>()
    const reads = new Map<string, number>()
    let always: Mishap | undefined
    let isWithdrawn = false
    let isGone = false
    let pageSize = 1_000

    const react = (request: IncomingMessage, response: ServerResponse, received: Buffer, operation: Operation) => {
      const method = request.method ?? ""
      const target = request.url ?? ""
      const mishap = mishaps.get(operation)?.shift() ?? always
      asked.set(operation, (asked.get(operation) ?? 0) + 1)
      switch (mishap) {
        case "internal error":
          return send(response, error(500, "InternalError", "We encountered an internal error. Please try again."))
        case "slow down":
          return send(response, error(503, "SlowDown", "Please reduce your request rate."))
        case "bad gateway":
          return send(response, { status: 502, headers: html, body: Buffer.from("<h1>Bad Gateway</h1>") })
        case "login page":
          return send(response, { status: 200, headers: { ...html, etag: '"5f3e"' }, body: loginPage })
        case "page not found":
          return send(response, { status: 404, headers: html, body: Buffer.from("<h1>Not Found</h1>") })
        case "access denied":
          return send(response, error(403, "AccessDenied", "The key may not do this."))
        case "quota exceeded":
          return send(response, error(403, "QuotaExceeded", "The bucket is full."))
        case "hang":
          return
        case "cut request":
          return void response.destroy()
      }
      const body = mishap === "damaged request" ? flipped(received) : received
      const refused = isWithdrawn
        ? { status: 403, code: "AccessDenied", message: "Forbidden: the key was withdrawn" }
        : SignatureV4.refusal({ method, target, headers: request.headers, body }, key, DateTime.nowUnsafe())
      const answer =
        refused === undefined ? perform(operation, request, body) : error(refused.status, refused.code, refused.message)
      switch (mishap) {
        case "cut answer":
          response.writeHead(answer.status, { ...answer.headers, "content-length": answer.body.byteLength + 1 })
          return void response.write(answer.body, () => response.destroy())
        case "half an answer":
          response.writeHead(answer.status, { ...answer.headers, "content-length": answer.body.byteLength + 1 })
          return void response.write(answer.body)
        case "endless answer": {
          response.writeHead(answer.status, answer.headers)
          const more = () => {
            while (response.write(Buffer.alloc(65_536, "a")));
          }
          response.on("drain", more)
          return more()
        }
        default:
          return send(response, mishap === "damaged answer" ? { ...answer, body: flipped(answer.body) } : answer)
      }
    }

    const perform = (operation: Operation, { headers, url = "" }: IncomingMessage, body: Buffer): Answer => {
      const { pathname, searchParams } = new URL(url, "http://store")
      const [, named, ...rest] = pathname.split("/").map(decodeURIComponent)
      const name = rest.join("/")
      if (named !== bucket || isGone) return error(404, "NoSuchBucket", "The specified bucket does not exist")
      const object = objects.get(name)
      switch (operation) {
        case "put": {
          const metadata = Object.entries(headers).filter(([name]) => name.startsWith("x-amz-meta-"))
          objects.set(name, {
            bytes: body,
            metadata: Object.fromEntries(metadata.map(([name, value]) => [name, String(value)])),
            keptAt: DateTime.nowUnsafe()
          })
          return { status: 200, headers: { etag: etag(body) }, body: Buffer.alloc(0) }
        }
        case "get":
          reads.set(name, (reads.get(name) ?? 0) + 1)
          return object === undefined
            ? error(404, "NoSuchKey", "The specified key does not exist.")
            : { status: 200, headers: { ...object.metadata, etag: etag(object.bytes) }, body: object.bytes }
        case "remove":
          objects.delete(name)
          return { status: 204, headers: {}, body: Buffer.alloc(0) }
        case "removeAll": {
          if (headers["content-md5"] !== createHash("md5").update(body).digest("base64")) {
            return error(400, "InvalidRequest", "Missing required header for this request: Content-MD5")
          }
          for (const [, key = ""] of body.toString().matchAll(/<Key>([^<]*)<\/Key>/g)) objects.delete(unescaped(key))
          return xml(200, "<DeleteResult/>")
        }
        case "list": {
          const prefix = searchParams.get("prefix") ?? ""
          const after = Buffer.from(searchParams.get("continuation-token") ?? "", "base64").toString()
          const most = Math.min(pageSize, Number(searchParams.get("max-keys")))
          const found = [...objects].filter(([key]) => key.startsWith(prefix) && key > after).sort()
          const page = found.slice(0, most)
          const next =
            found.length > most
              ? `<NextContinuationToken>${Buffer.from(page.at(-1)?.[0] ?? "").toString("base64")}</NextContinuationToken>`
              : ""
          const contents = page.map(
            ([key, { bytes, keptAt }]) =>
              `<Contents><Key>${escaped(key)}</Key><LastModified>${DateTime.formatIso(keptAt)}</LastModified><ETag>${escaped(etag(bytes))}</ETag><Size>${bytes.byteLength}</Size><StorageClass>STANDARD</StorageClass></Contents>`
          )
          return xml(
            200,
            `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${bucket}</Name><Prefix>${prefix}</Prefix><KeyCount>${page.length}</KeyCount><MaxKeys>${most}</MaxKeys><IsTruncated>${next !== ""}</IsTruncated>${next}${contents.join("")}</ListBucketResult>`
          )
        }
      }
    }

    const server = createServer((request, response) => {
      const operation = operationOf(request)
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        if (operation === undefined) return send(response, error(405, "MethodNotAllowed", "Not allowed here"))
        react(request, response, Buffer.concat(chunks), operation)
      })
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => void server.listen(port, "127.0.0.1", () => resume(Effect.void))),
      () =>
        Effect.callback<void>((resume) => {
          server.closeAllConnections()
          server.close(() => resume(Effect.void))
        })
    )

    const endpoint = `http://127.0.0.1:${port}`
    return S3Server.of({
      endpoint,
      region,
      bucket,
      accessKeyId: key.id,
      secretAccessKey: Redacted.make(key.secret),
      settings: {
        RAW_STORE: "s3",
        S3_ENDPOINT: endpoint,
        S3_REGION: region,
        S3_BUCKET: bucket,
        S3_ACCESS_KEY_ID: key.id,
        S3_SECRET_ACCESS_KEY: key.secret
      },
      mishaps: (operation, ...next) => Effect.sync(() => void mishaps.set(operation, [...next])),
      always: (mishap) =>
        Effect.sync(() => {
          always = mishap
        }),
      withdraw: (yes) =>
        Effect.sync(() => {
          isWithdrawn = yes
        }),
      drop: (yes) =>
        Effect.sync(() => {
          isGone = yes
        }),
      pages: (size) =>
        Effect.sync(() => {
          pageSize = size
        }),
      keys: Effect.sync(() => [...objects.keys()].sort()),
      bytes: (key) => Effect.sync(() => objects.get(key)?.bytes),
      place: (key, bytes, keptAt = DateTime.nowUnsafe()) =>
        Effect.sync(() => void objects.set(key, { bytes: Buffer.from(bytes), metadata: {}, keptAt })),
      asked: (operation) => Effect.sync(() => asked.get(operation) ?? 0),
      reads: (key) => Effect.sync(() => reads.get(key) ?? 0),
      connections: Effect.callback((resume) => {
        server.getConnections((_, count) => resume(Effect.succeed(count)))
      })
    })
  })

  static readonly layer = Layer.effect(S3Server, S3Server.make)
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

const operationOf = ({ method, url = "" }: IncomingMessage): Operation | undefined => {
  const { pathname, searchParams } = new URL(url, "http://store")
  const isObject = pathname.split("/").length > 2
  if (method === "PUT" && isObject) return "put"
  if (method === "DELETE" && isObject) return "remove"
  if (method === "POST" && searchParams.has("delete")) return "removeAll"
  if (method !== "GET") return undefined
  return isObject ? "get" : "list"
}

const html = { "content-type": "text/html" }

const loginPage = Buffer.from("<!DOCTYPE html><title>Welcome</title><form>Please sign in & go on<br></form>")

const xml = (status: number, text: string): Answer => ({
  status,
  headers: { "content-type": "application/xml" },
  body: Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${text}`)
})

const error = (status: number, code: string, message: string) =>
  xml(status, `<Error><Code>${code}</Code><Message>${escaped(message)}</Message><RequestId>1</RequestId></Error>`)

const send = (response: ServerResponse, { body, headers, status }: Answer) =>
  void response.writeHead(status, { ...headers, "content-length": body.byteLength }).end(body)

const etag = (bytes: Buffer) => `"${createHash("md5").update(bytes).digest("hex")}"`

/** Flips one bit. */
const flipped = (bytes: Buffer) => {
  const damaged = Buffer.from(bytes)
  const middle = damaged.byteLength >> 1
  if (middle < damaged.byteLength) damaged[middle] = (damaged[middle] ?? 0) ^ 1
  return damaged
}

const escaped = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

const unescaped = (text: string) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&")
