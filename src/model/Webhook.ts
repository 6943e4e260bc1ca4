import { Schema } from "effect"
import { NotFound } from "./ApiError.ts"
import { DomainId } from "./Domain.ts"
import { kinds } from "./KindNames.ts"
import { KindName } from "./MailKind.ts"

export const WebhookId = Schema.String.check(Schema.isUUID()).pipe(Schema.brand("WebhookId"))
export type WebhookId = typeof WebhookId.Type

/** The format of the signed event. It is no recipe, because its bytes are stored. Webhooks without a URL have it, too. */
export const plainFormat = "inlet"

/** The domain has no such webhook. */
export const noSuchWebhook = new NotFound({
  message: "No webhook with this id in this domain. GET /api/domains/{id}/webhooks lists them"
})

/** The pattern that matches every local part. */
export const catchAll = "*"

/** The webhook of a domain with this pattern. Every domain has it, under its own id. */
export const catchAllOf = (domainId: DomainId): WebhookId => WebhookId.make(domainId)

/** Maximum length of a local part (RFC 5321, section 4.5.3.1.1), and so of a pattern. */
const longestPattern = 64

/** Maximum number of webhooks of a domain. */
export const mostWebhooks = 100

/** What is said of a pattern. */
export const patternMeaning =
  "a name (`support`, which also takes `support+tag`) or a glob (`agent-*`) over the part before the @, without case. `*` is the catch-all, which every domain has"

/** A name such as `support`, or a glob with `*`, over the local part. Case does not count. */
export const Pattern = Schema.String.check(
  Schema.makeFilter((text: string) =>
    text.length >= 1 && text.length <= longestPattern && /^(?!.*\*\*)[^\s\p{C}"(),:;<>@[\\\]]+$/u.test(text)
      ? undefined
      : `Expected the part of an address before the @, such as support, or one with single *, such as agent-*, of at most ${longestPattern} characters`
  )
)

/** What becomes of mail that a webhook takes. */
export const WebhookAction = Schema.Literals(["webhook", "pull", "hold", "reject"])
export type WebhookAction = typeof WebhookAction.Type

/** A webhook as the mail of an address sees it. */
export const Place = { id: WebhookId, pattern: Schema.String }

/** A webhook as routes know it, with those that take mail of some kinds in its place, or null. */
export const Route = Schema.Struct({
  ...Place,
  action: WebhookAction,
  kinds: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Struct(Place))))
})
export type Route = typeof Route.Type

/** Webhooks by the kind of the mail that they take. JSON schema drops a filter with what is said of it. */
export const WebhookKinds = Schema.Record(Schema.String, WebhookId)
  .annotate({
    description:
      "webhooks of the domain that take mail of these kinds in place of this one, by kind: `{bounce: id}`. A change replaces all"
  })
  .check(
    Schema.makeFilter((webhooks) => {
      const unknown = Object.keys(webhooks).find((kind) => !Schema.is(KindName)(kind))
      return unknown === undefined ? undefined : `Expected only the kinds ${kinds.join(", ")}`
    })
  )
export type WebhookKinds = typeof WebhookKinds.Type

const time = Schema.NullOr(Schema.DateTimeUtcFromString)

/** Where mail of a domain goes, by the local part of its recipient. */
export class Webhook extends Schema.Class<Webhook>("Webhook")({
  id: WebhookId.annotate({ description: "of the catch-all: the id of the domain" }),
  domain_id: DomainId,
  pattern: Schema.String.annotate({ description: patternMeaning }),
  action: WebhookAction.annotate({
    description:
      "`webhook` posts each event, `pull` keeps it for `…/deliveries/lease`, `hold` keeps it until a replay, `reject` answers 550 to RCPT"
  }),
  webhookUrl: Schema.NullOr(Schema.String).annotate({
    description: "set for the action `webhook`. Read keys see only the host"
  }),
  format: Schema.String.annotate({
    description:
      "how the request looks: `inlet` is the signed event, `raw`, `mailgun`, `postmark`, `sendgrid`, `sendgrid-raw` and `mandrill` are requests of other providers"
  }),
  basicAuth: Schema.Boolean.annotate({ description: "true if requests have a user name and a password" }),
  description: Schema.NullOr(Schema.String),
  kinds: WebhookKinds.annotate({
    description: "by kind of mail the webhooks of the domain that take it in place of this one, such as `{bounce: id}`"
  }),
  has_own_secret: Schema.Boolean.annotate({
    description: "true if a secret of its own signs the requests, instead of the workspace's"
  }),
  created_at: Schema.DateTimeUtcFromString,
  failing_since: time.annotate({ description: "since when every attempt fails, or null" }),
  paused_at: time.annotate({
    description:
      "set while it is paused, because every attempt failed for 5 days. Deliveries stay pending, and Inlet tries one an hour"
  })
}) {}
