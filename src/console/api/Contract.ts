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

export interface CompletedOrder {
  readonly order_id: string
  readonly domain: string
  readonly years: number
  readonly registrar: string
  readonly price_cents: number
  readonly currency: "USD"
  readonly domain_id: string | null
  readonly checkout_url: string | null
  readonly failure: string | null
  readonly next_steps: ReadonlyArray<string>
  readonly created_at: string
  readonly status: "completed"
}

export interface ConsoleSession {
  readonly id: string
  /** the scope of the key that opened the session */
  readonly scope: "full" | "read"
  /** the User-Agent at sign-in, up to 200 characters */
  readonly browser: string | null
  readonly created_at: string
  readonly last_used_at: string
  /** true for the session of this request */
  readonly current: boolean
}

export interface DayStatistics {
  /** a UTC day, such as 2026-01-31 */
  readonly day: string
  /** events of mail received that day */
  readonly accepted: number
  /** bytes of that mail */
  readonly bytes: number
  /** attempts of that day with a 2xx */
  readonly delivered: number
  /** attempts of that day without one */
  readonly failed: number
  /** deliveries that became dead letters that day */
  readonly dead: number
  /** median time from receipt to 2xx, to a fifth */
  readonly p50_ms: number | null
  readonly p99_ms: number | null
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

export interface DnsState {
  readonly domain: string
  readonly records: ReadonlyArray<{
    readonly type: "TXT" | "MX"
    readonly name: string
    readonly value: string
    readonly priority: number | null
    /** the values that DNS has now, MX with priority */
    readonly observed: ReadonlyArray<string>
    /** true if DNS has the value */
    readonly configured: boolean
    /** why DNS did not answer, or null */
    readonly problem: string | null
  }>
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

export interface LeasedDelivery {
  readonly event_id: string
  /** number of this attempt. Report it with the outcome */
  readonly attempt: number
  /** the headers of the webhook request, signed for this body at the time of the answer */
  readonly headers: Readonly<Record<string, string>>
  /** the request body in UTF-8. Send it unchanged */
  readonly body: string
  readonly leased_until: string
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

export interface ListedWorkspace {
  readonly workspace_id: string
  readonly name: string
  readonly created_at: string
  readonly domains: number
  readonly emails_today: number
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

export interface OpenOrder {
  readonly order_id: string
  readonly domain: string
  readonly years: number
  readonly registrar: string
  readonly price_cents: number
  readonly currency: "USD"
  readonly domain_id: string | null
  readonly checkout_url: string | null
  readonly failure: string | null
  readonly next_steps: ReadonlyArray<string>
  readonly created_at: string
  readonly status: "pending_payment" | "paid" | "registering" | "provisioning"
}

export interface Order {
  readonly order_id: string
  readonly domain: string
  readonly years: number
  readonly registrar: string
  readonly price_cents: number
  readonly currency: "USD"
  readonly domain_id: string | null
  readonly checkout_url: string | null
  readonly failure: string | null
  readonly next_steps: ReadonlyArray<string>
  readonly created_at: string
  readonly status: "pending_payment" | "paid" | "registering" | "provisioning" | "completed" | "expired" | "failed" | "refunded"
}

export interface SearchResult {
  readonly domain: string
  readonly available: boolean
  readonly price_cents: number | null
  readonly price: string | null
  readonly currency: "USD"
  readonly registrar: string | null
  readonly years: 1
}

export interface ServiceStatus {
  readonly version: string
  readonly node: string
  readonly mode: string
  readonly roles: ReadonlyArray<string>
  readonly uptime_seconds: number
  readonly memory_bytes: number
  readonly database: {
    readonly kind: "embedded" | "server"
    readonly version: string
    readonly bytes: number
  }
  readonly disks: ReadonlyArray<{
    /** the setting that names the folder */
    readonly folder: string
    readonly free_bytes: number
    readonly total_bytes: number
  }>
  readonly queues: {
    /** stored mail without an event yet, counted up to 10000 */
    readonly unread: number
    readonly pending: number
    readonly dead: number
    readonly held: number
  }
  /** up to 100 */
  readonly failing_webhooks: ReadonlyArray<{
    readonly workspace_id: string
    readonly workspace: string
    readonly domain_id: string
    readonly domain: string
    readonly host: string
    readonly failing_since: string
    readonly paused_at: string | null
  }>
  /** the settings that are set, in the order of the documentation */
  readonly settings: ReadonlyArray<{
    readonly name: string
    /** null for a secret */
    readonly value: string | null
    readonly fallback: string
  }>
}

export interface Settled {
  readonly event_id: string
  readonly attempt: number
  readonly status: 200 | 409
  /** the delivery after this outcome, or null with 409 */
  readonly delivery: Delivery | null
  /** with 409, why Inlet ignored this outcome */
  readonly error: string | null
}

export interface SignedRequest {
  /** the headers of the webhook request, signed for this body at the time of the answer */
  readonly headers: Readonly<Record<string, string>>
  /** the request body in UTF-8. Send it unchanged */
  readonly body: string
}

export interface Unsubscribe {
  readonly url: string | null
  readonly mailto: string | null
  /** one POST of `List-Unsubscribe=One-Click` to the URL unsubscribes (RFC 8058) */
  readonly oneClick: boolean
}

export interface WebhookHealth {
  /** requests of the last 24 hours, up to the last 1000 */
  readonly attempts: number
  /** those of them without a 2xx */
  readonly failed: number
  /** median duration of the requests with 2xx */
  readonly p50_ms: number | null
  readonly p99_ms: number | null
  readonly last_success_at: string | null
  readonly last_failure_at: string | null
  readonly last_error: string | null
  /** since when every attempt fails, or null */
  readonly failing_since: string | null
  readonly paused_at: string | null
  /** when a paused webhook is tried next */
  readonly next_probe_at: string | null
  /** deliveries that wait, counted up to 10000 */
  readonly pending: number
  /** dead letters, counted up to 10000 */
  readonly dead: number
  /** held deliveries, counted up to 10000 */
  readonly held: number
}

export interface WebhookTestResult {
  /** true if the webhook answered 2xx */
  readonly ok: boolean
  /** of the test event, which is stored nowhere */
  readonly event_id: string
  /** null without an answer */
  readonly statusCode: number | null
  readonly durationMs: number
  /** what is wrong, and what to do about it */
  readonly error: string | null
  /** the first KiB */
  readonly responseBody: string | null
  /** the request that was sent */
  readonly request: {
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }
}

export interface WorkspaceKey {
  readonly id: string
  readonly scope: "read"
  readonly name: string | null
  /** the first characters of the key */
  readonly begins: string
  readonly created_at: string
  /** to the hour, or null before the first use */
  readonly last_used_at: string | null
}

/** The answer of each route. */
export interface Answers {
  readonly "POST /api/workspaces": {
    readonly workspace_id: string
    /** begins with ak_live_, shown only once */
    readonly api_key: string
    /** begins with whsec_; signs every webhook of the workspace, shown only once */
    readonly webhook_signing_secret: string
  }
  readonly "GET /api/workspace": {
    readonly workspace_id: string
    readonly name: string
    readonly created_at: string
    /** the scope of the key: everything, or reading mail */
    readonly key_scope: "full" | "read"
    readonly limits: {
      /** own domains, the instant inbox not counted, or null for no limit */
      readonly domains: number | null
      /** messages accepted in a UTC day; the next is refused for the day with 452, or null for no limit */
      readonly emails_per_day: number | null
      /** maximum size of a message */
      readonly message_bytes: number
      /** days that messages, events and attempts are kept, or null for no limit */
      readonly retention_days: number | null
      /** open at the same time, or null for no limit */
      readonly waits_and_streams: number | null
      /** other requests under way at the same time, or null for no limit */
      readonly requests_at_once: number | null
      /** requests in a second over time; a burst may be larger, or null for no limit */
      readonly requests_per_second: number | null
    }
    readonly used: {
      /** domains, open purchases included */
      readonly domains: number
      readonly emails_today: number
    }
    readonly day_ends_at: string
  }
  readonly "POST /api/workspaces/rotate-key": {
    /** the new key, shown only once */
    readonly api_key: string
  }
  readonly "POST /api/workspaces/keys": {
    readonly id: string
    readonly scope: "read"
    readonly name: string | null
    /** the first characters of the key */
    readonly begins: string
    readonly created_at: string
    /** to the hour, or null before the first use */
    readonly last_used_at: string | null
    /** the key, which begins with ak_read_, shown only once */
    readonly api_key: string
  }
  readonly "GET /api/workspaces/keys": {
    readonly keys: ReadonlyArray<WorkspaceKey>
  }
  readonly "DELETE /api/workspaces/keys/{keyId}": undefined
  readonly "POST /api/workspaces/rotate-secret": {
    /** the new secret, shown only once */
    readonly webhook_signing_secret: string
  }
  readonly "POST /api/instant-inbox": {
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
  readonly "POST /api/domains": Domain
  readonly "GET /api/domains": {
    readonly domains: ReadonlyArray<Domain>
  }
  readonly "GET /api/domains/{id}": Domain
  readonly "DELETE /api/domains/{id}": undefined
  readonly "POST /api/domains/{id}/verify": Domain
  readonly "GET /api/domains/{id}/mx": MxRecords
  readonly "GET /api/domains/{id}/dns": DnsState
  readonly "GET /api/domains/{id}/stats": {
    readonly days: ReadonlyArray<DayStatistics>
  }
  readonly "GET /api/domains/{id}/webhook/health": WebhookHealth
  readonly "POST /api/domains/{id}/webhook/test": WebhookTestResult
  readonly "PATCH /api/domains/{id}/delivery": {
    readonly id: string
    readonly domain: string
    readonly status: "pending_verification" | "mx_pending" | "verified" | "live" | "disabled"
    readonly webhookUrl: string | null
    readonly pull: boolean
  }
  readonly "GET /api/domains/{id}/events": {
    readonly events: ReadonlyArray<ListedEvent> | ReadonlyArray<BriefEvent>
    /** pass it as `cursor` for the next page, null at the end */
    readonly next_cursor: string | null
    /** the current position, also without events. Pass it as `after` to get later mail */
    readonly cursor_now: string
  }
  readonly "GET /api/domains/{id}/events/stream": undefined
  readonly "GET /api/domains/{id}/events/{eventId}": ListedEvent
  readonly "GET /api/domains/{id}/events/{eventId}/raw": undefined
  readonly "GET /api/domains/{id}/events/{eventId}/content": EventContent
  readonly "GET /api/domains/{id}/events/{eventId}/attachments/{index}": undefined
  readonly "GET /api/domains/{id}/events/{eventId}/html": undefined
  readonly "GET /api/domains/{id}/events/{eventId}/signed": SignedRequest
  readonly "POST /api/domains/{id}/events/{eventId}/replay": {
    readonly event_id: string
    readonly delivery: Delivery
  }
  readonly "GET /api/domains/{id}/delivery-attempts": {
    readonly deliveryAttempts: ReadonlyArray<DeliveryAttempt>
    /** pass it as `cursor` for the next page, null at the end */
    readonly next_cursor: string | null
  }
  readonly "POST /api/domains/{id}/deliveries/lease": {
    readonly deliveries: ReadonlyArray<LeasedDelivery>
  }
  readonly "POST /api/domains/{id}/deliveries/settle": {
    readonly outcomes: ReadonlyArray<Settled>
  }
  readonly "POST /api/domains/{id}/simulate": {
    readonly inbound_email_id: string
    readonly events: ReadonlyArray<BriefEvent>
  } | {
    readonly inbound_email_id: string
  }
  readonly "GET /api/domains/search": {
    readonly results: ReadonlyArray<SearchResult>
  }
  readonly "POST /api/domains/purchase": CompletedOrder | OpenOrder
  readonly "GET /api/domains/orders": {
    readonly orders: ReadonlyArray<Order>
    /** pass it as `cursor` for the next page, null at the end */
    readonly next_cursor: string | null
  }
  readonly "GET /api/domains/orders/{orderId}": Order
  readonly "GET /api/domains/wallet": {
    readonly balance_cents: number
    readonly balance: string
    readonly currency: "USD"
    readonly entries: ReadonlyArray<{
      readonly order_id: string | null
      readonly amount_cents: number
      readonly kind: "opening" | "debit" | "refund"
      readonly created_at: string
    }>
  }
  readonly "GET /api/console/sessions": {
    readonly sessions: ReadonlyArray<ConsoleSession>
  }
  readonly "DELETE /api/console/sessions/{sessionId}": undefined
  readonly "POST /api/console/links": {
    /** opens the console once, within a minute */
    readonly url: string
    readonly expires_at: string
  }
  readonly "GET /api/console/state": {
    /** the workspace of the cookie `inlet_console`, or null */
    readonly workspace: {
      readonly workspace_id: string
      readonly name: string
      readonly scope: "full" | "read"
    } | null
    /** true with the cookie `inlet_operator` */
    readonly operator: boolean
    readonly workspace_creation: "open" | "admin"
    readonly production: boolean
    readonly public_url: string
    /** host and port for mail from this machine. Null if senders find it by MX */
    readonly smtp: string | null
    readonly version: string
  }
  readonly "POST /api/console/session": {
    readonly operator: boolean
  }
  readonly "DELETE /api/console/session": undefined
  readonly "GET /admin/domains": {
    readonly domains: ReadonlyArray<Domain>
  }
  readonly "POST /admin/domains/{domain}/disable": {
    readonly domains: ReadonlyArray<Domain>
  }
  readonly "POST /admin/domains/{domain}/enable": {
    readonly domains: ReadonlyArray<Domain>
  }
  readonly "DELETE /admin/domains/{domain}": {
    readonly domains: ReadonlyArray<Domain>
  }
  readonly "GET /admin/workspaces": {
    readonly workspaces: ReadonlyArray<ListedWorkspace>
    /** pass it as `cursor` for the next page, null at the end */
    readonly next_cursor: string | null
  }
  readonly "DELETE /admin/workspaces/{workspaceId}": undefined
  readonly "GET /admin/status": ServiceStatus
}
