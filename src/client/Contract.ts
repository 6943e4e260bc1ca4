// Made from the contract in src/http/api/Api.ts by npm run docs, and as long as that is; do not edit.

export interface Attachment {
  readonly filename: string | null
  readonly contentType: string
  /** size in decoded bytes */
  readonly size: number
  readonly contentId: string | null
  readonly disposition: string | null
  readonly index: number
}

export interface AttemptsPage {
  readonly deliveryAttempts: ReadonlyArray<DeliveryAttempt>
  /** pass it as `cursor` for the next page, null at the end */
  readonly next_cursor: string | null
}

export interface AttemptsQuery {
  /** page size, 50 by default; 1 to 100 */
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
  readonly event_id?: string | undefined
}

export interface Authentication {
  readonly spf: "pass" | "fail" | "softfail" | "neutral" | "none" | "temperror" | "permerror"
  readonly dkim: "pass" | "fail" | "softfail" | "neutral" | "none" | "temperror" | "permerror"
  readonly dmarc: "pass" | "fail" | "softfail" | "neutral" | "none" | "temperror" | "permerror"
  readonly arc: "pass" | "fail" | "softfail" | "neutral" | "none" | "temperror" | "permerror"
}

export interface BriefEvent {
  /** the same on every attempt and replay */
  readonly event_id: string
  /** time of acceptance: ISO 8601, UTC, milliseconds */
  readonly receivedAt: string
  /** the envelope address. Route by this */
  readonly recipient: string
  /** the part after the first `+` of the recipient's local part, or null */
  readonly tag: string | null
  /** address of the From field, or the envelope sender if that is unusable */
  readonly from: string
  readonly fromName: string | null
  /** the decoded subject, or an empty string */
  readonly subject: string
  /** a person, a list or newsletter, an automatic mail, or a bounce */
  readonly sender: "person" | "list" | "auto" | "bounce" | null
  /** the conversation. Replies to one message in this domain share it */
  readonly threadId: string | null
  readonly authentication: Authentication
  readonly extracted: Extracted | null
  /** number of attachments */
  readonly attachments: number
  /** size of `text` in UTF-8 */
  readonly textBytes: number
  readonly delivery: "pending" | "delivered" | "dead" | "held"
}

export interface ContentQuery {
  /** `visible` for the visible text (default), `reply` for the author's new text, `full` with the plain text beside HTML, `hidden` for hidden words of the HTML */
  readonly part?: "reply" | "visible" | "full" | "hidden" | undefined
  /** format of text made from HTML, markdown by default */
  readonly format?: "markdown" | "text" | undefined
  /** maximum characters of the piece, 20000 by default; 1 to 200000 */
  readonly max_chars?: number | undefined
  /** start of the piece, 0 by default; 0 to 100000000 */
  readonly offset?: number | undefined
}

export interface Delivery {
  readonly status: "pending" | "delivered" | "dead" | "held"
  /** number of attempts so far, replays included */
  readonly attempts: number
  /** set while pending. The attempt may come later if the webhook is paused or busy */
  readonly nextAttemptAt: string | null
  readonly deliveredAt: string | null
  /** why the last attempt failed */
  readonly lastError: string | null
}

export interface DeliveryAttempt {
  readonly id: string
  readonly event_id: string
  /** counted from 1, across replays */
  readonly attempt: number
  readonly url: string
  readonly requestedAt: string
  /** null if the worker stopped before the answer */
  readonly durationMs: number | null
  /** null without an answer */
  readonly statusCode: number | null
  readonly ok: boolean
  readonly error: string | null
  /** the first KiB */
  readonly responseBody: string | null
}

export interface Domain {
  readonly id: string
  readonly domain: string
  /** how it was added */
  readonly origin: "byo" | "purchased" | "instant" | "demo"
  readonly status: "pending_verification" | "mx_pending" | "verified" | "live" | "disabled"
  /** set while disabled */
  readonly disabled_reason: string | null
  /** name of the TXT record that proves ownership */
  readonly txt_name: string | null
  /** value of that TXT record */
  readonly txt_value: string | null
  /** host for the MX record */
  readonly mx_target: string
  /** receives the events. Read keys see only the host */
  readonly webhookUrl: string | null
  /** set while the webhook is paused, because every attempt failed for 5 days. Deliveries stay pending, and Inlet tries one an hour. The first success, a replay or setting the webhook resumes all */
  readonly webhook_paused_at: string | null
  /** mail waits for POST /api/domains/{id}/deliveries/lease. Excludes a webhook */
  readonly pull: boolean
  readonly created_at: string
  readonly verified_at: string | null
  readonly live_at: string | null
}

export interface DomainWebhook {
  readonly id: string
  readonly domain: string
  readonly status: "pending_verification" | "mx_pending" | "verified" | "live" | "disabled"
  readonly webhookUrl: string | null
  readonly pull: boolean
}

export interface EventContent {
  readonly format: "markdown" | "text"
  /** the piece. Links in Markdown are `[words][ref]` */
  readonly content: string
  /** length of the whole part in UTF-16 units */
  readonly length: number
  /** pass it as `offset` for the next piece, null at the end */
  readonly next_offset: number | null
  /** bytes of the piece ÷ 4 */
  readonly tokens_estimate: number
  readonly hidden: {
    /** number of hidden words in the HTML */
    readonly words: number
    /** the first hidden words with part=hidden, else null */
    readonly excerpt: string | null
  }
  /** the links of the piece, by their number in the Markdown */
  readonly links: ReadonlyArray<{
    readonly ref: number
    readonly text: string
    readonly url: string
  }>
}

export interface EventsAnswer {
  readonly events: ReadonlyArray<ListedEvent> | ReadonlyArray<BriefEvent>
  /** pass it as `cursor` for the next page, null at the end */
  readonly next_cursor: string | null
  /** the current position, also without events. Pass it as `after` to get later mail */
  readonly cursor_now: string
}

/** the code and links of the mail. Absent in older events */
export interface Extracted {
  /** the code to type, or null */
  readonly code: ExtractedCode | null
  /** up to five, the best first */
  readonly links: ReadonlyArray<ExtractedLink>
  /** from List-Unsubscribe and List-Unsubscribe-Post */
  readonly unsubscribe: Unsubscribe | null
}

export interface ExtractedCode {
  /** the code as typed: ASCII digits, groups joined */
  readonly value: string
  /** as shown in the mail */
  readonly shown: string
  readonly source: "subject" | "text" | "html"
  /** `low` for several candidates or weak evidence: ask before using it */
  readonly confidence: "high" | "low"
}

export interface ExtractedLink {
  readonly kind: "verify" | "login" | "reset" | "invite" | "other"
  readonly url: string
  /** visible text, empty for a bare address */
  readonly text: string
  readonly host: string
}

export interface Header {
  readonly name: string
  readonly value: string
}

export type InstantInbox = {
  /** inbox@<slug>.inbox.<platform domain>. Every local part works */
  readonly address: string
  readonly domain_id: string
  readonly domain: string
  readonly existing: true
} | {
  /** inbox@<slug>.inbox.<platform domain>. Every local part works */
  readonly address: string
  readonly domain_id: string
  readonly domain: string
  readonly existing: false
}

export interface ListedEvent {
  readonly event: "inbound.email.received"
  /** the same on every attempt and replay */
  readonly event_id: string
  /** the message. Events for other recipients of the domain share it */
  readonly inbound_email_id: string
  /** SHA-256 of domain and message_id. Events of one message for two addresses share it, so deduplicate by event_id, or by this and recipient */
  readonly idempotency_key: string
  /** the unchanged Message-ID field, or null */
  readonly message_id: string | null
  /** the domain that received it */
  readonly domain: string
  /** the envelope address. Route by this */
  readonly recipient: string
  /** address of the From field, or the envelope sender if that is unusable */
  readonly from: string
  /** the decoded subject, or an empty string */
  readonly subject: string
  /** the plain text, or text made from the HTML */
  readonly text: string
  /** the original HTML. Not safe to display */
  readonly html: string | null
  /** metadata. `…/attachments/{index}` returns the bytes */
  readonly attachments: ReadonlyArray<Attachment>
  /** time of acceptance: ISO 8601, UTC, milliseconds */
  readonly receivedAt: string
  /** storage key of the raw message. `…/raw` returns it */
  readonly rawRef: string
  readonly authentication: Authentication
  /** the SMTP envelope */
  readonly envelope: {
    readonly from: string
    readonly helo: string
    readonly remoteAddress: string
  }
  /** all header fields in order, decoded, up to 64 KiB */
  readonly headers: ReadonlyArray<Header>
  readonly to: ReadonlyArray<Mailbox>
  readonly cc: ReadonlyArray<Mailbox>
  readonly replyTo: ReadonlyArray<Mailbox>
  /** the unchanged In-Reply-To field, or null */
  readonly inReplyTo: string | null
  /** the message ids of the References field */
  readonly references: ReadonlyArray<string>
  /** how much of the message Inlet could parse */
  readonly parse: "full" | "partial" | "headers"
  /** the author's display name, or null if missing or if `from` is the envelope sender. Absent in older events */
  readonly fromName?: string | null
  /** the author's new text without quotation and signature, or null if equal to `text` */
  readonly reply?: string | null
  /** a person, a list or newsletter, an automatic mail, or a bounce */
  readonly sender?: "person" | "list" | "auto" | "bounce"
  /** the part after the first `+` of the recipient's local part, or null */
  readonly tag?: string | null
  /** the conversation. Replies to one message in this domain share it */
  readonly threadId?: string
  /** true if the HTML has hidden words. Absent in older events */
  readonly hiddenText?: boolean
  readonly extracted?: Extracted
  readonly delivery: Delivery
}

export interface ListQuery {
  /** page size, 50 by default; 1 to 100 */
  readonly limit?: number | undefined
  /** `next_cursor` of the previous page, with the same `order` and filters */
  readonly cursor?: string | undefined
  /** `desc` for newest first (default), `asc` for oldest first */
  readonly order?: "asc" | "desc" | undefined
  /** an address, compared without case */
  readonly recipient?: string | undefined
  /** an address, compared without case */
  readonly from?: string | undefined
  /** received at this time or later, such as 2026-01-31T12:00:00Z */
  readonly since?: string | undefined
  /** received at this time or earlier, such as 2026-01-31T12:00:00Z */
  readonly until?: string | undefined
  readonly delivery?: "pending" | "delivered" | "dead" | "held" | undefined
  /** with a code, with a link that was extracted, with an attachment */
  readonly has?: "code" | "link" | "attachment" | undefined
  /** the author's domain or a parent domain of it, confirmed by DMARC and so not forged */
  readonly fromDomain?: string | undefined
  /** contained in the subject; case is ignored */
  readonly subject?: string | undefined
  /** behind the first `+` of the recipient's local part; case is ignored */
  readonly tag?: string | undefined
  /** a `threadId` */
  readonly thread?: string | undefined
  /** who sent it, as the event says */
  readonly sender?: "person" | "list" | "auto" | "bounce" | undefined
  /** maximum age by the server's clock, such as 90s, 5m, 2h or 7d */
  readonly newerThan?: string | undefined
  /** `brief` for each event in a few fields, without texts, HTML and headers */
  readonly view?: "full" | "brief" | undefined
  /** only events after this position: a `cursor_now`, an event id, `latest` for events from now on, or `start` for all stored events */
  readonly after?: string | undefined
  /** seconds to hold the answer while nothing matches; only new events end the wait; 0 to 60 */
  readonly wait?: number | undefined
}

export interface Mailbox {
  readonly name: string
  readonly address: string
}

export interface MxRecords {
  readonly domain: string
  readonly records: ReadonlyArray<{
    readonly type: "MX"
    readonly name: string
    readonly priority: number
    readonly value: string
  }>
  readonly observed: ReadonlyArray<{
    readonly priority: number
    readonly value: string
  }>
  readonly configured: boolean
}

export interface Replayed {
  readonly event_id: string
  readonly delivery: Delivery
}

export interface SimulatedMail {
  /** a typical mail for agents, with a new Message-ID each time */
  readonly sample?: "code" | "verify-link" | "reset-link" | "reply" | "newsletter" | "bounce" | "out-of-office" | "hidden-text" | "attachment" | undefined
  /** an address at this domain, inbox@<domain> by default */
  readonly recipient?: string | undefined
  /** the sender in header and envelope, `ada@example.com` or `Ada <ada@example.com>`. Empty for the null sender of a bounce */
  readonly from?: string | undefined
  readonly subject?: string | undefined
  readonly text?: string | undefined
  readonly html?: string | undefined
  /** additional header fields by name */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** the Message-ID of the answered mail */
  readonly inReplyTo?: string | undefined
  readonly attachments?: ReadonlyArray<{
    readonly filename?: string | undefined
    readonly contentType?: string | undefined
    readonly content: string
  }> | undefined
  /** the verdicts about the sender, `none` by default */
  readonly authentication?: {
    readonly spf?: "pass" | "fail" | "softfail" | "neutral" | "none" | "temperror" | "permerror" | undefined
    readonly dkim?: "pass" | "fail" | "softfail" | "neutral" | "none" | "temperror" | "permerror" | undefined
    readonly dmarc?: "pass" | "fail" | "softfail" | "neutral" | "none" | "temperror" | "permerror" | undefined
    readonly arc?: "pass" | "fail" | "softfail" | "neutral" | "none" | "temperror" | "permerror" | undefined
  } | undefined
}

export interface Unsubscribe {
  readonly url: string | null
  readonly mailto: string | null
  /** one POST of `List-Unsubscribe=One-Click` to the URL unsubscribes (RFC 8058) */
  readonly oneClick: boolean
}
