import { Schema } from "effect"

export const DomainId = Schema.String.check(Schema.isUUID()).pipe(Schema.brand("DomainId"))
export type DomainId = typeof DomainId.Type

/** A domain name in its one canonical form: lower case, A-labels, no trailing dot. */
export const DomainName = Schema.String.pipe(Schema.brand("DomainName"))
export type DomainName = typeof DomainName.Type

/** How a domain was attached. */
export const Origin = Schema.Literals(["byo", "purchased", "instant", "demo"])
export type Origin = typeof Origin.Type

/** Spec, section 3. */
export const DomainStatus = Schema.Literals(["pending_verification", "mx_pending", "verified", "live", "disabled"])
export type DomainStatus = typeof DomainStatus.Type

/** The domain record of the API. Unset values are null. */
export class Domain extends Schema.Class<Domain>("Domain")({
  id: DomainId,
  domain: DomainName,
  origin: Origin.annotate({ description: "how it was attached" }),
  status: DomainStatus,
  disabled_reason: Schema.NullOr(Schema.String).annotate({ description: "set while it is disabled" }),
  txt_name: Schema.NullOr(Schema.String).annotate({ description: "where the TXT record goes that proves ownership" }),
  txt_value: Schema.NullOr(Schema.String).annotate({ description: "what it says" }),
  mx_target: Schema.String.annotate({ description: "the host that the MX record points at" }),
  webhookUrl: Schema.NullOr(Schema.String).annotate({
    description: "where its events are sent; a read key is shown the host alone"
  }),
  webhook_paused_at: Schema.NullOr(Schema.DateTimeUtcFromString).annotate({
    description:
      "set while the webhook is paused: it has only failed for 5 days. Its deliveries stay pending and use no attempts, one is tried every hour; the first success, a replay or setting the webhook resumes all of them"
  }),
  pull: Schema.Boolean.annotate({
    description: "its mail waits to be asked for, by POST /api/domains/{id}/deliveries/lease; never beside a webhook"
  }),
  created_at: Schema.DateTimeUtcFromString,
  verified_at: Schema.NullOr(Schema.DateTimeUtcFromString),
  live_at: Schema.NullOr(Schema.DateTimeUtcFromString)
}) {}
