import { Schema } from "effect"
import { NotFound } from "./ApiError.ts"
import { SpamAction } from "./Spam.ts"

export const DomainId = Schema.String.check(Schema.isUUID()).pipe(Schema.brand("DomainId"))
export type DomainId = typeof DomainId.Type

/** The workspace has no such domain. */
export const noSuchDomain = new NotFound({
  message: "No domain with this id in this workspace. GET /api/domains lists them"
})

/** A domain name in canonical form: lower case, A-labels, no trailing dot. */
export const DomainName = Schema.String.pipe(Schema.brand("DomainName"))
export type DomainName = typeof DomainName.Type

/** How a domain was attached. */
export const Origin = Schema.Literals(["byo", "purchased", "instant", "demo"])
export type Origin = typeof Origin.Type

/** The state of a domain (spec, section 3). */
export const DomainStatus = Schema.Literals(["pending_verification", "mx_pending", "verified", "live", "disabled"])
export type DomainStatus = typeof DomainStatus.Type

/** The states in which SMTP accepts the mail of a domain, and in which it may have webhooks. */
export const takingMail: ReadonlyArray<DomainStatus> = ["mx_pending", "verified", "live"]

/** The domain record of the API. Unset values are null. */
export class Domain extends Schema.Class<Domain>("Domain")({
  id: DomainId,
  domain: DomainName,
  origin: Origin.annotate({ description: "how it was added" }),
  status: DomainStatus.annotate({
    description:
      "`pending_verification`: the TXT record is not verified yet. `mx_pending`: it is, and the MX record or the first mail is missing. `verified`: mail can arrive. `live`: a webhook took mail. `disabled`: it takes no mail"
  }),
  disabled_reason: Schema.NullOr(Schema.String).annotate({ description: "set while disabled" }),
  txt_name: Schema.NullOr(Schema.String).annotate({ description: "name of the TXT record that proves ownership" }),
  txt_value: Schema.NullOr(Schema.String).annotate({ description: "value of that TXT record" }),
  mx_target: Schema.String.annotate({ description: "host for the MX record" }),
  webhookUrl: Schema.NullOr(Schema.String).annotate({
    description: "receives the events. Read keys see only the host"
  }),
  webhookFormat: Schema.String.annotate({ description: "how the request looks. `inlet` is the signed event" }),
  webhookBasicAuth: Schema.Boolean.annotate({ description: "true if requests have a user name and a password" }),
  webhook_paused_at: Schema.NullOr(Schema.DateTimeUtcFromString).annotate({
    description:
      'set while the webhook is paused, because every attempt failed for 5 days. Deliveries stay pending, and Inlet tries one an hour. The first success, a replay or `PATCH /api/domains/{id}/webhooks/{webhookId} {"action": "webhook"}` resumes all'
  }),
  pull: Schema.Boolean.annotate({
    description: "mail waits for POST /api/domains/{id}/deliveries/lease. Excludes a webhook"
  }),
  catch_all: Schema.Literals(["webhook", "pull", "hold", "reject"]).annotate({
    description:
      "what becomes of mail that no other webhook of the domain takes. `webhookUrl`, `webhook_paused_at` and `pull` are about this one"
  }),
  spam: SpamAction.annotate({
    description:
      "what becomes of mail that the scanner calls spam or a virus: `tag` delivers it with its verdict, `hold` waits for a release"
  }),
  created_at: Schema.DateTimeUtcFromString,
  verified_at: Schema.NullOr(Schema.DateTimeUtcFromString),
  live_at: Schema.NullOr(Schema.DateTimeUtcFromString)
}) {}
