import { createHmac, timingSafeEqual } from "node:crypto"
import { Clock, Effect, Option, Redacted, Schema } from "effect"
import type { InboundEvent } from "./model/InboundEvent.ts"

export type { InboundEvent } from "./model/InboundEvent.ts"

/** Rule 1 of the specification's section 6: signed more than 300 seconds from the receiver's clock. */
export class TimestampOutOfRange extends Schema.TaggedError<TimestampOutOfRange>()("TimestampOutOfRange", {
  message: Schema.String
}) {}

/** Rule 2: not signed with this secret, or the body is not the one that was signed. */
export class SignatureMismatch extends Schema.TaggedError<SignatureMismatch>()("SignatureMismatch", {
  message: Schema.String
}) {}

/** Rule 3: the event id of the headers is not that of the body. */
export class EventIdMismatch extends Schema.TaggedError<EventIdMismatch>()("EventIdMismatch", {
  message: Schema.String
}) {}

/** Rule 4: a header is missing, or the signature is not `t=<digits>,v1=<hex>`. */
export class SignatureMalformed extends Schema.TaggedError<SignatureMalformed>()("SignatureMalformed", {
  message: Schema.String
}) {}

/** Why a request must be refused. */
export type Rejected = TimestampOutOfRange | SignatureMismatch | EventIdMismatch | SignatureMalformed

/** The headers of a request: Node's record, or the `Headers` of a fetch request. */
export type RequestHeaders =
  | Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  | { readonly get: (name: string) => string | null }

export interface Request {
  readonly headers: RequestHeaders
  /** The bytes as they came, before any parsing. */
  readonly rawBody: Uint8Array | string
  /** `webhook_signing_secret` of the workspace, `whsec_` included. */
  readonly secret: string | Redacted.Redacted
}

const toleratedSeconds = 300

/**
 * Verifies a webhook request and gives its event. Refuse the request (any
 * answer but 2xx) when it fails. During a rotation the old and the new secret
 * both verify. Deduplicate on `event_id`: deliveries come at least once.
 */
export const verify = Effect.fnUntraced(function* ({
  headers,
  rawBody,
  secret
}: Request): Effect.fn.Return<InboundEvent, Rejected> {
  const body = Buffer.from(rawBody)
  const eventId = yield* required(headers, "x-service-event-id")
  const timestamp = yield* required(headers, "x-service-timestamp")
  const current = yield* parse(yield* required(headers, "x-service-signature"))
  const rotated = header(headers, "x-service-signature-previous")
  const signatures = rotated === undefined ? [current] : [current, yield* parse(rotated)]
  if (signatures.some(({ seconds }) => seconds !== timestamp)) {
    return yield* new SignatureMalformed({ message: "X-Service-Timestamp is not the t of the signature" })
  }

  const now = (yield* Clock.currentTimeMillis) / 1_000
  if (Math.abs(now - Number(timestamp)) > toleratedSeconds) {
    return yield* new TimestampOutOfRange({
      message: `Signed ${Math.round(Math.abs(now - Number(timestamp)))} s from this clock; ${toleratedSeconds} s are allowed`
    })
  }

  const key = Redacted.isRedacted(secret) ? Redacted.value(secret) : secret
  const expected = createHmac("sha256", key).update(`${timestamp}.`).update(body).digest()
  if (!signatures.some(({ tag }) => tag.length === expected.length && timingSafeEqual(tag, expected))) {
    return yield* new SignatureMismatch({
      message: "The signature does not match: wrong secret, or the body was changed or parsed before it was verified"
    })
  }

  const event = Option.getOrUndefined(decode(body.toString("utf8")))
  if (event?.event_id !== eventId) {
    return yield* new EventIdMismatch({ message: "X-Service-Event-Id is not the event_id of the body" })
  }
  // The signature says that the service wrote this, and that is what it writes.
  return event as InboundEvent
})

/** The same for programs without Effect: gives the event, or throws one of the `Rejected` errors. */
export const verifySync = (request: Request): InboundEvent => Effect.runSync(verify(request))

// Only what is checked is decoded, so that fields of later versions pass.
const decode = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.StructWithRest(Schema.Struct({ event_id: Schema.String }), [Schema.Record(Schema.String, Schema.Unknown)])
  )
)

const header = (headers: RequestHeaders, name: string): string | undefined => {
  if ("get" in headers && typeof headers.get === "function") return headers.get(name) ?? undefined
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof found === "string" ? found : undefined
}

const required = (headers: RequestHeaders, name: string) => {
  const value = header(headers, name)
  return value === undefined || value === ""
    ? Effect.fail(new SignatureMalformed({ message: `The header ${name} is missing, or there are several` }))
    : Effect.succeed(value)
}

const parse = (signature: string) => {
  const [, seconds, tag] = /^t=(\d{1,15}),v1=([\da-f]+)$/.exec(signature) ?? []
  return seconds === undefined || tag === undefined
    ? Effect.fail(new SignatureMalformed({ message: "Expected a signature of the form t=<digits>,v1=<hex>" }))
    : Effect.succeed({ seconds, tag: Buffer.from(tag, "hex") })
}
