import { Clock, DateTime, Effect, Schema } from "effect"
import { canonical } from "../../domains/DomainNames.ts"
import { kinds } from "../../model/KindNames.ts"
import { WebhookId } from "../../model/Webhook.ts"
import { text } from "../requests/TextQuery.ts"

const mostDays = 14
const millis = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

const isUnit = (unit: string | undefined): unit is keyof typeof millis =>
  unit !== undefined && Object.hasOwn(millis, unit)

/** Milliseconds of a duration such as `5m`. Undefined if malformed or too long. */
const millisOf = (text: string): number | undefined => {
  const [, count, unit] = /^(\d{1,7})([smhd])$/.exec(text) ?? []
  if (!isUnit(unit)) return undefined
  const time = Number(count) * millis[unit]
  return time <= mostDays * millis.d ? time : undefined
}

const oneOf = <const L extends ReadonlyArray<string>>(literals: L, description: string) =>
  Schema.optionalKey(
    Schema.Literals(literals).annotate({ description, message: `Expected one of ${literals.join(", ")}` })
  )

const domainForm = "Expected a domain name such as github.com"
const ageForm = `Expected a time such as 90s, 5m, 2h or 7d, at most ${mostDays}d`

/** The filters of lists, waits and streams beside addresses and times. All of them must match. */
export const query = {
  has: oneOf(["code", "link", "attachment"], "with a code, with a link that was extracted, with an attachment"),
  fromDomain: Schema.optionalKey(
    Schema.String.annotate({
      description: "the author's domain or a parent domain of it, confirmed by DMARC and so not forged"
    }).check(Schema.makeFilter((name: string) => canonical(name)?.includes(".") === true, { message: domainForm }))
  ),
  subject: text(200, "contained in the subject; case is ignored"),
  recipientPart: text(200, "contained in the recipient's address; case is ignored"),
  fromPart: text(200, "contained in the author's address; case is ignored"),
  tag: text(256, "after the first `+` of the recipient's local part; case is ignored"),
  thread: Schema.optionalKey(
    Schema.String.annotate({ description: "a `threadId`" }).check(
      Schema.isUUID(undefined, { message: "Expected the threadId of an event" })
    )
  ),
  webhook: Schema.optionalKey(
    WebhookId.annotate({
      description: "id of the webhook that delivers the event. That of the catch-all is the domain's"
    })
  ),
  trust: oneOf(
    ["passed", "held", "all"],
    "what the sender rules, the mail scanner and the loop guard say: mail that they pass or that was released, mail that they hold, or all. By default all, and for waits and streams what passed"
  ),
  spam: oneOf(["clean", "spam", "virus", "unknown"], "the verdict of the mail scanner"),
  sender: oneOf(["person", "list", "auto", "bounce"], "who sent it, as the event says"),
  kind: oneOf(kinds, "what the mail is, as `kind.type` of the event says"),
  newerThan: Schema.optionalKey(
    Schema.String.annotate({
      description: "maximum age by the server's clock, such as 90s, 5m, 2h or 7d"
    }).check(Schema.makeFilter((age: string) => millisOf(age) !== undefined, { message: ageForm }))
  ),
  view: oneOf(["full", "brief"], "`brief` for each event in a few fields, without texts, HTML and headers")
}

/** The filter of a query. */
export const toFilter = Effect.fnUntraced(function* <Q extends Asked>(
  { fromDomain, newerThan, since, trust: asked, ...filter }: Q,
  usualTrust: Trust = "all"
) {
  const trust = asked ?? usualTrust
  const now = yield* Clock.currentTimeMillis
  const age = newerThan === undefined ? undefined : millisOf(newerThan)
  const youngest = age === undefined ? undefined : DateTime.makeUnsafe(now - age)
  return {
    ...filter,
    trust: trust === "all" ? undefined : trust,
    since: since !== undefined && youngest !== undefined ? DateTime.max(since, youngest) : (since ?? youngest),
    fromDomain: fromDomain === undefined ? undefined : canonical(fromDomain)
  }
})

type Trust = "passed" | "held" | "all"

interface Asked {
  readonly trust?: Trust
  readonly fromDomain?: string
  readonly newerThan?: string
  readonly since?: DateTime.Utc
}
