// Made from the contract in src/http/api/Api.ts by npm run docs, and as long as that is; do not edit.

export interface Attachment {
  readonly filename: string | null
  readonly contentType: string
  /** decoded bytes */
  readonly size: number
  readonly contentId: string | null
  readonly disposition: string | null
  readonly index: number
}

export interface AttemptsPage {
  readonly deliveryAttempts: ReadonlyArray<DeliveryAttempt>
  /** give it back as `cursor` for the next page; null at the end */
  readonly next_cursor: string | null
}

export interface AttemptsQuery {
  /** how many on a page, 50 when absent; 1 to 100 */
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
  /** when it was accepted: ISO 8601, UTC, milliseconds */
  readonly receivedAt: string
  /** the address in the envelope: route on this */
  readonly recipient: string
  /** behind the first `+` of the recipient's local part, or null */
  readonly tag: string | null
  /** address of the From field, or the envelope sender where that is unusable */
  readonly from: string
  readonly fromName: string | null
  /** empty when absent */
  readonly subject: string
  /** a person, a list or newsletter, a program that answers or tells something, a failed delivery */
  readonly sender: "person" | "list" | "auto" | "bounce" | null
  /** the conversation: replies to one message share it, in this domain */
  readonly threadId: string | null
  readonly authentication: Authentication
  readonly extracted: Extracted | null
  /** how many */
  readonly attachments: number
  /** of `text` as UTF-8 */
  readonly textBytes: number
  readonly delivery: "pending" | "delivered" | "dead" | "held"
}

export interface ContentQuery {
  /** `reply`, what the person wrote; `visible`, what a person sees, the default; `full`, the plain text too where there is HTML; `hidden`, the words of the HTML that a person does not see */
  readonly part?: "reply" | "visible" | "full" | "hidden" | undefined
  /** of what is seen of HTML, markdown when absent */
  readonly format?: "markdown" | "text" | undefined
  /** of the piece, 20000 when absent; 1 to 200000 */
  readonly max_chars?: number | undefined
  /** where the piece begins, 0 when absent; 0 to 100000000 */
  readonly offset?: number | undefined
}

export interface Delivery {
  readonly status: "pending" | "delivered" | "dead" | "held"
  /** requests made so far, replays included */
  readonly attempts: number
  /** set while it is pending; later than this while the webhook is paused or busy */
  readonly nextAttemptAt: string | null
  readonly deliveredAt: string | null
  /** why the last attempt failed */
  readonly lastError: string | null
}

export interface DeliveryAttempt {
  readonly id: string
  readonly event_id: string
  /** counted from 1, on over replays */
  readonly attempt: number
  readonly url: string
  readonly requestedAt: string
  /** null where a worker stopped before it knew the answer */
  readonly durationMs: number | null
  /** null when there was no answer */
  readonly statusCode: number | null
  readonly ok: boolean
  readonly error: string | null
  /** its first KiB */
  readonly responseBody: string | null
}

export interface Domain {
  readonly id: string
  readonly domain: string
  /** how it was attached */
  readonly origin: "byo" | "purchased" | "instant" | "demo"
  readonly status: "pending_verification" | "mx_pending" | "verified" | "live" | "disabled"
  /** set while it is disabled */
  readonly disabled_reason: string | null
  /** where the TXT record goes that proves ownership */
  readonly txt_name: string | null
  /** what it says */
  readonly txt_value: string | null
  /** the host that the MX record points at */
  readonly mx_target: string
  /** where its events are sent; a read key is shown the host alone */
  readonly webhookUrl: string | null
  /** set while the webhook is paused: it has only failed for 5 days. Its deliveries stay pending and use no attempts, one is tried every hour; the first success, a replay or setting the webhook resumes all of them */
  readonly webhook_paused_at: string | null
  /** its mail waits to be asked for, by POST /api/domains/{id}/deliveries/lease; never beside a webhook */
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
  /** the piece; links in Markdown are `[words][ref]` */
  readonly content: string
  /** of the whole part, in UTF-16 units */
  readonly length: number
  /** give it back as `offset`; null at the end */
  readonly next_offset: number | null
  /** bytes of the piece divided by four */
  readonly tokens_estimate: number
  readonly hidden: {
    /** how many words of the HTML a person does not see */
    readonly words: number
    /** their beginning, with part=hidden; else null */
    readonly excerpt: string | null
  }
  /** the links of the piece, by the number they have in the Markdown */
  readonly links: ReadonlyArray<{
    readonly ref: number
    readonly text: string
    readonly url: string
  }>
}

export interface EventsAnswer {
  readonly events: ReadonlyArray<ListedEvent> | ReadonlyArray<BriefEvent>
  /** give it back as `cursor` for the next page; null at the end */
  readonly next_cursor: string | null
  /** the mark of now, also when there is no event: give it back as `after` for what comes later */
  readonly cursor_now: string
}

/** the code and the links that the mail was sent for; absent in events of versions before */
export interface Extracted {
  /** the one code to type, or null */
  readonly code: ExtractedCode | null
  /** at most five, the best first */
  readonly links: ReadonlyArray<ExtractedLink>
  /** from List-Unsubscribe and List-Unsubscribe-Post */
  readonly unsubscribe: Unsubscribe | null
}

export interface ExtractedCode {
  /** what one types: digits in ASCII, their groups joined */
  readonly value: string
  /** as it stands in the mail */
  readonly shown: string
  readonly source: "subject" | "text" | "html"
  /** `low` where several could be meant or little speaks for it: ask before it is used */
  readonly confidence: "high" | "low"
}

export interface ExtractedLink {
  readonly kind: "verify" | "login" | "reset" | "invite" | "other"
  readonly url: string
  /** what a person reads on it; empty where it is an address alone */
  readonly text: string
  readonly host: string
}

export interface Header {
  readonly name: string
  readonly value: string
}

export type InstantInbox = {
  /** inbox@<slug>.inbox.<platform domain>; every local part works */
  readonly address: string
  readonly domain_id: string
  readonly domain: string
  readonly existing: true
} | {
  /** inbox@<slug>.inbox.<platform domain>; every local part works */
  readonly address: string
  readonly domain_id: string
  readonly domain: string
  readonly existing: false
}

export interface ListedEvent {
  readonly event: "inbound.email.received"
  /** the same on every attempt and replay */
  readonly event_id: string
  /** the message; its events for other recipients of the domain share it */
  readonly inbound_email_id: string
  /** SHA-256 of domain and message_id: the events of one message to two addresses share it, so deduplicate on event_id, or on this together with recipient */
  readonly idempotency_key: string
  /** the Message-ID field as it stands, or null */
  readonly message_id: string | null
  /** the domain that received it */
  readonly domain: string
  /** the address in the envelope: route on this */
  readonly recipient: string
  /** address of the From field, or the envelope sender where that is unusable */
  readonly from: string
  /** empty when absent */
  readonly subject: string
  /** the plain text; made from the HTML where there is none */
  readonly text: string
  /** as it was sent: not safe to show as it is */
  readonly html: string | null
  /** metadata; the bytes are at `…/attachments/{index}` */
  readonly attachments: ReadonlyArray<Attachment>
  /** when it was accepted: ISO 8601, UTC, milliseconds */
  readonly receivedAt: string
  /** where the raw message is kept; `…/raw` gives it */
  readonly rawRef: string
  readonly authentication: Authentication
  /** what the sending server said */
  readonly envelope: {
    readonly from: string
    readonly helo: string
    readonly remoteAddress: string
  }
  /** every header field in order, decoded, at most 64 KiB */
  readonly headers: ReadonlyArray<Header>
  readonly to: ReadonlyArray<Mailbox>
  readonly cc: ReadonlyArray<Mailbox>
  readonly replyTo: ReadonlyArray<Mailbox>
  /** the In-Reply-To field as it stands, or null */
  readonly inReplyTo: string | null
  /** the message ids of the References field */
  readonly references: ReadonlyArray<string>
  /** how much of the message could be read */
  readonly parse: "full" | "partial" | "headers"
  /** the author's display name, as the sender wrote it; null when there is none, or when `from` is the envelope sender. Absent in mail from before this field */
  readonly fromName?: string | null
  /** what the person wrote, without what they answer and their signature; null where that is `text` */
  readonly reply?: string | null
  /** a person, a list or newsletter, a program that answers or tells something, a failed delivery */
  readonly sender?: "person" | "list" | "auto" | "bounce"
  /** behind the first `+` of the recipient's local part, or null */
  readonly tag?: string | null
  /** the conversation: replies to one message share it, in this domain */
  readonly threadId?: string
  /** the HTML has words that a person does not see; absent in events of versions before */
  readonly hiddenText?: boolean
  readonly extracted?: Extracted
  readonly delivery: Delivery
}

export interface ListQuery {
  /** how many on a page, 50 when absent; 1 to 100 */
  readonly limit?: number | undefined
  /** `next_cursor` of the page before, with the same `order` and filters */
  readonly cursor?: string | undefined
  /** `desc` for newest first, which is the default, `asc` for oldest first: for catching up */
  readonly order?: "asc" | "desc" | undefined
  /** case is ignored */
  readonly recipient?: string | undefined
  /** case is ignored */
  readonly from?: string | undefined
  /** received at this time or later, such as 2026-01-31T12:00:00Z */
  readonly since?: string | undefined
  /** received at this time or earlier, such as 2026-01-31T12:00:00Z */
  readonly until?: string | undefined
  readonly delivery?: "pending" | "delivered" | "dead" | "held" | undefined
  /** with a code, with a link that was extracted, with an attachment */
  readonly has?: "code" | "link" | "attachment" | undefined
  /** written at this domain or under it, which DMARC confirms: it can't be forged */
  readonly fromDomain?: string | undefined
  /** contained in the subject; case is ignored */
  readonly subject?: string | undefined
  /** behind the first `+` of the recipient's local part; case is ignored */
  readonly tag?: string | undefined
  /** a `threadId` */
  readonly thread?: string | undefined
  /** who sent it, as the event says */
  readonly sender?: "person" | "list" | "auto" | "bounce" | undefined
  /** received at most so long ago, by the server's clock, such as 90s, 5m, 2h or 7d */
  readonly newerThan?: string | undefined
  /** `brief` for each event in a few fields, without texts, HTML and headers */
  readonly view?: "full" | "brief" | undefined
  /** only events newer than this place: a `cursor_now`, the id of an event, `latest` for those that come from now on, or `start` for all that are kept */
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
  /** a mail that agents meet, with a fresh Message-ID each time */
  readonly sample?: "code" | "verify-link" | "reset-link" | "reply" | "newsletter" | "bounce" | "out-of-office" | "hidden-text" | "attachment" | undefined
  /** an address at this domain; inbox@<domain> when absent */
  readonly recipient?: string | undefined
  /** the sender, `ada@example.com` or `Ada <ada@example.com>`, in the envelope too; empty for the null sender of a bounce */
  readonly from?: string | undefined
  readonly subject?: string | undefined
  readonly text?: string | undefined
  readonly html?: string | undefined
  /** further header fields by name */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** the Message-ID that it answers */
  readonly inReplyTo?: string | undefined
  readonly attachments?: ReadonlyArray<{
    readonly filename?: string | undefined
    readonly contentType?: string | undefined
    readonly content: string
  }> | undefined
  /** the verdicts about the sender; `none` where they are not given */
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
  /** one POST of `List-Unsubscribe=One-Click` to the URL is enough (RFC 8058) */
  readonly oneClick: boolean
}
