import { createHash, createHmac } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"
import { DateTime, Option } from "effect"

// Written from "Authenticating Requests (AWS Signature Version 4)" of the S3 API reference, independently of any
// signer.

export interface Received {
  readonly method: string
  /** Path and query as received. */
  readonly target: string
  readonly headers: IncomingHttpHeaders
  readonly body: Uint8Array
}

export interface Key {
  readonly id: string
  readonly secret: string
  readonly region: string
}

/** The code and message of S3's error. */
export interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
}

const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex")
const hmac = (key: string | Uint8Array, data: string) => createHmac("sha256", key).update(data).digest()

/** UriEncode: every byte except A-Z a-z 0-9 - . _ ~ as %XX with capital letters. */
const uriEncode = (text: string) =>
  [...Buffer.from(text)]
    .map((byte) => {
      const sign = String.fromCharCode(byte)
      return /[A-Za-z0-9\-._~]/.test(sign) ? sign : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`
    })
    .join("")

const canonicalUri = (path: string) =>
  path
    .split("/")
    .map((segment) => uriEncode(decodeURIComponent(segment)))
    .join("/")

const canonicalQuery = (query: string) =>
  query
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair) => {
      const at = pair.indexOf("=")
      const [name, value] = at === -1 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)]
      return `${uriEncode(decodeURIComponent(name))}=${uriEncode(decodeURIComponent(value))}`
    })
    .sort()
    .join("&")

/** Why a request is rejected, or undefined. */
export const refusal = (
  { body, headers, method, target }: Received,
  key: Key,
  now: DateTime.Utc
): Refusal | undefined => {
  const [, credential = "", signedHeaders = "", signature = ""] =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? ""
    ) ?? []
  const [id, day = "", region, service, end] = credential.split("/")
  if (end !== "aws4_request" || service !== "s3") {
    return { status: 403, code: "AccessDenied", message: "Access Denied" }
  }
  if (region !== key.region) {
    const message = `The authorization header is malformed; the region '${region}' is wrong; expecting '${key.region}'`
    return { status: 400, code: "AuthorizationHeaderMalformed", message }
  }
  if (id !== key.id) {
    const message = "The AWS Access Key Id you provided does not exist in our records."
    return { status: 403, code: "InvalidAccessKeyId", message }
  }

  const date = String(headers["x-amz-date"])
  const signedAt = DateTime.make(date.replace(/^(....)(..)(..T..)(..)(..Z)$/, "$1-$2-$3:$4:$5"))
  const age = Option.map(signedAt, (at) => Math.abs(DateTime.toEpochMillis(now) - DateTime.toEpochMillis(at)))
  if (!date.startsWith(day) || !Option.exists(age, (millis) => millis < 15 * 60_000)) {
    const message = "The difference between the request time and the current time is too large."
    return { status: 403, code: "RequestTimeTooSkewed", message }
  }

  const names = signedHeaders.split(";")
  const [path = "", query = ""] = target.split("?")
  const hash = String(headers["x-amz-content-sha256"])
  const canonicalRequest = [
    method,
    canonicalUri(path),
    canonicalQuery(query),
    ...names.map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, " ")}`),
    "",
    signedHeaders,
    hash
  ].join("\n")
  const stringToSign = ["AWS4-HMAC-SHA256", date, `${day}/${region}/s3/aws4_request`, sha256(canonicalRequest)].join(
    "\n"
  )
  const signingKey = hmac(hmac(hmac(hmac(`AWS4${key.secret}`, day), key.region), "s3"), "aws4_request")
  // Host and every x-amz-… header must be signed, because others could be changed in transit.
  const mustBeSigned = ["host", ...Object.keys(headers).filter((name) => name.startsWith("x-amz-"))]
  if (
    hmac(signingKey, stringToSign).toString("hex") !== signature ||
    !mustBeSigned.every((name) => names.includes(name))
  ) {
    const message = "The request signature we calculated does not match the signature you provided."
    return { status: 403, code: "SignatureDoesNotMatch", message }
  }
  if (hash !== sha256(body)) {
    const message = "The provided 'x-amz-content-sha256' header does not match what was computed."
    return { status: 400, code: "XAmzContentSHA256Mismatch", message }
  }
  return undefined
}
