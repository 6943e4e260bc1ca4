import { Schema } from "effect"
import { DomainId, DomainName } from "./Domain.ts"
import { WebhookId } from "./Webhook.ts"
import { WorkspaceId } from "./Workspace.ts"

export const OperationalEventId = Schema.String.check(Schema.isUUID()).pipe(Schema.brand("OperationalEventId"))
export type OperationalEventId = typeof OperationalEventId.Type

const time = Schema.DateTimeUtcFromString

/** Waiting deliveries that an event counts, at most. */
export const mostWaiting = 1_000

const base = {
  event: Schema.Literal("operational").annotate({ description: "tells it apart from the event of a mail" }),
  event_id: OperationalEventId.annotate({ description: "the same on every attempt. Deduplicate by it" }),
  workspace_id: Schema.NullOr(WorkspaceId).annotate({ description: "null in events for the operator alone" }),
  occurred_at: time,
  message: Schema.String.annotate({ description: "what happened and what to do, for people" })
}

const ofDomain = { ...base, domain_id: DomainId, domain: DomainName }

const waiting = Schema.Int.annotate({ description: `deliveries that wait, counted up to ${mostWaiting}` })

/** Absent in events of versions with one webhook for a domain. */
const ofWebhook = {
  ...ofDomain,
  webhook_id: Schema.optionalKey(WebhookId.annotate({ description: "of the catch-all: the id of the domain" })),
  pattern: Schema.optionalKey(
    Schema.String.annotate({ description: "the addresses that it takes. `*` is the catch-all" })
  )
}

const WebhookPaused = Schema.Struct({
  type: Schema.Literal("webhook.paused"),
  ...ofWebhook,
  failing_since: time.annotate({ description: "since when every attempt fails" }),
  last_error: Schema.NullOr(Schema.String),
  waiting
}).annotate({ identifier: "WebhookPaused" })

const WebhookResumed = Schema.Struct({
  type: Schema.Literal("webhook.resumed"),
  ...ofWebhook,
  paused_at: time,
  waiting
}).annotate({ identifier: "WebhookResumed" })

const DeliveryDead = Schema.Struct({
  type: Schema.Literal("delivery.dead"),
  ...ofDomain,
  day: Schema.String.annotate({ description: "the UTC day, such as 2026-01-31" }),
  dead: Schema.Int.annotate({ description: "deliveries of the domain that became dead on that day so far" })
}).annotate({ identifier: "DeliveryDead" })

const MailExpired = Schema.Struct({
  type: Schema.Literal("mail.expired"),
  ...ofDomain,
  messages: Schema.Int.annotate({
    description:
      "messages of the domain that were removed pending, dead or unparsed, in the first removal of the day, counted up to 100"
  }),
  retention_days: Schema.Int.annotate({ description: "days after which mail is removed" })
}).annotate({ identifier: "MailExpired" })

const QuotaReached = Schema.Struct({
  type: Schema.Literal("quota.reached"),
  ...base,
  percent: Schema.Literals([80, 100]),
  accepted: Schema.Int.annotate({ description: "messages accepted on this UTC day so far" }),
  limit: Schema.Int.annotate({ description: "messages of a UTC day" }),
  day_ends_at: time.annotate({ description: "midnight UTC, when the count restarts" })
}).annotate({ identifier: "QuotaReached" })

const mx = {
  expected: Schema.String.annotate({ description: "the host that the MX record must name" }),
  observed: Schema.Array(Schema.String).annotate({ description: "the hosts that it names, up to 10" })
}

const MxLost = Schema.Struct({ type: Schema.Literal("domain.mx_lost"), ...ofDomain, ...mx }).annotate({
  identifier: "DomainMxLost"
})

const MxReturned = Schema.Struct({ type: Schema.Literal("domain.mx_returned"), ...ofDomain, ...mx }).annotate({
  identifier: "DomainMxReturned"
})

const Verified = Schema.Struct({ type: Schema.Literal("domain.verified"), ...ofDomain }).annotate({
  identifier: "DomainVerified"
})

const Purchased = Schema.Struct({ type: Schema.Literal("domain.purchased"), ...ofDomain }).annotate({
  identifier: "DomainPurchased"
})

const CertificateExpiring = Schema.Struct({
  type: Schema.Literal("certificate.expiring"),
  ...base,
  host: Schema.String.annotate({ description: "MX_HOST of the service" }),
  ends_at: time.annotate({ description: "the end of the certificate" }),
  days_left: Schema.Int.annotate({ description: "whole days, negative after the end" })
}).annotate({ identifier: "CertificateExpiring" })

/** News about the service itself: the payload of the operational webhook and of the API. `type` tells the kind. */
export const OperationalEvent = Schema.Union([
  WebhookPaused,
  WebhookResumed,
  DeliveryDead,
  MailExpired,
  QuotaReached,
  MxLost,
  MxReturned,
  Verified,
  Purchased,
  CertificateExpiring
]).annotate({ identifier: "OperationalEvent" })
export type OperationalEvent = typeof OperationalEvent.Type

export const OperationalEventType = Schema.Literals(OperationalEvent.members.map(({ fields }) => fields.type.literal))
export type OperationalEventType = OperationalEvent["type"]

/** What became of the request of an operational event. */
export const OperationalDelivery = Schema.Struct({
  status: Schema.Literals(["pending", "delivered", "dead"]).annotate({
    description: "`dead` after the last attempt, or if the webhook was removed first"
  }),
  attempts: Schema.Int,
  next_attempt_at: Schema.NullOr(time),
  delivered_at: Schema.NullOr(time),
  last_error: Schema.NullOr(Schema.String)
}).annotate({ identifier: "OperationalDelivery" })
export type OperationalDelivery = typeof OperationalDelivery.Type

/** An operational event as the ledger lists it. */
export const LedgerEntry = Schema.Struct({
  event: OperationalEvent,
  delivery: Schema.NullOr(OperationalDelivery).annotate({
    description: "null if no operational webhook was set at the time"
  })
}).annotate({ identifier: "LedgerEntry" })
export type LedgerEntry = typeof LedgerEntry.Type
