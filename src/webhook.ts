// For receivers. This file is long, because it needs only Node: verifying a webhook installs nothing else.
import { createHmac, timingSafeEqual } from "node:crypto"

type Verdict = "pass" | "fail" | "softfail" | "neutral" | "none" | "temperror" | "permerror"

interface Mailbox {
  readonly name: string
  readonly address: string
}

interface PolicyReport<Type> {
  readonly type: Type
  readonly submitter: string | null
  readonly domain: string | null
  readonly begin: string | null
  readonly end: string | null
  readonly attachment: number | null
}

interface CalendarTime {
  readonly local: string
  readonly zone: string | null
  readonly utc: string | null
}

/** What a mail is. docs/api.md says what each field means. */
export type MailKind =
  | { readonly type: "person" }
  | { readonly type: "auto_reply" }
  | { readonly type: "bulk" }
  | { readonly type: "list"; readonly listId: string | null }
  | {
      readonly type: "bounce"
      readonly recipients: ReadonlyArray<{
        readonly address: string
        readonly action: string | null
        readonly status: string | null
        readonly diagnostic: string | null
      }>
      readonly originalMessageId: string | null
    }
  | PolicyReport<"dmarc_report">
  | PolicyReport<"tls_report">
  | {
      readonly type: "calendar"
      readonly method: string
      readonly uid: string | null
      readonly sequence: number | null
      readonly summary: string | null
      readonly location: string | null
      readonly start: CalendarTime | null
      readonly end: CalendarTime | null
      readonly recurrence: string | null
      readonly organizer: { readonly name: string | null; readonly address: string } | null
      readonly reply: string | null
      readonly attachment: number | null
    }

/** One inbound email for one recipient: the body of a webhook. docs/api.md says what each field means. */
export interface InboundEvent {
  readonly event: "inbound.email.received"
  /** The same on every attempt and replay. */
  readonly event_id: string
  readonly inbound_email_id: string
  readonly idempotency_key: string
  readonly message_id: string | null
  readonly domain: string
  /** The envelope address. Route by this. */
  readonly recipient: string
  readonly from: string
  readonly subject: string
  readonly text: string
  /** The original HTML. Not safe to display. */
  readonly html: string | null
  readonly attachments: ReadonlyArray<{
    readonly filename: string | null
    readonly contentType: string
    readonly size: number
    readonly contentId: string | null
    readonly disposition: string | null
    readonly index: number
  }>
  readonly receivedAt: string
  readonly rawRef: string
  readonly authentication: {
    readonly spf: Verdict
    readonly dkim: Verdict
    readonly dmarc: Verdict
    readonly arc: Verdict
  }
  readonly envelope: {
    readonly from: string
    readonly helo: string
    readonly remoteAddress: string
    /** True if a relay handed the mail over and named `helo` and `remoteAddress`. */
    readonly relayed?: true
  }
  readonly headers: ReadonlyArray<{ readonly name: string; readonly value: string }>
  readonly to: ReadonlyArray<Mailbox>
  readonly cc: ReadonlyArray<Mailbox>
  readonly replyTo: ReadonlyArray<Mailbox>
  readonly inReplyTo: string | null
  readonly references: ReadonlyArray<string>
  readonly parse: "full" | "partial" | "headers"
  /** The author's display name. Absent in older events. */
  readonly fromName?: string | null
  /** The author's new text without quotation and signature, or null if equal to `text`. */
  readonly reply?: string | null
  readonly sender?: "person" | "list" | "auto" | "bounce"
  /** What the mail is, with what its kind tells. All of it is what the sender claims. Absent in older events. */
  readonly kind?: MailKind
  /** The part after the first `+` of the recipient's local part, or null. */
  readonly tag?: string | null
  /** The webhook that took the recipient, and its pattern when the mail came. Absent in older events. */
  readonly webhook_id?: string
  readonly pattern?: string
  /** Whether hidden words were left out, or the text has words that a person may not see. Absent in older events. */
  readonly hiddenTextVerdict?: "none" | "removed" | "uncertain"
  /** Whether `text` has the words of the HTML beside it. Null if the mail has only one of them. */
  readonly textMatchesHtml?: boolean | null
  /** The number of invisible characters in `subject` and `text`. */
  readonly invisibleCharacters?: number
  /** Whether to believe `from`, and what the sender rules say. */
  readonly trust?: {
    /** True if the domain of `from` confirms the mail. */
    readonly aligned: boolean
    /** The sender rule that decided, or null. */
    readonly rule: string | null
    /** How `from` is confirmed or why not, and then what the sender rules say. */
    readonly reasons: ReadonlyArray<
      | "dmarc_pass"
      | "spf_aligned"
      | "dkim_aligned"
      | "dmarc_fail"
      | "not_aligned"
      | "word_of_relay"
      | "addressed_to_others"
      | "ambiguous_author"
      | "dns_failed"
      | "not_checked"
      | "allowed"
      | "sender_not_allowed"
      | "sender_blocked"
    >
  }
  /** What the mail scanner says. Absent where none is set up. */
  readonly spam?: {
    /** `unknown` if the scanner gave no usable answer in time. */
    readonly verdict: "clean" | "spam" | "virus" | "unknown"
    readonly score: number | null
    /** The score at which the scanner would reject the mail. */
    readonly required: number | null
    /** The rules that matched, the 20 with the largest absolute score. */
    readonly symbols: ReadonlyArray<{ readonly name: string; readonly score: number }>
    readonly virus: string | null
  }
  /** The conversation. Replies to one message share it. */
  readonly threadId?: string
  /** Whether the HTML has hidden words. */
  readonly hiddenText?: boolean
  /** The code and links of the mail. Absent in older events. */
  readonly extracted?: {
    /** The code to type. With confidence `low` it is a guess. */
    readonly code: {
      readonly value: string
      readonly shown: string
      readonly source: "subject" | "text" | "html"
      readonly confidence: "high" | "low"
    } | null
    /** Up to five, best first. */
    readonly links: ReadonlyArray<{
      readonly kind: "verify" | "login" | "reset" | "invite" | "other"
      readonly url: string
      readonly text: string
      readonly host: string
      /** `low` if a person may not see it. Absent in older events. */
      readonly confidence?: "high" | "low"
    }>
    readonly unsubscribe: {
      readonly url: string | null
      readonly mailto: string | null
      readonly oneClick: boolean
    } | null
  }
}

interface Operational<Type extends string> {
  readonly type: Type
  readonly event: "operational"
  /** The same on every attempt. */
  readonly event_id: string
  /** Null in events for the operator alone. */
  readonly workspace_id: string | null
  readonly occurred_at: string
  /** What happened and what to do, for people. */
  readonly message: string
}

interface OfDomain<Type extends string> extends Operational<Type> {
  readonly domain_id: string
  readonly domain: string
}

interface OfWebhook<Type extends string> extends OfDomain<Type> {
  /** Absent in events of versions with one webhook for a domain. */
  readonly webhook_id?: string
  readonly pattern?: string
}

interface OfMx<Type extends string> extends OfDomain<Type> {
  readonly expected: string
  readonly observed: ReadonlyArray<string>
}

/** News about the service itself: the body of an operational webhook. `type` tells the kind. */
export type OperationalEvent =
  | (OfWebhook<"webhook.paused"> & {
      readonly failing_since: string
      readonly last_error: string | null
      readonly waiting: number
    })
  | (OfWebhook<"webhook.resumed"> & { readonly paused_at: string; readonly waiting: number })
  | (OfDomain<"delivery.dead"> & { readonly day: string; readonly dead: number })
  | (OfDomain<"mail.expired"> & { readonly messages: number; readonly retention_days: number })
  | (Operational<"quota.reached"> & {
      readonly percent: 80 | 100
      readonly accepted: number
      readonly limit: number
      readonly day_ends_at: string
    })
  | OfMx<"domain.mx_lost">
  | OfMx<"domain.mx_returned">
  | OfDomain<"domain.verified">
  | OfDomain<"domain.purchased">
  | (Operational<"certificate.expiring"> & {
      readonly host: string
      readonly ends_at: string
      readonly days_left: number
    })

/** The body of a webhook request. `event` tells the kinds apart. */
export type WebhookEvent = InboundEvent | OperationalEvent

/** Rule 1 of the specification, section 6: signed more than 300 s from the receiver's clock. */
export class TimestampOutOfRange extends Error {
  readonly _tag = "TimestampOutOfRange"
  override readonly name = "TimestampOutOfRange"
}

/** Rule 2: not signed with this secret, or the body differs from the signed one. */
export class SignatureMismatch extends Error {
  readonly _tag = "SignatureMismatch"
  override readonly name = "SignatureMismatch"
}

/** Rule 3: the event id in the headers differs from the body's. */
export class EventIdMismatch extends Error {
  readonly _tag = "EventIdMismatch"
  override readonly name = "EventIdMismatch"
}

/** Rule 4: a header is missing, or the signature is not `t=<digits>,v1=<hex>`. */
export class SignatureMalformed extends Error {
  readonly _tag = "SignatureMalformed"
  override readonly name = "SignatureMalformed"
}

/** The reason for rejecting a request. */
export type Rejected = TimestampOutOfRange | SignatureMismatch | EventIdMismatch | SignatureMalformed

/** The headers of a request: Node's record, or the `Headers` of a fetch request. */
export type RequestHeaders =
  | Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  | { readonly get: (name: string) => string | null }

export interface Request {
  readonly headers: RequestHeaders
  /** The raw body. */
  readonly rawBody: Uint8Array | ArrayBuffer | string
  /** `webhook_signing_secret` of the workspace, `whsec_` included. Undefined, as an unset variable, is a TypeError. */
  readonly secret: string | undefined
}

/**
 * Verifies a webhook request and returns its event, or throws one of the `Rejected` errors. Answer such a request
 * with anything but 2xx. During a rotation both the old and the new secret verify. Deduplicate on `event_id`, because
 * Inlet delivers at least once. An operational webhook gets `verifySync<OperationalEvent>`, and a URL for both kinds
 * `verifySync<WebhookEvent>`.
 */
export const verifySync = <Event extends WebhookEvent = InboundEvent>(request: Request): Event => {
  // A receiver without Effect has no other clock. With Effect, `judge` gets the time of its Clock.
  // @effect-diagnostics-next-line globalDate:off
  const judged = judge<Event>(request, Date.now() / 1_000)
  if (judged instanceof Error) throw judged
  return judged
}

const toleratedSeconds = 300

/** The form of a secret. */
const shape = "it begins with whsec_"

/** The event of a request received at this time in seconds, or the reason for rejecting it. */
export const judge = <Event extends WebhookEvent = InboundEvent>(
  { headers, rawBody, secret }: Request,
  now: number
): Event | Rejected => {
  // A wrong configuration of the receiver, not a fault of the request. Programs without types also get here.
  if (typeof secret !== "string" || secret === "") {
    throw new TypeError(`secret: Expected the webhook_signing_secret of the workspace (${shape}), but it is not set`)
  }
  const body = bytesOf(rawBody)
  if (body === undefined) {
    throw new TypeError(
      "rawBody: Expected the bytes of the request as they came, and not what a framework parsed from them. In Express, express.raw({ type: () => true }) keeps them"
    )
  }
  const eventId = header(headers, "x-service-event-id")
  if (eventId === undefined) return missing("x-service-event-id")
  const timestamp = header(headers, "x-service-timestamp")
  if (timestamp === undefined) return missing("x-service-timestamp")
  const signature = header(headers, "x-service-signature")
  if (signature === undefined) return missing("x-service-signature")

  const current = parse(signature)
  const rotated = header(headers, "x-service-signature-previous")
  const previous = rotated === undefined ? current : parse(rotated)
  if (current === undefined || previous === undefined) {
    return new SignatureMalformed("Expected a signature of the form t=<digits>,v1=<hex>")
  }
  if (current.seconds !== timestamp || previous.seconds !== timestamp) {
    return new SignatureMalformed("X-Service-Timestamp is not the t of the signature")
  }

  const away = Math.abs(now - Number(timestamp))
  if (away > toleratedSeconds) {
    return new TimestampOutOfRange(`Signed ${Math.round(away)} s from this clock; ${toleratedSeconds} s are allowed`)
  }

  const expected = createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest()
  const isSigned = [current, previous].some(
    ({ tag }) => tag.length === expected.length && timingSafeEqual(tag, expected)
  )
  if (!isSigned) {
    return new SignatureMismatch(`The signature does not match: ${mismatch(secret)}`)
  }

  const event = decode<Event>(Buffer.from(body).toString("utf8"))
  return event?.event_id === eventId ? event : new EventIdMismatch("X-Service-Event-Id is not the event_id of the body")
}

const bytesOf = (rawBody: Request["rawBody"]): Uint8Array | undefined => {
  if (typeof rawBody === "string") return Buffer.from(rawBody)
  if (ArrayBuffer.isView(rawBody)) return rawBody
  // Unlike `instanceof`, this also knows an ArrayBuffer of another realm, as tests under Jest have.
  return Object.prototype.toString.call(rawBody) === "[object ArrayBuffer]" ? new Uint8Array(rawBody) : undefined
}

const mismatch = (secret: string) => {
  if (secret !== secret.trim()) return "the secret has surrounding white space"
  return secret.startsWith("whsec_")
    ? "wrong secret, or the body was changed or parsed before it was verified"
    : `the secret is not a webhook_signing_secret (${shape})`
}

/** Not decoded further, because a valid signature proves the origin. Fields of later versions pass. */
const decode = <Event extends WebhookEvent>(text: string): Event | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null ? (value as Event) : undefined
  } catch {
    return undefined
  }
}

const header = (headers: RequestHeaders, name: string): string | undefined => {
  const found =
    "get" in headers && typeof headers.get === "function"
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  // The multiValueHeaders of API Gateway have each header in an array.
  const value = typeof found === "object" && found?.length === 1 ? found[0] : found
  return typeof value === "string" && value !== "" ? value : undefined
}

const missing = (name: string) => new SignatureMalformed(`The header ${name} is missing, or there are several`)

const parse = (signature: string) => {
  const [, seconds, tag] = /^t=(\d{1,15}),v1=([\da-f]+)$/.exec(signature) ?? []
  return seconds === undefined || tag === undefined ? undefined : { seconds, tag: Buffer.from(tag, "hex") }
}
